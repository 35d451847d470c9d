"""The effect of a lock of remote control on the restore of a smart pause, without a request."""

import asyncio

from printreach.agent.remote_lock import RemoteLock
from printreach.printers.port import Printer, RestoresPauses


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
