"""Notices within one process: ports.Bus without a store."""

from collections.abc import Callable

from printreach.backends.subscribers import Subscribers
from printreach.ports import Notice, Topic


class MemoryBus:
    """ports.Bus. is_away: notices are lost, as while a server is gone."""

    def __init__(self) -> None:
        self.is_away = False
        self._subscribers = Subscribers()

    @property
    def is_available(self) -> bool:
        return not self.is_away

    async def publish(self, notice: Notice) -> None:
        if not self.is_away:
            self._subscribers.tell(notice)

    def subscribe(
        self, callback: Callable[[Notice], None], *wanted: Topic | Notice
    ) -> Callable[[], None]:
        return self._subscribers.add(callback, wanted)
