"""Lets the printer's time pass, and carries out the orders of its web page.

An order is a name and JSON arguments; absent and null are the same:

    print        Action: start, pause, resume, cancel or clear; Path with start
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
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from printreach.contract.status import UNDER_WAY, State
from printreach.printers.following import UpdateSignal

from .files import BadPath, FileStore
from .machine import Failure
from .printer import SimulatedPrinter
from .program import HeaterName, Job, Survey

_SURVEY_UP_TO_BYTES = 8 << 20
"""A trial run of more would keep people waiting; the printer then knows neither time nor layers."""
_LONGEST_LINE_BYTES = 4096
_SURVEY_STEP_S = 600.0
_SURVEY_UP_TO_S = 1000 * 3600.0

_DistanceMm: TypeAlias = Annotated[float, Meta(ge=-500, le=500)]

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
        self._changes = UpdateSignal()

    def touch(self) -> None:
        """Report an order or a change: time passes again, and those who wait are woken."""
        self.version += 1
        self._changes.tell()

    async def wait_for_change(self, seen_version: int) -> None:
        """Return once the version is another than the one seen."""
        await self._changes.wait_until(lambda: self.version != seen_version, None)

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


class _Order(Struct, frozen=True, kw_only=True, rename="pascal", forbid_unknown_fields=True):
    """The arguments of one order. Each class has the order's name."""

    is_for_halted: ClassVar[bool] = False
    """Whether a printer takes it after an emergency stop."""

    def carry_out(self, engine: Engine) -> str | None:
        """Carry it out; return the sentence of a refusal."""
        raise NotImplementedError


class _Print(_Order, frozen=True):
    action: Literal["start", "pause", "resume", "cancel", "clear"]
    path: str | None = None

    def carry_out(self, engine: Engine) -> str | None:
        """Any action but start, which takes a while."""
        printer = engine.printer
        actions = {
            "pause": printer.pause,
            "resume": printer.resume,
            "cancel": printer.cancel,
            "clear": printer.clear,
        }
        return actions[self.action]()


class _Temperature(_Order, frozen=True):
    tool_c: Annotated[float, Meta(ge=0, le=300)] | None = None
    bed_c: Annotated[float, Meta(ge=0, le=120)] | None = None
    chamber_c: Annotated[float, Meta(ge=0, le=75)] | None = None

    def carry_out(self, engine: Engine) -> None:
        targets = zip(HeaterName, (self.tool_c, self.bed_c, self.chamber_c), strict=True)
        for heater, target_c in targets:
            if target_c is not None:
                engine.printer.machine.heaters[heater].set_target(target_c)


class _Light(_Order, frozen=True):
    on: bool

    def carry_out(self, engine: Engine) -> None:
        engine.printer.machine.light_is_on = self.on


class _Move(_Order, frozen=True):
    axis: Literal["X", "Y", "Z"]
    distance_mm: _DistanceMm

    def carry_out(self, engine: Engine) -> str | None:
        return engine.printer.jog(self.axis, self.distance_mm)


class _Extrude(_Order, frozen=True):
    distance_mm: _DistanceMm

    def carry_out(self, engine: Engine) -> str | None:
        return engine.printer.extrude(self.distance_mm)


class _Home(_Order, frozen=True):
    axes: list[Literal["X", "Y", "Z"]] | None = None

    def carry_out(self, engine: Engine) -> str | None:
        return engine.printer.home("".join(self.axes or "XYZ"))


class _Adjust(_Order, frozen=True):
    speed_percent: Annotated[int, Meta(ge=10, le=300)] | None = None
    flow_percent: Annotated[int, Meta(ge=50, le=150)] | None = None
    fan_percent: Annotated[int, Meta(ge=0, le=100)] | None = None
    z_offset_by_mm: Annotated[float, Meta(ge=-1, le=1)] | None = None

    def carry_out(self, engine: Engine) -> None:
        machine = engine.printer.machine
        machine.speed_percent = self.speed_percent or machine.speed_percent
        machine.flow_percent = self.flow_percent or machine.flow_percent
        if self.fan_percent is not None:
            machine.fan_percent = self.fan_percent
        machine.z_offset_mm = round(machine.z_offset_mm + (self.z_offset_by_mm or 0.0), 3)


class _Halt(_Order, frozen=True):
    is_for_halted = True

    def carry_out(self, engine: Engine) -> None:
        engine.printer.halt()


class _Restart(_Order, frozen=True):
    is_for_halted = True

    def carry_out(self, engine: Engine) -> str | None:
        return engine.printer.restart()


class _Simulate(_Order, frozen=True):
    is_for_halted = True
    failure: Failure | None = None
    speed: Annotated[float, Meta(ge=0.1, le=100)] | None = None

    def carry_out(self, engine: Engine) -> None:
        if self.failure is not None:
            engine.printer.machine.fail(self.failure)
        engine.speed = self.speed or engine.speed


_DECODERS: Final[dict[str, Decoder[_Order]]] = {
    order.__name__.removeprefix("_").lower(): Decoder(order) for order in _Order.__subclasses__()
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
        self._files = files

    async def execute(self, name: str, arguments: bytes) -> OrderProblem | None:
        """Carry out the order of this name; None when that is done. arguments: JSON, or nothing."""
        if name not in _DECODERS:
            return OrderProblem(404, "There is no such order.")
        try:
            order = _DECODERS[name].decode(arguments or b"{}")
        except (DecodeError, UnicodeDecodeError) as exc:
            return OrderProblem(400, f"{exc}.")
        halted = self._engine.printer.refuse_while_halted()
        if halted is not None and not order.is_for_halted:
            return OrderProblem(409, halted)
        if isinstance(order, _Print) and order.action == "start":
            return await self.start(order.path)
        return self._problem_of(order.carry_out(self._engine))

    async def start(self, path: str | None) -> OrderProblem | None:
        """Print a file, after a trial run that tells how long it will take; None when it began."""
        printer = self._engine.printer
        if path is None:
            return OrderProblem(400, "Path is missing.")
        if printer.state in UNDER_WAY:
            return OrderProblem(409, "A print is already running.")
        try:
            place = self._files.find(path)
        except BadPath as exc:
            return OrderProblem(400, str(exc))
        if place is None:
            return OrderProblem(404, "There is no file of that path.")
        job = Job(
            name=place.name,
            size_bytes=place.stat().st_size,
            lines=read_lines(place),
            id=f"{asyncio.get_running_loop().time():.6f}",  # this clock never shows a time twice
        )
        if job.size_bytes <= _SURVEY_UP_TO_BYTES:
            job = replace(job, survey=await asyncio.to_thread(survey, job), lines=read_lines(place))
        return self._problem_of(printer.start(job))

    def _problem_of(self, refusal: str | None) -> OrderProblem | None:
        self._engine.touch()
        return None if refusal is None else OrderProblem(409, refusal)


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
