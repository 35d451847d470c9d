"""The orders of the printer's web page, and the function that carries them out.

An order is a name and JSON arguments; absent and null are the same:

    print        Action: start, pause, resume, end-restore, cancel or clear; Path with start; with
                 pause what is given back by resume: HotendOff, BedOff, LiftMm, RetractMm;
                 end-restore: a print that is resuming stays paused
    temperature  ToolC, BedC, ChamberC: those left out stay as they are, 0 is off
    light        On
    move         Axis: X, Y or Z; DistanceMm
    extrude      DistanceMm
    home         Axes: a list of X, Y and Z; left out, all of them
    adjust       SpeedPercent, FlowPercent, FanPercent; ZOffsetByMm is added to the offset
    halt         an emergency stop: only a restart is taken after it
    restart      of the firmware
    simulate     Failure: none, spaghetti or detach; Speed: simulated seconds a second
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, assert_never, get_args

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from printreach.contract.status import UNDER_WAY, State
from printreach.printers.simulated.engine import Engine
from printreach.printers.simulated.files import BadPath, FileStore
from printreach.printers.simulated.model.machine import Failure
from printreach.printers.simulated.model.printer import PauseOptions, SimulatedPrinter
from printreach.printers.simulated.model.program import HeaterName, Job, Survey

_SURVEY_UP_TO_BYTES = 8 << 20
"""A trial run of more would keep people waiting; the printer then knows neither time nor layers."""
_LONGEST_LINE_BYTES = 4096
_SURVEY_STEP_S = 600.0
_SURVEY_UP_TO_S = 1000 * 3600.0

_DistanceMm: TypeAlias = Annotated[float, Meta(ge=-500, le=500)]
_LengthMm: TypeAlias = Annotated[float, Meta(ge=0, le=500)]


class _Arguments(Struct, frozen=True, kw_only=True, rename="pascal", forbid_unknown_fields=True):
    """The arguments of one order."""


class _Print(_Arguments, frozen=True):
    action: Literal["start", "pause", "resume", "end-restore", "cancel", "clear"]
    path: str | None = None
    hotend_off: bool | None = None
    bed_off: bool | None = None
    lift_mm: _LengthMm | None = None
    retract_mm: _LengthMm | None = None


class _Temperature(_Arguments, frozen=True):
    tool_c: Annotated[float, Meta(ge=0, le=300)] | None = None
    bed_c: Annotated[float, Meta(ge=0, le=120)] | None = None
    chamber_c: Annotated[float, Meta(ge=0, le=75)] | None = None


class _Light(_Arguments, frozen=True):
    on: bool


class _Move(_Arguments, frozen=True):
    axis: Literal["X", "Y", "Z"]
    distance_mm: _DistanceMm


class _Extrude(_Arguments, frozen=True):
    distance_mm: _DistanceMm


class _Home(_Arguments, frozen=True):
    axes: list[Literal["X", "Y", "Z"]] | None = None


class _Adjust(_Arguments, frozen=True):
    speed_percent: Annotated[int, Meta(ge=10, le=300)] | None = None
    flow_percent: Annotated[int, Meta(ge=50, le=150)] | None = None
    fan_percent: Annotated[int, Meta(ge=0, le=100)] | None = None
    z_offset_by_mm: Annotated[float, Meta(ge=-1, le=1)] | None = None


class _Halt(_Arguments, frozen=True):
    pass


class _Restart(_Arguments, frozen=True):
    pass


class _Simulate(_Arguments, frozen=True):
    failure: Failure | None = None
    speed: Annotated[float, Meta(ge=0.1, le=100)] | None = None


_Order: TypeAlias = (
    _Print
    | _Temperature
    | _Light
    | _Move
    | _Extrude
    | _Home
    | _Adjust
    | _Halt
    | _Restart
    | _Simulate
)
_DECODERS: Final[dict[str, Decoder[_Order]]] = {
    arguments.__name__.removeprefix("_").lower(): Decoder(arguments)
    for arguments in get_args(_Order)
}


@dataclass(frozen=True, slots=True)
class OrderProblem:
    """The reason why an order failed: as an HTTP status, and as a sentence for people."""

    status: int
    sentence: str


class Control:
    """Carries out orders on one printer."""

    def __init__(self, engine: Engine, files: FileStore) -> None:
        self._engine = engine
        self._printer = engine.printer
        self._files = files

    async def execute(self, name: str, arguments: bytes) -> OrderProblem | None:
        """Carry out the order of this name; None when that is done. arguments: JSON, or nothing."""
        if name not in _DECODERS:
            return OrderProblem(404, "There is no such order.")
        try:
            order = _DECODERS[name].decode(arguments or b"{}")
        except (DecodeError, UnicodeDecodeError) as exc:
            return OrderProblem(400, f"{exc}.")
        halted = self._printer.refuse_while_halted()
        if halted is not None and not isinstance(order, _Halt | _Restart | _Simulate):
            return OrderProblem(409, halted)
        if isinstance(order, _Print) and order.action == "start":
            return await self.start(order.path)
        return self._problem_of(self._carry_out(order))

    async def start(self, path: str | None) -> OrderProblem | None:
        """Print a file, after a trial run that tells how long it will take; None when it began."""
        if path is None:
            return OrderProblem(400, "Path is missing.")
        if self._printer.state in UNDER_WAY:
            return OrderProblem(409, "A print is already running.")
        try:
            place = self._files.find(path)
        except BadPath as exc:
            return OrderProblem(400, str(exc))
        if place is None:
            return OrderProblem(404, "There is no file of that path.")
        job = Job(name=place.name, size_bytes=place.stat().st_size, lines=read_lines(place))
        if job.size_bytes <= _SURVEY_UP_TO_BYTES:
            job = replace(job, survey=await asyncio.to_thread(survey, job), lines=read_lines(place))
        return self._problem_of(self._printer.start(job))

    def _problem_of(self, refusal: str | None) -> OrderProblem | None:
        self._engine.touch()
        return None if refusal is None else OrderProblem(409, refusal)

    def _carry_out(self, order: _Order) -> str | None:
        printer = self._printer
        match order:
            case _Print(action="resume"):
                return printer.resume()
            case _Print(action="end-restore"):
                return printer.end_restore()
            case _Print(action="cancel"):
                return printer.cancel()
            case _Print(action="clear"):
                return printer.clear()
            case _Print():
                return printer.pause(options=_pause_options(order))
            case _Temperature():
                targets = zip(HeaterName, (order.tool_c, order.bed_c, order.chamber_c), strict=True)
                for heater, target_c in targets:
                    if target_c is not None:
                        printer.machine.heaters[heater].set_target(target_c)
            case _Light():
                printer.machine.light_is_on = order.on
            case _Move():
                return printer.jog(order.axis, order.distance_mm)
            case _Extrude():
                return printer.extrude(order.distance_mm)
            case _Home():
                return printer.home("".join(order.axes) if order.axes else "XYZ")
            case _Adjust():
                self._adjust(order)
            case _Halt():
                printer.halt()
            case _Restart():
                return printer.restart()
            case _Simulate():
                if order.failure is not None:
                    printer.machine.fail(order.failure)
                self._engine.speed = order.speed or self._engine.speed
            case _:
                assert_never(order)
        return None

    def _adjust(self, order: _Adjust) -> None:
        machine = self._printer.machine
        if order.speed_percent is not None:
            machine.speed_percent = order.speed_percent
        if order.flow_percent is not None:
            machine.flow_percent = order.flow_percent
        if order.fan_percent is not None:
            machine.fan_percent = order.fan_percent
        machine.z_offset_mm = round(machine.z_offset_mm + (order.z_offset_by_mm or 0.0), 3)


def read_lines(place: Path) -> Iterator[bytes]:
    """Return a file's lines; one that is no text comes in bits of bounded size."""
    with place.open("rb") as file:
        while line := file.readline(_LONGEST_LINE_BYTES):
            yield line


def survey(job: Job) -> Survey:
    """Print the whole file on a printer of its own, to find out what it will take.

    It takes about 20 µs a line: not for an event loop.
    """
    printer = SimulatedPrinter()
    printer.start(job)
    while printer.state in UNDER_WAY and printer.duration_s < _SURVEY_UP_TO_S:
        printer.advance(_SURVEY_STEP_S)
        if printer.state is State.PAUSED:
            printer.resume()
    return Survey(
        seconds=printer.duration_s,
        filament_mm=printer.filament_mm,
        layers=printer.current_layer or 0,
    )


def _pause_options(order: _Print) -> PauseOptions:
    return PauseOptions(
        hotend_off=order.hotend_off or False,
        bed_off=order.bed_off or False,
        lift_mm=order.lift_mm or 0.0,
        retract_mm=order.retract_mm or 0.0,
    )
