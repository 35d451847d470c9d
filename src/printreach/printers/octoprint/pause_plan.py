"""Pauses of OctoPrint.

OctoPrint has no smart pause, so it is made of G-code that is sent while the print is paused.
Commands and the lines of the print go through one queue: what is sent before a resume is carried
out before it.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import quote

from printreach.contract.commands import Pause
from printreach.contract.files import JsonObject
from printreach.contract.status import Feature
from printreach.printers import loose
from printreach.printers.connecting import chunks_of
from printreach.printers.pause_plan import PAUSED_WITHIN_S, PausePlan
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import (
    PrintProgress,
    PrintReport,
    SavedState,
    StoredShape,
    positions,
)
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .api import OctoPrintApi
from .live_view import LiveView
from .translate import KnownState, is_fully_paused, job_path, targets_of

log = logging.getLogger(__name__)

BED = "bed"
LIFT_MM_PER_MIN = 300  # slow enough for a Z axis on threaded rods
RETRACT_MM_PER_MIN = 1200
MAX_SEARCHED_BYTES = 4 * 1024 * 1024
"""Slicers put thumbnails before the first line of G-code."""

_PRINT_MARKS = frozenset({"print", "pause", "resume", "cancel", "done"})
_MODE = re.compile(rb"^[ \t]*(M82|M83|G1[ \t][^;\r\n]*?E[-+.0-9])", re.MULTILINE)


def _is_heater(name: str) -> bool:
    return name == BED or re.fullmatch(r"tool[0-9]{1,2}", name, re.ASCII) is not None


def _details_in(stored: object) -> Mapping[str, bool]:
    """Return has_tools: there are several, so that a hotend has to be named by its number; and
    is_relative: the print gives its filament in relative lengths (M83)."""
    return {name: loose.flag(stored, name) or False for name in ("has_tools", "is_relative")}


class OctoPrintPausePlan(PausePlan):
    file = "octoprint-smart-pause.json"
    shape = StoredShape(is_heater=_is_heater, details=_details_in)
    bed = BED
    repauses = True
    refuses_moves_whole = True  # OctoPrint takes a list of commands or none of it

    def __init__(
        self, api: OctoPrintApi, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(limits)
        self._api = api
        self._live_view = live_view

    def print_report(self) -> PrintReport | None:
        view = self._live_view
        return print_report(view.known) if view.view.trouble is None else None

    def temperature_c(self, heater: str) -> float:
        temps = self._live_view.known.temps
        return loose.number(loose.obj(temps, heater), "actual") or 0.0

    def targets(self) -> Mapping[str, float]:
        targets = targets_of(self._live_view.known)
        return {heater: target for heater, target in targets.items() if _is_heater(heater)}

    def planned(self, order: Pause) -> SavedState:
        saved = super().planned(order)
        if Feature.AXIS_MOVEMENT not in self._live_view.view.features:
            # Without the right to control the printer a smart pause is a plain one.
            return SavedState(path=saved.path)
        return saved

    async def completed(self, planned: SavedState, order: Pause) -> SavedState:  # noqa: ARG002
        details = {
            "has_tools": self._live_view.profile.extruders > 1,
            "is_relative": await self._extrudes_relatively(planned.path),
        }
        return replace(planned, details=details)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(lambda _: condition(), seconds)

    async def pause_print(self) -> None:
        await self._tell_job({"command": "pause", "action": "pause"})

    async def resume_print(self) -> None:
        await self._tell_job({"command": "pause", "action": "resume"})

    async def cancel_print(self) -> None:
        await self._tell_job({"command": "cancel"})

    async def park(self, saved: SavedState) -> None:
        await self._send(park_commands(saved))

    async def cool(self, saved: SavedState) -> None:
        await self._send(heat_commands(saved, dict.fromkeys(saved.targets, 0.0)))

    async def heat(self, saved: SavedState) -> None:
        await self._send(heat_commands(saved, saved.targets))

    async def move_back(self, saved: SavedState) -> None:
        await self._send(move_back_commands(saved))

    async def until_resumable(self) -> None:
        """Before that OctoPrint ignores a resume."""
        if not await self.wait_until(
            lambda: is_fully_paused(self._live_view.known), PAUSED_WITHIN_S
        ):
            raise failed("The print is still pausing.")

    async def _tell_job(self, order: JsonObject) -> None:
        await self._api.post("/api/job", order)

    async def _send(self, commands: list[str]) -> None:
        await self._api.post("/api/printer/command", {"commands": [*commands]})

    async def _extrudes_relatively(self, path: str) -> bool:
        search, size = ModeSearch(), 0
        try:
            async with self._api.open(f"/downloads/files/local/{quote(path)}") as answer:
                async for chunk in chunks_of(answer, self._api.where):
                    size += len(chunk)
                    if search.feed(chunk) or size > MAX_SEARCHED_BYTES:
                        break
        except PrinterRefused as refused:
            log.info("the print's file could not be read: %s", refused)
        return search.is_relative


def park_commands(saved: SavedState) -> list[str]:
    return _moves(saved, lift_mm=saved.lift_mm, extrude_mm=-saved.retract_mm)


def heat_commands(saved: SavedState, targets: Mapping[str, float]) -> list[str]:
    """Return the commands that set targets, in degrees Celsius by OctoPrint's names of heaters."""

    def command(heater: str, target: float) -> str:
        tool = f" T{heater.removeprefix('tool')}" if saved.details["has_tools"] else ""
        return f"M140 S{target:g}" if heater == BED else f"M104{tool} S{target:g}"

    return [command(heater, target) for heater, target in targets.items()]


def move_back_commands(saved: SavedState) -> list[str]:
    return _moves(saved, lift_mm=-saved.lift_mm, extrude_mm=saved.retract_mm)


def _moves(saved: SavedState, *, lift_mm: int, extrude_mm: int) -> list[str]:
    """Return relative moves, with the change of mode before and the change back after."""
    retract = [f"G1 E{extrude_mm} F{RETRACT_MM_PER_MIN}"] if extrude_mm else []
    lift = [f"G1 Z{lift_mm} F{LIFT_MM_PER_MIN}"] if lift_mm else []
    moves = [*lift, *retract] if lift_mm < 0 else [*retract, *lift]
    # G91 and G90 change the extruder's mode too, so M82 or M83 has to come last.
    return ["G91", "M83", *moves, "G90", "M83" if saved.details["is_relative"] else "M82"]


class ModeSearch:
    """Finds whether a file uses relative extrusion: its last M82 or M83 before it extrudes.

    Firmware does not report its extrusion mode, and has to be put back into it.
    """

    def __init__(self) -> None:
        self.is_relative = False
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Read on; True once the mode is known."""
        lines, newline, self._rest = (self._rest + data).rpartition(b"\n")
        for found in _MODE.finditer(lines + newline):
            if found[1].startswith(b"G1"):
                return True
            self.is_relative = found[1] == b"M83"
        self._rest = self._rest[-1024:]  # no line of G-code is longer
        return False


def print_report(known: KnownState) -> PrintReport | None:
    """The print as it is now; None while OctoPrint has no connection to the printer."""
    if known.condition.state is None:
        return None
    reported = loose.obj(known.now, "progress")
    return PrintReport(
        state=known.condition.state,
        is_paused=is_fully_paused(known),
        path=job_path(known) or "",
        progress=PrintProgress(
            duration_s=loose.number(reported, "printTime"),
            began_s=_pause_began_s(known),
            position=positions(loose.number(reported, "filepos")),
        ),
    )


def _pause_began_s(known: KnownState) -> float | None:
    """Return when the present pause began, by OctoPrint's clock; None where it doesn't tell.

    OctoPrint marks it for the chart of its page, in memory alone and for half an hour at least.
    Source: standard.py of 1.11.8.
    """
    marks = loose.items(known.now, "markings")
    latest = next(
        (mark for mark in reversed(marks) if loose.text(mark, "type") in _PRINT_MARKS), None
    )
    return loose.number(latest, "time") if loose.text(latest, "type") == "pause" else None
