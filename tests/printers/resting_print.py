"""A print that rests in a smart pause, on a platform that does as a test says."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from printreach.contract.status import State
from printreach.printers import loose
from printreach.printers.following import UpdateSignal
from printreach.printers.port import PrinterRefused
from printreach.printers.print_progress import PrintProgress, PrintReport, parse_progress
from printreach.printers.saved_state import SavedStateStore
from printreach.printers.smart_pauses import SmartPauses

AT = PrintProgress(print_id="7", duration_s=100.0, position=(5000.0,))
PAUSED = PrintReport(state=State.PAUSED, is_paused=True, path="a.gcode", progress=AT)
PAUSING = replace(PAUSED, is_paused=False)
GOING = replace(PAUSED, state=State.PRINTING, is_paused=False)
CANCELLED = replace(GOING, state=State.CANCELLED)


@dataclass(frozen=True, kw_only=True)
class Saved:
    path: str = "a.gcode"
    lift_mm: int = 10
    progress: PrintProgress = field(default_factory=PrintProgress)

    @property
    def has_heat(self) -> bool:
        return True

    @property
    def has_moves(self) -> bool:
        return bool(self.lift_mm)


def parse(reported: object) -> Saved | None:
    path = loose.text(reported, "path")
    if path is None:
        return None
    lift_mm = loose.count(reported, "lift_mm") or 0
    return Saved(path=path, lift_mm=lift_mm, progress=parse_progress(reported))


class FakePlatform:
    """done: the orders that reached the printer. obeys: what the printer does of one."""

    refuses_moves_whole = True

    def __init__(self, *, repauses: bool = True) -> None:
        self.repauses = repauses
        self.print: PrintReport | None = PAUSED
        self.warm = True
        self.limit: str | None = None
        self.done: list[str] = []
        self.obeys = True
        self.refusal: dict[str, PrinterRefused] = {}
        self.takes_s: dict[str, float] = {}
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

    def is_warm(self, saved: Saved) -> bool:  # all of it or nothing
        return self.warm

    def without_moves(self, saved: Saved) -> Saved:
        return replace(saved, lift_mm=0)

    def limit_problem(self, saved: Saved) -> str | None:  # as the test says
        return self.limit

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._updates.wait_until(condition, seconds)

    async def pause_print(self) -> None:
        await self._take("pause", PAUSED)

    async def resume_print(self) -> None:
        await self._take("resume", GOING)

    async def heat(self, saved: Saved) -> None:
        await self._take("heat")

    async def move_back(self, saved: Saved) -> None:
        await self._take(f"lower {saved.lift_mm}")

    async def cancel(self) -> None:
        await self._take("cancel", CANCELLED)

    async def _take(self, order: str, then: PrintReport | None = None) -> None:
        await asyncio.sleep(self.takes_s.get(order, 0.0))
        self.done.append(order)
        if order in self.refusal:
            raise self.refusal.pop(order)
        if then is not None and self.obeys:
            self.becomes(then)


Rig = tuple[FakePlatform, SmartPauses[Saved]]


def begun(folder: Path, *, repauses: bool = True) -> Rig:
    """An agent that starts beside the printer."""
    platform = FakePlatform(repauses=repauses)
    pauses = SmartPauses(SavedStateStore(folder / "saved.json", parse), platform)
    platform.on_update = pauses.on_update
    return platform, pauses


def resting(folder: Path, *, repauses: bool = True) -> Rig:
    """A print that rests in a smart pause."""
    platform, pauses = begun(folder, repauses=repauses)
    pauses.remember(Saved())
    platform.warm = False
    return platform, pauses


def resting_as(folder: Path, progress: PrintProgress) -> Rig:
    """A hot print that rests in a smart pause, with nothing else known of it."""
    platform, pauses = begun(folder)
    platform.becomes(replace(PAUSED, progress=progress))
    pauses.remember(Saved())
    return platform, pauses


def after_restart(folder: Path, progress: PrintProgress) -> Rig:
    """An agent that starts beside a printer with a print that rests, as far as this."""
    platform, pauses = begun(folder)
    platform.becomes(replace(PAUSED, progress=progress))
    return platform, pauses


def is_saved(folder: Path) -> bool:
    return SavedStateStore(folder / "saved.json", parse).load() is not None


async def settle() -> None:
    """Longer than everything that is waited for."""
    await asyncio.sleep(7200.0)
