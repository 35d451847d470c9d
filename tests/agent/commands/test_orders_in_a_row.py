"""Orders right after one another: each is judged by the state that the one before leads to."""

import asyncio

import pytest

from printreach.agent.commands.order_gate import SHOWS_WITHIN_S
from printreach.contract.commands import CommandStatus, Home, Pause, StartPrint
from printreach.contract.files import FileDone
from printreach.contract.status import State
from printreach.rules.printers.commands import Action, shows_effect
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter, refusing
from tests.printers.asking import Json, command_calls

START: Json = {"Path": "gcode/a.gcode"}
MOVE: Json = {"Axis": "X", "DistanceMm": 1}
EXTRUDE: Json = {"DistanceMm": 1, "Extruder": 0}
LATE_S = 2.0


class LatePrinter(ScriptedPrinter):
    """Accepts only what has its place, at once, and shows the effect two seconds later."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.be(state)
        self.really = state

    async def start(self, order: StartPrint) -> FileDone:
        self._go(State.PRINTING, State.IDLE, State.CANCELLED)
        return await super().start(order)

    async def pause(self, order: Pause) -> None:
        self._go(State.PAUSED, State.PRINTING)
        await super().pause(order)

    async def resume(self) -> None:
        self._go(State.PRINTING, State.PAUSED)
        await super().resume()

    async def cancel(self) -> None:
        self._go(State.CANCELLED, State.PRINTING, State.PAUSED)
        await super().cancel()

    async def home(self, order: Home) -> None:
        self._go(self.really, State.IDLE, State.CANCELLED)
        await super().home(order)

    def _go(self, state: State, *before: State) -> None:
        if self.really not in before:
            raise refusing(CommandStatus.EXECUTION_FAILED)
        self.really = state
        asyncio.get_running_loop().call_later(LATE_S, lambda: self.be(state))


@pytest.mark.parametrize(
    ("before", "first", "second", "status"),
    [
        (State.IDLE, "start", "pause", 200),
        (State.IDLE, "start", "start", 786),
        (State.IDLE, "start", "home", 786),
        (State.IDLE, "start", "move-axis", 786),
        (State.IDLE, "start", "extrude", 786),
        (State.IDLE, "start", "resume", 786),
        (State.PRINTING, "pause", "resume", 200),
        (State.PRINTING, "pause", "pause", 786),
        (State.PRINTING, "pause", "cancel", 200),
        (State.PRINTING, "pause", "move-axis", 200),
        (State.PAUSED, "resume", "pause", 200),
        (State.PAUSED, "resume", "resume", 786),
        (State.PAUSED, "resume", "extrude", 786),
        (State.PRINTING, "cancel", "cancel", 786),
        (State.PRINTING, "cancel", "pause", 786),
        (State.PRINTING, "cancel", "home", 200),
    ],
)
@pytest.mark.parametrize("is_at_once", [True, False])
def test_an_order_is_judged_by_what_the_one_before_leads_to(
    before: State, first: str, second: str, status: int, is_at_once: bool
) -> None:
    """is_at_once: the second comes before the first was answered."""

    @on_a_hasty_loop
    async def body() -> None:
        async with command_calls(LatePrinter(before)) as calls:
            asked = asyncio.create_task(calls.post(first, _body(first)))
            await asyncio.sleep(0.0 if is_at_once else 0.5)
            reply = await calls.post(second, _body(second))
            assert (await asked).status == 200
            assert reply.status == status, reply.envelope

    body()


@on_a_hasty_loop
async def test_a_start_right_after_an_accepted_cancel_waits_for_its_end() -> None:
    printer = LatePrinter(State.PRINTING)
    async with command_calls(printer) as calls:
        assert (await calls.post("cancel")).status == 200
        assert (await calls.post("start", START)).status == 200


@on_a_hasty_loop
async def test_of_many_pauses_at_once_one_is_made() -> None:
    printer = LatePrinter(State.PRINTING)
    async with command_calls(printer) as calls:
        replies = await asyncio.gather(*(calls.post("pause", {}) for _ in range(5)))

    assert sorted(reply.status for reply in replies) == [200, 786, 786, 786, 786]


@on_a_hasty_loop
async def test_a_start_that_waits_is_not_made_after_a_cancel() -> None:
    printer = LatePrinter(State.IDLE)
    async with command_calls(printer) as calls:
        assert (await calls.post("start", START)).status == 200
        second = asyncio.create_task(calls.post("start", START))
        await asyncio.sleep(0.1)
        assert (await calls.post("cancel")).status == 200
        assert (await second).status == 786

    assert printer.really is State.CANCELLED


@on_a_hasty_loop
async def test_an_order_that_never_shows_holds_up_the_next_for_seconds_only() -> None:
    printer = ScriptedPrinter()
    printer.be(State.PRINTING)
    async with command_calls(printer) as calls:
        assert (await calls.post("pause", {})).status == 200
        began = asyncio.get_running_loop().time()
        assert (await calls.post("pause", {})).status == 200
        assert asyncio.get_running_loop().time() - began < SHOWS_WITHIN_S + 1


@on_a_hasty_loop
async def test_an_order_that_was_refused_holds_up_nothing() -> None:
    printer = ScriptedPrinter()
    printer.be(State.PRINTING)
    printer.refusal = refusing(CommandStatus.EXECUTION_FAILED)
    async with command_calls(printer) as calls:
        assert (await calls.post("pause", {})).status == 752
        printer.refusal = None
        began = asyncio.get_running_loop().time()
        assert (await calls.post("pause", {})).status == 200
        assert asyncio.get_running_loop().time() - began < 1


def test_what_changes_no_state_shows_at_once() -> None:
    assert all(
        shows_effect(action, state) for action in (Action.HOME, Action.MOVE) for state in State
    )


def _body(command: str) -> Json | None:
    return {"start": START, "pause": {}, "move-axis": MOVE, "extrude": EXTRUDE}.get(command)
