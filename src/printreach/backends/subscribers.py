"""Subscribers to notices, which every kind of bus has."""

import logging
from collections.abc import Callable, Collection

from printreach.ports import Notice, Topic

_log = logging.getLogger(__name__)


class Subscribers:
    """The subscribers of one process, on one event loop."""

    def __init__(self) -> None:
        self._callbacks: dict[Topic | Notice, dict[object, Callable[[Notice], None]]] = {}

    def add(
        self, callback: Callable[[Notice], None], wanted: Collection[Topic | Notice]
    ) -> Callable[[], None]:
        """Call it with the notices that it wants from now on, until the result is called."""
        key = object()  # the same callback may be added twice
        for one in wanted:
            self._callbacks.setdefault(one, {})[key] = callback

        def remove() -> None:
            for one in wanted:
                callbacks = self._callbacks.get(one, {})
                callbacks.pop(key, None)
                if not callbacks:
                    self._callbacks.pop(one, None)

        return remove

    def tell(self, notice: Notice) -> None:
        # Once, also where a subscriber wants it by its topic and by its key.
        callbacks = {**self._callbacks.get(notice.topic, {}), **self._callbacks.get(notice, {})}
        for callback in callbacks.values():
            try:
                callback(notice)
            except Exception:  # noqa: BLE001 - one subscriber's fault is not the others'
                _log.exception(
                    "a subscriber failed to handle a notice about a %s", notice.topic.value
                )
