"""The slicer's estimates for the print under way, read from the card once a print."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence

from printreach.contract.status import UNDER_WAY, State
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused

from .project import NOTHING, SlicerFacts
from .stopwatch import job_of

log = logging.getLogger(__name__)

ENDINGS = (".gcode.3mf", ".3mf", ".gcode")
"""File endings that slicers leave out when they name a print after its project."""
_PLATE = re.compile(r"plate_(\d{1,3})\.gcode$")

Look = Callable[[Sequence[str], int | None], Awaitable[SlicerFacts]]


class Estimates:
    """The slicer's estimates. look: finds the first of some files, and a plate of it."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._job = ""
        self._estimates = NOTHING
        self._looking: asyncio.Task[None] | None = None
        self._started: str | None = None

    def started(self, path: str) -> None:
        """This file was started by us; the report will tell its name, but not its folder."""
        self._started = path

    def of(self, report: Json) -> SlicerFacts:
        """Return what is known of the print that the report tells of."""
        return self._estimates if self._job == job_of(report) else NOTHING

    def on_update(self, report: Json, state: State) -> None:
        """Look once where another print is under way."""
        job = job_of(report)
        if state not in UNDER_WAY or not job or job == self._job:
            return
        self._job, self._estimates = job, NOTHING
        self._stop()
        paths = paths_of(report, self._started)
        if paths:
            self._looking = asyncio.create_task(self._find(paths, plate_of(report)))

    async def close(self) -> None:
        looking = self._looking
        self._stop()
        if looking is not None:
            await asyncio.gather(looking, return_exceptions=True)

    def _stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _find(self, paths: Sequence[str], plate: int | None) -> None:
        try:
            self._estimates = await self._look(paths, plate)
        except PrinterRefused as refused:
            log.info("the estimates of the print are not known: %s", refused.sentence)


def paths_of(report: Json, started: str | None) -> list[str]:
    """Return where the file may be, the likeliest first."""
    names = [loose.text(report, key) or "" for key in ("subtask_name", "gcode_file")]
    names = [name.removeprefix("/") for name in names]
    if started is not None and started.rpartition("/")[2] in names:
        return [started]
    paths: list[str] = []
    for name in names:
        if name.lower().endswith((".3mf", ".gcode")):
            paths += [] if _PLATE.search(name) else [name]
        elif name:
            paths += [f"{name}{ending}" for ending in ENDINGS]
    return [f"gcode/{name}" for name in dict.fromkeys(paths)]


def plate_of(report: Json) -> int | None:
    plate = _PLATE.search(loose.text(report, "gcode_file") or "")
    return int(plate[1]) if plate else None
