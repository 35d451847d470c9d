"""A cancel right after a start: the printer's live view does not show the print yet."""

import asyncio

import pytest

from printreach.agent.commands.order_gate import ORDER_WAITS_S, SHOWS_WITHIN_S
from printreach.contract.commands import CommandStatus, StartPrint
from printreach.contract.files import FileDone
from printreach.contract.status import State
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter, refusing
from tests.printers.asking import command_calls

START = {"Path": "gcode/a.gcode"}


class LatePrinter(ScriptedPrinter):
    """A printer whose view shows a start some seconds after it was accepted.

    answers_after_s: how long it takes to accept a start. shows_after_s: None never shows it.
    """

    def __init__(self, *, answers_after_s: float = 0.0, shows_after_s: float | None = 2.0) -> None:
        super().__init__()
        self.answers_after_s = answers_after_s
        self.shows_after_s = shows_after_s
        self.is_printing = False

    async def start(self, order: StartPrint) -> FileDone:
        await asyncio.sleep(self.answers_after_s)
        done = await super().start(order)
        self.is_printing = True
        if self.shows_after_s is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(self.shows_after_s, lambda: self.be(State.PRINTING))
        return done

    async def cancel(self) -> None:
        await super().cancel()
        self.is_printing = False
        self.be(State.CANCELLED)

    def cancels(self) -> int:
        return self.done.count("cancel")


@on_a_hasty_loop
async def test_a_cancel_right_after_an_accepted_start_ends_the_print() -> None:
    printer = LatePrinter()
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 200
        assert (await calls.post("cancel")).status == 200

    assert not printer.is_printing


@on_a_hasty_loop
async def test_a_cancel_waits_for_a_start_that_the_printer_has_not_answered_yet() -> None:
    printer = LatePrinter(answers_after_s=3.0)
    async with command_calls(printer) as calls:
        starting = asyncio.create_task(calls.post("start", START))
        await asyncio.sleep(0.1)
        assert (await calls.post("cancel")).status == 200
        assert (await starting).status == 200

    assert printer.cancels() == 1
    assert not printer.is_printing


@on_a_hasty_loop
async def test_a_start_whose_caller_was_cut_off_is_cancelled_all_the_same() -> None:
    """As a lock of remote control cuts it off, on its way to the printer."""
    printer = LatePrinter(answers_after_s=1.0)
    async with command_calls(printer) as calls:
        asked = calls.ask(b"POST", "start", b'{"Path": "gcode/a.gcode"}')
        await asyncio.sleep(0.1)
        asked.leave()
        assert (await calls.post("cancel")).status == 200

    assert printer.cancels() == 1
    assert not printer.is_printing


@on_a_hasty_loop
async def test_a_cancel_reaches_the_printer_though_the_start_never_shows() -> None:
    printer = LatePrinter(shows_after_s=None)
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 200
        began = asyncio.get_running_loop().time()
        assert (await calls.post("cancel")).status == 200
        assert asyncio.get_running_loop().time() - began < SHOWS_WITHIN_S + 1

    assert not printer.is_printing


@on_a_hasty_loop
async def test_a_cancel_goes_to_the_printer_though_a_start_gets_no_answer() -> None:
    printer = LatePrinter(answers_after_s=20.0)
    async with command_calls(printer) as calls:
        calls.ask(b"POST", "start", b'{"Path": "gcode/a.gcode"}')
        await asyncio.sleep(0.1)
        began = asyncio.get_running_loop().time()
        assert (await calls.post("cancel")).status == 200
        assert asyncio.get_running_loop().time() - began < ORDER_WAITS_S + 1

    assert printer.cancels() == 1


@on_a_hasty_loop
async def test_nothing_is_started_while_a_print_is_being_cancelled() -> None:
    printer = LatePrinter()
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 200
        cancelling = asyncio.create_task(calls.post("cancel"))
        await asyncio.sleep(0.5)
        late = await calls.post("start", START)
        assert (late.status, late.error) == (
            786,
            "A print is being cancelled; start again after that.",
        )
        assert (await cancelling).status == 200

    assert not printer.is_printing


@pytest.mark.parametrize("seconds", [0.0, 60.0])
@on_a_hasty_loop
async def test_a_start_that_the_printer_refused_is_no_print_to_cancel(seconds: float) -> None:
    printer = ScriptedPrinter()
    printer.refusal = refusing(CommandStatus.EXECUTION_FAILED)
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 752
        printer.refusal = None
        await asyncio.sleep(seconds)
        assert (await calls.post("cancel")).status == 786

    assert printer.done == []


@on_a_hasty_loop
async def test_a_start_that_timed_out_may_have_begun_and_is_cancelled() -> None:
    printer = ScriptedPrinter()
    printer.refusal = refusing(CommandStatus.TIMED_OUT)
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 504
        printer.refusal = None
        assert (await calls.post("cancel")).status == 200


@on_a_hasty_loop
async def test_a_print_that_is_over_is_no_print_to_cancel() -> None:
    printer = LatePrinter()
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 200
        await asyncio.sleep(5)
        printer.be(State.COMPLETE)
        assert (await calls.post("cancel")).status == 786

    assert printer.cancels() == 0


@on_a_hasty_loop
async def test_a_cancel_of_a_printer_that_is_lost_after_a_start_says_so() -> None:
    printer = LatePrinter(shows_after_s=None)
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 200
        cancelling = asyncio.create_task(calls.post("cancel"))
        await asyncio.sleep(1)
        printer.be_in_trouble(CommandStatus.NOT_CONNECTED)
        assert (await cancelling).status == 785
