"""The lock of remote control, as the service last told the agent.

A request's own stamp says whether its account was locked when the relay let it in. The lock here
binds the agent beyond that: what it does without a request, and orders that it still has to carry
out. The service binds itself by stamps alone where it stops prints despite the lock.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from printreach.printers.port import Printer, RestoresPauses
from printreach.rules.connections.permissions import Access, parse_access_stamp


class RemoteLock:
    """Holds the lock; observers are called when it changes.

    is_locked: nobody may control the printer remotely; kept while the service is lost.
    is_service_lost: the service may have locked it, and can't tell the agent.
    """

    def __init__(self) -> None:
        self.is_locked = False
        self.is_service_lost = False
        self._observers: list[Callable[[], None]] = []

    def observe(self, observer: Callable[[], None]) -> None:
        self._observers.append(observer)

    def unobserve(self, observer: Callable[[], None]) -> None:
        self._observers.remove(observer)

    def set_locked(self, *, is_locked: bool) -> None:
        """The service reports it, and goes on reporting changes."""
        self._change(is_locked=is_locked, is_service_lost=False)

    def lost(self) -> None:
        """The tunnel ended, or is about to."""
        self._change(is_locked=self.is_locked, is_service_lost=True)

    def access(self, stamp: bytes | None) -> Access:
        """Return what a request may do now. stamp: of the relay; None if it has none."""
        access = parse_access_stamp(stamp)
        if self.is_locked and not access.ignores_lock:
            return replace(access, is_locked=True)
        return access

    def _change(self, *, is_locked: bool, is_service_lost: bool) -> None:
        if (is_locked, is_service_lost) != (self.is_locked, self.is_service_lost):
            self.is_locked, self.is_service_lost = is_locked, is_service_lost
            for observer in self._observers:
                observer()


class RestoreGuard:
    """Ends the printer's restore when remote control is locked.

    While the service is lost, and might have a lock to tell, it holds the restore.
    """

    def __init__(self, printer: Printer, remote_lock: RemoteLock) -> None:
        self._restores = printer.restores if isinstance(printer, RestoresPauses) else None
        self._remote_lock = remote_lock
        self._ending: set[asyncio.Task[None]] = set()
        remote_lock.observe(self._on_change)

    async def end(self) -> None:
        """End the restore that is under way, if any."""
        if self._restores is not None:
            await self._restores.lock()

    async def close(self) -> None:
        for task in list(self._ending):
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _on_change(self) -> None:
        if self._restores is None:
            return
        lock = self._remote_lock
        self._restores.hold(is_held=lock.is_locked or lock.is_service_lost)
        if lock.is_locked:
            task = asyncio.create_task(self._restores.lock())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
