"""Stopping one printer: what starts late is stopped, too, and nothing is believed at one look."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
import pytest

from printreach.contract.codec import encode
from printreach.contract.status import State, StatusResult, Temps
from printreach.hub.printers import remote_lock
from printreach.hub.printers.remote_lock import PrinterStop, StopOutcome, StopResult
from printreach.ports.printer_http import NO_QUERY, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer_http import OFFLINE, FakePrinterHttp, status_of

PRINTER = OwnedPrinter("p" * 26, "ada")
NOTHING = PrinterRefusal(786, "There is no print to cancel; the printer is idle.")
CANT_HEAT_A_BED = PrinterRefusal(752, "This printer can't heat a bed.")
SAID_NO = PrinterRefusal(752, "The printer said no.")


def heated(state: State, hot: set[str]) -> StatusResult:
    """A status with these heaters on."""
    status = status_of(state)
    temps = Temps(hotend_target=215 if "ToolC" in hot else 0, bed_target=60 if "BedC" in hot else 0)
    current = msgspec.structs.replace(status.job_status.current_print, temps=temps)
    job = msgspec.structs.replace(status.job_status, current_print=current)
    return msgspec.structs.replace(status, job_status=job)


@dataclass
class Machine(FakePrinterHttp):
    """A printer whose agent judges a cancel by what the printer's status shows.

    starts_at_s: seconds after the first order at which a start shows. refuses: every cancel of a
    print. ends_after_s: how long a cancelled print still shows.
    """

    starts_at_s: tuple[float, ...] = ()
    refuses: PrinterRefusal | None = None
    ends_after_s: float = 0.0
    begun_at: float | None = None
    commands: list[str] = field(default_factory=list)
    state: State = State.IDLE
    hot: set[str] = field(default_factory=set)
    has_bed: bool = True
    keeps_its_tool_hot: bool = False

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        assert despite_lock
        status = heated(self.state, self.hot)
        return encode({"Status": 200, "Result": status})

    async def order(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        arguments: bytes = b"",
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        assert despite_lock
        loop = asyncio.get_running_loop()
        if self.begun_at is None:
            self.begun_at = loop.time()
            for seconds in self.starts_at_s:
                loop.call_later(seconds, self.print_)
        self.commands.append(command)
        if command == "/set-temp":
            return self.set_temperature(json.loads(arguments))
        if self.state is not State.PRINTING:
            return NOTHING
        if self.refuses is not None:
            return self.refuses
        if self.ends_after_s:
            loop.call_later(self.ends_after_s, self.end)
        else:
            self.end()
        return b"{}"

    def set_temperature(self, order: dict[str, float]) -> bytes | PrinterRefusal:
        """An adapter refuses a whole order where the printer lacks one of its heaters."""
        if "BedC" in order and not self.has_bed:
            return CANT_HEAT_A_BED
        if "ToolC" in order and self.keeps_its_tool_hot:
            return SAID_NO
        for heater, target_c in order.items():
            assert target_c == 0.0
            self.hot.discard(heater)
        return b"{}"

    @property
    def is_hot(self) -> bool:
        return bool(self.hot)

    def heat(self) -> None:
        self.hot = {"ToolC", "BedC"} if self.has_bed else {"ToolC"}

    def print_(self) -> None:
        self.state = State.PRINTING
        self.heat()

    def end(self) -> None:
        """The print is over; its heaters stay as they are."""
        self.state = State.CANCELLED


async def stop(machine: FakePrinterHttp) -> StopOutcome:
    return await PrinterStop(machine, PRINTER, asyncio.Semaphore(1)).stop()


@pytest.mark.parametrize("shows_at_s", [0.5, 2.5, 5.5])
@on_a_hasty_loop
async def test_a_print_that_shows_up_after_the_first_look_is_stopped_and_cooled(
    shows_at_s: float,
) -> None:
    machine = Machine(starts_at_s=(shows_at_s,))

    assert await stop(machine) == StopOutcome(stop=StopResult.STOPPED)
    assert machine.state is State.CANCELLED
    assert not machine.is_hot


@on_a_hasty_loop
async def test_each_of_several_prints_that_are_started_meanwhile_is_stopped() -> None:
    machine = Machine(starts_at_s=(0.5, 2.5, 4.5))
    machine.print_()

    assert await stop(machine) == StopOutcome(stop=StopResult.STOPPED)
    assert machine.state is State.CANCELLED
    assert not machine.is_hot


@on_a_hasty_loop
async def test_an_idle_printer_had_nothing_to_stop() -> None:
    machine = Machine()

    assert await stop(machine) == StopOutcome(stop=StopResult.NOTHING)
    assert machine.commands == ["/cancel", "/cancel"]


@on_a_hasty_loop
async def test_an_idle_printer_that_is_hot_is_cooled() -> None:
    machine = Machine(hot={"ToolC"})

    assert await stop(machine) == StopOutcome(stop=StopResult.NOTHING)
    assert not machine.is_hot


@on_a_hasty_loop
async def test_the_hotend_of_a_printer_that_has_no_heated_bed_is_cooled() -> None:
    machine = Machine(has_bed=False)
    machine.print_()

    assert await stop(machine) == StopOutcome(stop=StopResult.STOPPED)
    assert not machine.hot


@on_a_hasty_loop
async def test_a_heater_that_stays_on_is_named_and_the_others_are_switched_off() -> None:
    machine = Machine(keeps_its_tool_hot=True)
    machine.print_()

    outcome = await stop(machine)

    assert outcome.heaters == "The hotend may still be on: The printer said no."
    assert machine.hot == {"ToolC"}


@on_a_hasty_loop
async def test_a_print_that_takes_its_time_to_end_is_cancelled_once_until_the_last_order() -> None:
    machine = Machine(ends_after_s=4.0)
    machine.print_()

    assert await stop(machine) == StopOutcome(stop=StopResult.STOPPED)
    assert machine.commands == ["/cancel", "/set-temp", "/set-temp", "/cancel"]


@on_a_hasty_loop
async def test_a_printer_that_refuses_to_cancel_what_shows_up_is_told() -> None:
    machine = Machine(starts_at_s=(2.5,), refuses=SAID_NO)

    assert await stop(machine) == StopOutcome(stop=StopResult.FAILED, sentence=SAID_NO.sentence)


@on_a_hasty_loop
async def test_a_printer_that_is_away_keeps_nobody_waiting() -> None:
    began = asyncio.get_running_loop().time()

    assert await stop(FakePrinterHttp()) == StopOutcome(
        stop=StopResult.UNREACHABLE, sentence=OFFLINE.sentence
    )
    assert asyncio.get_running_loop().time() - began < remote_lock.LOOK_EVERY_S


@on_a_hasty_loop
async def test_every_printer_has_its_first_order_at_once_however_many_there_are() -> None:
    room = asyncio.Semaphore(1)
    machines = [Machine() for _ in range(20)]
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(PrinterStop(one, PRINTER, room).stop() for one in machines))

    firsts = [one.begun_at for one in machines if one.begun_at is not None]
    assert len(firsts) == len(machines)
    assert max(firsts) - began < remote_lock.LOOK_EVERY_S
