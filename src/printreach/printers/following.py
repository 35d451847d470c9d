"""Following a printer: reconnecting each time it is lost, its messages, callbacks on changes."""

import asyncio
from collections.abc import Awaitable, Callable

from .connecting import RETRY
from .port import PrinterRefused


class UpdateSignal:
    """Wakes those who wait for a printer's next message."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Wake those who wait, because the printer has sent something."""
        latest, self._next = self._next, asyncio.Event()
        latest.set()

    async def wait(self) -> None:
        """Wait for the next message."""
        await self._next.wait()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds; False after the timeout."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    await self.wait()
        except TimeoutError:
            return False
        return True


async def keep_following(
    follow: Callable[[], Awaitable[None]],
    on_lost: Callable[[PrinterRefused], None],
    latest: Callable[[], object],
    uniform: Callable[[float, float], float],
) -> None:
    """Follow until cancelled, with a backoff while attempts in a row bring no message.

    follow: receives until the printer is lost (PrinterRefused), or should be tried again. heard:
    returns another object once the printer has sent something.
    """
    failures = 0
    while True:
        before = latest()
        try:
            await follow()
        except PrinterRefused as refused:
            on_lost(refused)
        failures = 1 if latest() is not before else failures + 1
        await asyncio.sleep(RETRY.jittered_s(failures, uniform))


class ChangeListeners:
    """The callbacks of a port.SupportsOnChange."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def tell(self) -> None:
        """Call the callbacks, because the view has changed."""
        for callback in self._callbacks:
            callback()
