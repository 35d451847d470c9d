"""A print that rests in a smart pause, on a platform that does as a test says."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from printreach.contract.status import State
from printreach.printers.following import LiveView, UpdateSignal
from printreach.printers.pause_plan import Action, PausePlan, SavedStateFile
from printreach.printers.port import PrinterRefused
from printreach.printers.print_progress import PrintProgress, PrintReport, SavedState, StoredShape
from printreach.printers.smart_pauses import SmartPauses

AT = PrintProgress(print_id="7", duration_s=100.0, position=(5000.0,))
PAUSED = PrintReport(state=State.PAUSED, is_paused=True, path="a.gcode", progress=AT)
PAUSING = replace(PAUSED, is_paused=False)
GOING = replace(PAUSED, state=State.PRINTING, is_paused=False)
CANCELLED = replace(GOING, state=State.CANCELLED)


SAVED = SavedState(path="a.gcode", targets={"hotend": 200.0}, lift_mm=10)


class FakePlatform(PausePlan[LiveView]):
    """done: the orders that reached the printer. obeys: what the printer does of one."""

    file = "saved.json"
    shape = StoredShape()
    bed = "bed"

    def __init__(self, *, repauses: bool = True) -> None:
        super().__init__(cast("LiveView", None))
        self.repauses = repauses
        self.refuses_moves_whole = True
        self.print: PrintReport | None = PAUSED
        self.warm = True
        self.limit: str | None = None
        self.done: list[str] = []
        self.obeys = True
        self.refusal: dict[str, PrinterRefused] = {}
        self.takes_s: dict[str, float] = {}
        self.is_resumable = True
        self._updates = UpdateSignal()
        self.on_update: Callable[[], None] = lambda: None

    def becomes(self, seen: PrintReport | None) -> None:
        self.print = seen
        self.on_update()
        self._updates.tell()

    def warms_up(self) -> None:
        self.warm = True
        self.on_update()
        self._updates.tell()

    def print_report(self) -> PrintReport | None:
        return self.print

    def reported_print(self) -> PrintReport | None:
        return self.print

    def temperature_c(self, heater: str) -> float:  # all of them or none
        return 200.0 if self.warm else 20.0

    def targets(self) -> dict[str, float]:
        return {"hotend": 200.0, "bed": 60.0}

    def limit_problem(self, saved: SavedState) -> str | None:  # as the test says
        return self.limit

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._updates.wait_until(condition, seconds)

    async def order(self, action: Action) -> None:
        await self._take(action, {"pause": PAUSED, "resume": GOING, "cancel": CANCELLED}[action])

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:
        await self._take(f"lower {-lift_mm}" if lift_mm < 0 else f"lift {lift_mm}")

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        await self._take("heat" if on else " and ".join(["cool", *saved.targets]))

    async def until_resumable(self) -> None:
        await self.wait_until(lambda: self.is_resumable, 20.0)

    async def _take(self, order: str, then: PrintReport | None = None) -> None:
        await asyncio.sleep(self.takes_s.get(order, 0.0))
        self.done.append(order)
        if order in self.refusal:
            raise self.refusal.pop(order)
        if then is not None and self.obeys:
            self.becomes(then)


Rig = tuple[FakePlatform, SmartPauses]


def begun(folder: Path, *, repauses: bool = True) -> Rig:
    """An agent that starts beside the printer."""
    platform = FakePlatform(repauses=repauses)
    pauses = SmartPauses(folder, platform)
    platform.on_update = pauses.on_update
    return platform, pauses


def resting(folder: Path, *, repauses: bool = True) -> Rig:
    """A print that rests in a smart pause."""
    platform, pauses = begun(folder, repauses=repauses)
    pauses.remember(SAVED)
    platform.warm = False
    return platform, pauses


def resting_as(folder: Path, progress: PrintProgress) -> Rig:
    """A hot print that rests in a smart pause, with nothing else known of it."""
    platform, pauses = begun(folder)
    platform.becomes(replace(PAUSED, progress=progress))
    pauses.remember(SAVED)
    return platform, pauses


def after_restart(folder: Path, progress: PrintProgress) -> Rig:
    """An agent that starts beside a printer with a print that rests, as far as this."""
    platform, pauses = begun(folder)
    platform.becomes(replace(PAUSED, progress=progress))
    return platform, pauses


def stored(folder: Path) -> SavedState | None:
    return SavedStateFile(folder / FakePlatform.file, FakePlatform.shape).saved


def is_saved(folder: Path) -> bool:
    return stored(folder) is not None


async def settle() -> None:
    """Longer than everything that is waited for."""
    await asyncio.sleep(7200.0)
