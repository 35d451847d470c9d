"""What people can order at the printer's web page, and the one place that carries it out.

An order is a name and JSON arguments, the same over HTTP and over the WebSocket:

    print        Action: start, pause, resume, cancel or clear; Path with start; with pause what
                 is given back by resume: HotendOff, BedOff, LiftMm, RetractMm
    temperature  ToolC, BedC, ChamberC: those left out stay as they are, 0 is off
    light        On
    move         Axis: X, Y or Z; DistanceMm
    extrude      DistanceMm
    home
    simulate     Failure: none, spaghetti or detach; Speed: simulated seconds a second
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from printreach.printers.simulated.engine import Engine
from printreach.printers.simulated.files import BadPath, FileStore
from printreach.printers.simulated.model.job import Job
from printreach.printers.simulated.model.machine import Failure
from printreach.printers.simulated.model.printer import PauseOptions
from printreach.printers.simulated.model.program import HeaterName
from printreach.printers.simulated.model.status import ACTIVE, Refusal
from printreach.printers.simulated.model.survey import survey

from .arguments import Arguments, BadArguments, needed

_SURVEY_UP_TO_BYTES = 8 << 20
"""A trial run of more would keep people waiting; the printer then knows neither time nor layers."""
_LONGEST_LINE_BYTES = 4096
_FARTHEST_MM = 500.0
_MAX_C = {HeaterName.HOTEND: 300.0, HeaterName.BED: 120.0, HeaterName.CHAMBER: 75.0}
_PAUSE_OPTION_NAMES = ("HotendOff", "BedOff", "LiftMm", "RetractMm")
_HEATER_NAMES = {"ToolC": HeaterName.HOTEND, "BedC": HeaterName.BED, "ChamberC": HeaterName.CHAMBER}


class ProblemKind(Enum):
    """Why an order wasn't carried out."""

    UNREADABLE = "unreadable"
    REFUSED = "refused"
    NO_SUCH_FILE = "no such file"
    NO_SUCH_ORDER = "no such order"


@dataclass(frozen=True, slots=True)
class OrderProblem:
    """sentence: for the person who ordered."""

    kind: ProblemKind
    sentence: str


Outcome = OrderProblem | Refusal | None


class Control:
    """Carries out orders on one printer."""

    def __init__(self, engine: Engine, files: FileStore) -> None:
        self._engine = engine
        self._printer = engine.printer
        self._files = files
        self._orders: dict[str, Callable[[object], Awaitable[Outcome]]] = {
            "print": self._print,
            "temperature": self._heat,
            "light": self._light,
            "move": self._move,
            "extrude": self._extrude,
            "home": self._home,
            "simulate": self._simulate,
        }

    async def execute(self, name: str, given: object) -> OrderProblem | None:
        """Carry out the order of this name; None when that is done. given: decoded JSON."""
        order = self._orders.get(name)
        if order is None:
            return OrderProblem(ProblemKind.NO_SUCH_ORDER, "There is no such order.")
        try:
            return self._told(await order(given))
        except BadArguments as exc:
            return OrderProblem(ProblemKind.UNREADABLE, str(exc))

    async def start(self, path: str) -> OrderProblem | None:
        """Print a file; None when that has begun."""
        return self._told(await self._start(path))

    def _told(self, outcome: Outcome) -> OrderProblem | None:
        self._engine.touch()
        if isinstance(outcome, Refusal):
            return OrderProblem(ProblemKind.REFUSED, outcome.reason)
        return outcome

    async def _start(self, path: str) -> Outcome:
        """Start the print, after a trial run that tells how long it will take."""
        if self._printer.state in ACTIVE:
            return Refusal("A print is already running.")
        try:
            place = self._files.find(path)
        except BadPath as exc:
            return OrderProblem(ProblemKind.UNREADABLE, str(exc))
        if place is None:
            return OrderProblem(ProblemKind.NO_SUCH_FILE, "There is no file of that path.")
        job = Job(name=place.name, size_bytes=place.stat().st_size, lines=read_lines(place))
        if job.size_bytes <= _SURVEY_UP_TO_BYTES:
            job = replace(job, survey=await asyncio.to_thread(survey, job), lines=read_lines(place))
        return self._printer.start(job)

    async def _print(self, given: object) -> Outcome:
        arguments = Arguments(given, "Action", "Path", *_PAUSE_OPTION_NAMES)
        options = _pause_options(arguments)
        changes = {
            "pause": lambda: self._printer.pause(options=options),
            "resume": self._printer.resume,
            "cancel": self._printer.cancel,
            "clear": self._printer.clear,
        }
        action = needed("Action", arguments.choice("Action", ["start", *changes]))
        if action == "start":
            return await self._start(needed("Path", arguments.text("Path")))
        return changes[action]()

    async def _heat(self, given: object) -> Outcome:
        arguments = Arguments(given, *_HEATER_NAMES)
        targets = {
            heater: arguments.number(name, 0, _MAX_C[heater])
            for name, heater in _HEATER_NAMES.items()
        }
        for heater, target_c in targets.items():
            if target_c is not None:
                self._printer.set_temperature(heater, target_c)
        return None

    async def _light(self, given: object) -> Outcome:
        self._printer.set_light(on=needed("On", Arguments(given, "On").flag("On")))
        return None

    async def _move(self, given: object) -> Outcome:
        arguments = Arguments(given, "Axis", "DistanceMm")
        axis = needed("Axis", arguments.choice("Axis", "XYZ"))
        return self._printer.jog(axis, _distance(arguments))

    async def _extrude(self, given: object) -> Outcome:
        return self._printer.extrude(_distance(Arguments(given, "DistanceMm")))

    async def _home(self, given: object) -> Outcome:
        Arguments(given)
        return self._printer.home()

    async def _simulate(self, given: object) -> Outcome:
        arguments = Arguments(given, "Failure", "Speed")
        failure = arguments.choice("Failure", [failure.value for failure in Failure])
        speed = arguments.number("Speed", 0.1, 100)
        if failure is not None:
            self._printer.fail(Failure(failure))
        if speed is not None:
            self._engine.speed = speed
        return None


def read_lines(place: Path) -> Iterator[bytes]:
    """Return a file's lines; one that is no text comes in bits of bounded size."""
    with place.open("rb") as file:
        while line := file.readline(_LONGEST_LINE_BYTES):
            yield line


def _pause_options(arguments: Arguments) -> PauseOptions:
    return PauseOptions(
        hotend_off=arguments.flag("HotendOff") or False,
        bed_off=arguments.flag("BedOff") or False,
        lift_mm=arguments.number("LiftMm", 0, _FARTHEST_MM) or 0.0,
        retract_mm=arguments.number("RetractMm", 0, _FARTHEST_MM) or 0.0,
    )


def _distance(arguments: Arguments) -> float:
    return needed("DistanceMm", arguments.number("DistanceMm", -_FARTHEST_MM, _FARTHEST_MM))
