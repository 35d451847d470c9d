"""Subscribers to notices, which every kind of bus has."""

import logging
from collections.abc import Callable

from printreach.ports import Notice

_log = logging.getLogger(__name__)


class Subscribers:
    """The subscribers of one process, on one event loop."""

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[[Notice], None]] = {}

    def add(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Call it with every notice from now on, until the result is called."""
        key = object()  # the same callback may be added twice
        self._callbacks[key] = callback

        def remove() -> None:
            self._callbacks.pop(key, None)

        return remove

    def tell(self, notice: Notice) -> None:
        for callback in list(self._callbacks.values()):
            try:
                callback(notice)
            except Exception:  # noqa: BLE001 - one subscriber's fault is not the others'
                _log.exception("a subscriber failed at a notice about a %s", notice.topic.value)
