"""Runs the simulated printer in real time, and wakes those who wait for a change."""

import asyncio

from .model.printer import SimulatedPrinter

_TICK_S = 0.09
"""Shorter than the webcam's 1/10 s, so that the head has moved in every picture."""
_LONGEST_TICK_S = 1.0
"""So that a process which was suspended for an hour doesn't print for an hour at once."""


class Engine:
    """Runs a printer on the event loop's clock. Nothing runs while nothing changes.

    speed: simulated seconds a second.
    """

    def __init__(self, printer: SimulatedPrinter, speed: float) -> None:
        self.printer = printer
        self.speed = speed
        self.version = 0
        self._changed = asyncio.Event()

    def touch(self) -> None:
        """Report an order or a change: time passes again, and those who wait are woken."""
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait_for_change(self, seen_version: int) -> None:
        """Return once the version is another than the one seen."""
        while self.version == seen_version:
            await self._changed.wait()

    async def run(self) -> None:
        """Let time pass until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            if self.printer.is_settled:
                await self.wait_for_change(self.version)
            begun_s = loop.time()
            await asyncio.sleep(_TICK_S)
            self._advance(min(loop.time() - begun_s, _LONGEST_TICK_S))

    def _advance(self, seconds: float) -> None:
        try:
            self.printer.advance(seconds * self.speed)
        except OSError:
            self.printer.break_down("The file can't be read any more.")
        self.touch()
