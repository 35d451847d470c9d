"""The part of smart pauses that differs between platforms: its orders, and what it changes.

The changes are saved in a file, so that they survive a restart.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import AT_WORK, State
from printreach.languages import N_
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits, restore_problem

from .following import LiveView
from .port import PrinterRefused, failed
from .print_progress import PrintReport, SavedState, StoredShape

V = TypeVar("V", bound=LiveView)
Action: TypeAlias = Literal["pause", "resume", "cancel"]

HOTEND, BED = "hotend_c", "bed_c"
"""The usual names of heaters in a saved state."""
PAUSED_WITHIN_S = 20.0
"""Firmware first ends the moves that it holds; a command has 25 s in all."""

log = logging.getLogger(__name__)

MAX_STORED_BYTES: Final = 64 * 1024


class PausePlan(ABC, Generic[V]):
    """One platform's smart pauses, carried out by SmartPauses. Orders raise PrinterRefused.

    file: the name of the file with the saved state, and shape: its shape. bed: the bed's name among
    the targets. close_enough_c: a heater that is colder by no more is warm.
    pauses_slowly: a print may pause so late that the order returns before, and what a smart pause
    changes is changed when it has paused.
    repauses: a print that was resumed at the printer is paused again, to get everything back;
    otherwise it gets its heat back while it goes on. refuses_moves_whole: moves that are refused
    were not begun. loses_resumes: a resume is lost while the print is still pausing.
    """

    file: ClassVar[str]
    shape: ClassVar[StoredShape]
    bed: ClassVar[str] = BED
    close_enough_c: ClassVar[float] = 3.0
    pauses_slowly: bool = False
    repauses: bool = False
    refuses_moves_whole: bool = False
    loses_resumes: bool = False

    def __init__(self, live_view: V, limits: CommandLimits = DEFAULT_LIMITS) -> None:
        self.live_view = live_view
        self.limits = limits

    # --- what the printer reports -----------------------------------------------------------------

    def print_report(self) -> PrintReport | None:
        """None while the printer can't be reached."""
        return self.reported_print() if self.live_view.view.trouble is None else None

    @abstractmethod
    def reported_print(self) -> PrintReport | None:
        """Return the print by the latest report; None where the report can't tell."""

    def temperature_c(self, heater: str) -> float:
        """Return a heater's temperature. heater: one of those that targets() gives."""
        temps = self.live_view.view.job.current_print.temps
        return temps.bed_actual if heater == self.bed else temps.hotend_actual

    def targets(self) -> Mapping[str, float]:
        """Return the targets of the heaters that a smart pause may turn off; 0 is off."""
        temps = self.live_view.view.job.current_print.temps
        return {HOTEND: temps.hotend_target, self.bed: temps.bed_target}

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self.live_view.wait_until(condition, seconds)

    # --- what is changed --------------------------------------------------------------------------

    def planned(self, order: Pause) -> SavedState:
        """Return the changes before the pause is ordered, since that may change the targets.

        Not what a resume wouldn't be allowed to heat again.
        """
        report = self.print_report()

        def is_turned_off(heater: str, target_c: float) -> bool:
            if heater == self.bed:
                return order.disable_bed and target_c <= self.limits.bed_c
            return order.disable_hotend and target_c <= self.limits.hotend_c

        return SavedState(
            path=report.path if report is not None else "",
            targets={h: c for h, c in self.targets().items() if c > 0 and is_turned_off(h, c)},
            lift_mm=order.z_lift_mm,
            retract_mm=order.retract_filament_mm,
        )

    async def completed(self, planned: SavedState, order: Pause) -> SavedState:  # noqa: ARG002
        """Return the changes once the print is paused."""
        return planned

    def is_plain(self, saved: SavedState) -> bool:
        """Return whether nothing is changed."""
        return not (self.has_heat(saved) or saved.has_moves)

    def has_heat(self, saved: SavedState) -> bool:
        return bool(saved.targets)

    def has_moves_back(self, saved: SavedState) -> bool:
        """Return whether a restore moves anything before it resumes."""
        return saved.has_moves

    def is_warm(self, saved: SavedState) -> bool:
        return all(
            self.temperature_c(heater) >= target - self.close_enough_c
            for heater, target in saved.targets.items()
        )

    def limit_problem(self, saved: SavedState) -> str | None:
        """Return the limit of the agent's owner that a restore would exceed, as a sentence."""
        return restore_problem(
            self.limits,
            hotend_c=self.hottest_c(saved),
            bed_c=saved.targets.get(self.bed, 0.0),
            lift_mm=saved.lift_mm,
            retract_mm=saved.retract_mm,
        )

    def hottest_c(self, saved: SavedState) -> float:
        """Return the highest target of a hotend that a restore would set; 0 for none."""
        hotends = [target for heater, target in saved.targets.items() if heater != self.bed]
        return max(hotends, default=0.0)

    # --- orders -----------------------------------------------------------------------------------

    @abstractmethod
    async def order(self, action: Action) -> None:
        """Pause, resume or cancel the print."""

    @abstractmethod
    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:
        """Retract while hot, then lift; or lower, then give the filament back.

        Negative lowers and retracts, 0 doesn't move.
        """

    @abstractmethod
    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        """Turn the heaters off, or set their targets again.

        All at once and without waiting: most printers take no order, not even a cancel, during a
        command that waits.
        """

    async def park(self, saved: SavedState) -> None:
        await self.move(saved, lift_mm=saved.lift_mm, extrude_mm=-saved.retract_mm)

    async def move_back(self, saved: SavedState) -> None:
        await self.move(saved, lift_mm=-saved.lift_mm, extrude_mm=saved.retract_mm)

    async def pause_fully(self) -> None:
        """Pause, and return once the print is paused."""
        await self.order("pause")
        if not await self.wait_until(self.is_paused, PAUSED_WITHIN_S):
            raise failed(N_("The print is pausing, but not at rest yet: its heaters were left on."))

    async def until_resumable(self) -> None:
        """Wait while a resume would be lost."""
        if self.loses_resumes and not await self.wait_until(self.is_paused, PAUSED_WITHIN_S):
            raise failed(N_("The print is still pausing."))

    # --- whether it is still the print ------------------------------------------------------------

    def is_paused(self) -> bool:
        report = self.print_report()
        return report is not None and report.is_paused

    def has_stopped(self) -> bool:
        """It is paused, or will not be: it has ended, or was lost."""
        report = self.print_report()
        return report is None or report.is_paused or report.state not in {*AT_WORK, State.PAUSED}

    def is_paused_in(self, saved: SavedState) -> bool:
        report = self.print_report()
        return report is not None and report.is_paused and report.is_as_paused(saved)

    def require_paused(self, saved: SavedState) -> None:
        if not self.is_paused_in(saved):
            raise no_longer_paused()

    def require_going(self, saved: SavedState) -> None:
        report = self.print_report()
        if report is None or report.state not in AT_WORK or not report.can_be(saved):
            raise no_longer_paused()


def g1_moves(lift_mm: int, extrude_mm: int, *, lift_feed: int, extrude_feed: int) -> list[str]:
    """Return PausePlan.move() as relative moves. lift_feed, extrude_feed: in mm a minute."""
    lift = [f"G1 Z{lift_mm} F{lift_feed}"] if lift_mm else []
    extrude = [f"G1 E{extrude_mm} F{extrude_feed}"] if extrude_mm else []
    return [*lift, *extrude] if lift_mm < 0 else [*extrude, *lift]


def no_longer_paused() -> PrinterRefused:
    return PrinterRefused(
        CommandStatus.INVALID_STATE,
        N_("The print isn't paused any more as it was: nothing was done."),
    )


class SavedStateFile:
    """The saved state of the present smart pause, if any, in memory and in a file."""

    def __init__(self, file: Path, shape: StoredShape) -> None:
        """Load the state; a file that is missing or can't be read holds none."""
        self._file = file
        self._shape = shape
        self.saved: SavedState | None = None
        try:
            with file.open("rb") as opened:
                self.saved = shape.decode(json.loads(opened.read(MAX_STORED_BYTES)))
        except (OSError, ValueError, RecursionError):
            pass

    def remember(self, saved: SavedState) -> None:
        """Save the state. A failure to store it is only logged: the pause goes on all the same."""
        self.saved = saved
        fresh = self._file.with_name(f"{self._file.name}.new")
        try:
            fresh.write_text(json.dumps(self._shape.encode(saved)))
            fresh.replace(self._file)
        except OSError as exc:
            log.warning("a restart of the agent would forget this smart pause: %s", exc.strerror)

    def forget(self) -> None:
        """Remove the state. Never raises: a print must be resumed properly even where the memory
        card can no longer be written, as happens with worn ones."""
        self.saved = None
        try:
            self._file.unlink(missing_ok=True)
        except OSError as exc:
            log.warning("a smart pause that is over can't be forgotten: %s", exc.strerror)
