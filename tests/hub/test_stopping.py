"""Stopping one printer: what starts late is stopped, too, and nothing is believed at one look."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
import pytest

from printreach.contract.codec import encode
from printreach.contract.status import State, StatusResult, Temps
from printreach.hub import stopping
from printreach.hub.stopping import Outcome, PrinterStop, Stop
from printreach.ports.printer_http import NO_QUERY, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer_http import OFFLINE, FakePrinterHttp, status_of

PRINTER = OwnedPrinter("p" * 26, "ada")
NOTHING = PrinterRefusal(786, "There is no print to cancel; the printer is idle.")
SAID_NO = PrinterRefusal(752, "The printer said no.")


def hot(state: State) -> StatusResult:
    """A status with the heaters on."""
    status = status_of(state)
    temps = Temps(hotend_target=215, bed_target=60)
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
    is_hot: bool = False

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        assert despite_lock
        status = hot(self.state) if self.is_hot else status_of(self.state)
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
            assert json.loads(arguments) == {"BedC": 0.0, "ToolC": 0.0}
            self.is_hot = False
            return b"{}"
        if self.state is not State.PRINTING:
            return NOTHING
        if self.refuses is not None:
            return self.refuses
        if self.ends_after_s:
            loop.call_later(self.ends_after_s, self.end)
        else:
            self.end()
        return b"{}"

    def print_(self) -> None:
        self.state, self.is_hot = State.PRINTING, True

    def end(self) -> None:
        """The print is over; its heaters stay as they are."""
        self.state = State.CANCELLED


async def stop(machine: FakePrinterHttp) -> Outcome:
    return await PrinterStop(machine, PRINTER, asyncio.Semaphore(1)).stop()


@pytest.mark.parametrize("shows_at_s", [0.5, 2.5, 5.5])
@on_a_hasty_loop
async def test_a_print_that_shows_up_after_the_first_look_is_stopped_and_cooled(
    shows_at_s: float,
) -> None:
    machine = Machine(starts_at_s=(shows_at_s,))

    assert await stop(machine) == Outcome(stop=Stop.STOPPED)
    assert machine.state is State.CANCELLED
    assert not machine.is_hot


@on_a_hasty_loop
async def test_each_of_several_prints_that_are_started_meanwhile_is_stopped() -> None:
    machine = Machine(starts_at_s=(0.5, 2.5, 4.5))
    machine.print_()

    assert await stop(machine) == Outcome(stop=Stop.STOPPED)
    assert machine.state is State.CANCELLED
    assert not machine.is_hot


@on_a_hasty_loop
async def test_an_idle_printer_had_nothing_to_stop() -> None:
    machine = Machine()

    assert await stop(machine) == Outcome(stop=Stop.NOTHING)
    assert machine.commands == ["/cancel", "/cancel"]


@on_a_hasty_loop
async def test_an_idle_printer_that_is_hot_is_cooled() -> None:
    machine = Machine(is_hot=True)

    assert await stop(machine) == Outcome(stop=Stop.NOTHING)
    assert not machine.is_hot


@on_a_hasty_loop
async def test_a_print_that_takes_its_time_to_end_is_cancelled_once_until_the_last_order() -> None:
    machine = Machine(ends_after_s=4.0)
    machine.print_()

    assert await stop(machine) == Outcome(stop=Stop.STOPPED)
    assert machine.commands == ["/cancel", "/set-temp", "/cancel"]


@on_a_hasty_loop
async def test_a_printer_that_refuses_to_cancel_what_shows_up_is_told() -> None:
    machine = Machine(starts_at_s=(2.5,), refuses=SAID_NO)

    assert await stop(machine) == Outcome(stop=Stop.FAILED, sentence=SAID_NO.sentence)


@on_a_hasty_loop
async def test_a_printer_that_is_away_keeps_nobody_waiting() -> None:
    began = asyncio.get_running_loop().time()

    assert await stop(FakePrinterHttp()) == Outcome(
        stop=Stop.UNREACHABLE, sentence=OFFLINE.sentence
    )
    assert asyncio.get_running_loop().time() - began < stopping.LOOK_EVERY_S


@on_a_hasty_loop
async def test_every_printer_has_its_first_order_at_once_however_many_there_are() -> None:
    room = asyncio.Semaphore(1)
    machines = [Machine() for _ in range(20)]
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(PrinterStop(one, PRINTER, room).stop() for one in machines))

    firsts = [one.begun_at for one in machines if one.begun_at is not None]
    assert len(firsts) == len(machines)
    assert max(firsts) - began < stopping.LOOK_EVERY_S
