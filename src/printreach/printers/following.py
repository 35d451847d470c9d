"""Following a printer: connecting anew each time it is lost, and waiting for what it says."""

import asyncio
from collections.abc import Awaitable, Callable

from .connecting import RETRY
from .port import PrinterRefused


class UpdateSignal:
    """What a printer says, for those who wait for some of it."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Wake those who wait, because the printer has sent something."""
        heard, self._next = self._next, asyncio.Event()
        heard.set()

    async def wait(self) -> None:
        """Wait for the next message."""
        await self._next.wait()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait for it to say what makes it so; False when it doesn't in time."""
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
    heard: Callable[[], object],
    uniform: Callable[[float, float], float],
) -> None:
    """Follow until cancelled, and wait the longer the oftener in a row nothing was heard.

    follow: hears the printer until it is lost (PrinterRefused), or is to be tried anew. heard: an
    object that is another one as soon as the printer has said something.
    """
    failures = 0
    while True:
        before = heard()
        try:
            await follow()
        except PrinterRefused as refused:
            on_lost(refused)
        failures = 1 if heard() is not before else failures + 1
        await asyncio.sleep(RETRY.jittered_s(failures, uniform))
