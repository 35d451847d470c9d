"""Pauses of OctoPrint.

OctoPrint has no smart pause, so it is made of G-code that is sent while the print is paused.
Commands and the lines of the print go through one queue: what is sent before a resume is carried
out before it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from printreach.contract.commands import Pause
from printreach.contract.files import JsonObject
from printreach.contract.status import Feature
from printreach.printers import loose
from printreach.printers.pause_plan import Action, PausePlan, g1_moves
from printreach.printers.print_progress import (
    PrintProgress,
    PrintReport,
    SavedState,
    StoredShape,
    positions,
)
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .api import OctoPrintApi
from .files import extrudes_relatively
from .live_view import LiveView
from .translate import KnownState, is_fully_paused, job_path, targets_of

BED = "bed"
LIFT_MM_PER_MIN = 300  # slow enough for a Z axis on threaded rods
RETRACT_MM_PER_MIN = 1200
_JOB_ORDERS: Mapping[Action, JsonObject] = {
    "pause": {"command": "pause", "action": "pause"},
    "resume": {"command": "pause", "action": "resume"},
    "cancel": {"command": "cancel"},
}

_PRINT_MARKS = frozenset({"print", "pause", "resume", "cancel", "done"})


def _is_heater(name: str) -> bool:
    return name == BED or re.fullmatch(r"tool[0-9]{1,2}", name, re.ASCII) is not None


def _details_in(stored: object) -> Mapping[str, bool]:
    """Return has_tools: there are several, so that a hotend has to be named by its number; and
    is_relative: the print gives its filament in relative lengths (M83)."""
    return {name: loose.flag(stored, name) or False for name in ("has_tools", "is_relative")}


class OctoPrintPausePlan(PausePlan[LiveView]):
    file = "octoprint-smart-pause.json"
    shape = StoredShape(is_heater=_is_heater, details=_details_in)
    bed = BED
    repauses = True
    refuses_moves_whole = True  # OctoPrint takes a list of commands or none of it
    loses_resumes = True

    def __init__(
        self, api: OctoPrintApi, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(live_view, limits)
        self._api = api

    def reported_print(self) -> PrintReport | None:
        return print_report(self.live_view.known)

    def temperature_c(self, heater: str) -> float:
        temps = self.live_view.known.temps
        return loose.number(loose.obj(temps, heater), "actual") or 0.0

    def targets(self) -> Mapping[str, float]:
        targets = targets_of(self.live_view.known)
        return {heater: target for heater, target in targets.items() if _is_heater(heater)}

    def planned(self, order: Pause) -> SavedState:
        saved = super().planned(order)
        if Feature.AXIS_MOVEMENT not in self.live_view.view.features:
            # Without the right to control the printer a smart pause is a plain one.
            return SavedState(path=saved.path)
        return saved

    async def completed(self, planned: SavedState, order: Pause) -> SavedState:  # noqa: ARG002
        details = {
            "has_tools": self.live_view.profile.extruders > 1,
            "is_relative": await extrudes_relatively(self._api, planned.path),
        }
        return replace(planned, details=details)

    async def order(self, action: Action) -> None:
        await self._api.post("/api/job", _JOB_ORDERS[action])

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:
        await self._send(pause_moves(saved, lift_mm, extrude_mm))

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        await self._send(heat_commands(saved, on=on))

    async def _send(self, commands: list[str]) -> None:
        await self._api.post("/api/printer/command", {"commands": [*commands]})


def heat_commands(saved: SavedState, *, on: bool) -> list[str]:
    def command(heater: str, target: float) -> str:
        tool = f" T{heater.removeprefix('tool')}" if saved.details["has_tools"] else ""
        return f"M140 S{target:g}" if heater == BED else f"M104{tool} S{target:g}"

    return [command(heater, target) for heater, target in saved.targets_to_set(on=on).items()]


def pause_moves(saved: SavedState, lift_mm: int, extrude_mm: int) -> list[str]:
    """Return relative moves, with the change of mode before and the change back after."""
    feeds = {"lift_feed": LIFT_MM_PER_MIN, "extrude_feed": RETRACT_MM_PER_MIN}
    # G91 and G90 change the extruder's mode too, so M82 or M83 has to come last.
    mode = "M83" if saved.details["is_relative"] else "M82"
    return ["G91", "M83", *g1_moves(lift_mm, extrude_mm, **feeds), "G90", mode]


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
