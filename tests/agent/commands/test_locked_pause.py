"""While remote control is locked, a pause is a plain one, whatever was asked for."""

import json
from collections.abc import Callable

import pytest

from printreach.contract.commands import Pause
from printreach.contract.status import State
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import CommandCalls, Json, Reply, command_calls

FAR = {"SmartPause": True, "DisableBed": True, "ZLiftMm": 500, "RetractFilamentMm": 500}
LOCKED = b"control,files,camera,interface,locked"


class Pausing(ScriptedPrinter):
    """Notes how it was paused."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[Pause] = []

    async def pause(self, order: Pause) -> None:
        self.pauses.append(order)


async def pause(calls: CommandCalls, order: Json, stamp: bytes) -> Reply:

    headers = [(b"X-Service-Permissions", stamp)]
    return await calls.ask(b"POST", "pause", json.dumps(order).encode(), headers=headers).reply()


@on_a_hasty_loop
async def test_a_smart_pause_is_a_plain_one_while_remote_control_is_locked() -> None:
    printer = Pausing()
    printer.be(State.PRINTING)
    async with command_calls(printer) as calls:
        reply = await pause(calls, FAR, LOCKED)

    assert reply.result == {
        "Note": "Remote control is locked: this was a plain pause, not a smart one."
    }
    [paused] = printer.pauses
    assert not paused.smart_pause
    assert (paused.z_lift_mm, paused.retract_filament_mm, paused.disable_bed) == (0, 0, False)


@on_a_hasty_loop
async def test_a_plain_pause_is_answered_as_ever() -> None:
    printer = Pausing()
    printer.be(State.PRINTING)
    async with command_calls(printer) as calls:
        assert (await pause(calls, {}, LOCKED)).result == {}
        assert (await pause(calls, {"SmartPause": True}, b"control")).result == {}

    assert [one.smart_pause for one in printer.pauses] == [False, True]


@pytest.mark.parametrize(
    ("order", "is_silent"),
    [
        ({"SmartPause": True}, False),
        ({"SmartPause": True, "SuppressNotification": True}, True),
    ],
)
@on_a_hasty_loop
async def test_its_owner_is_told_of_it_unless_the_order_says_otherwise(
    order: Json, is_silent: bool
) -> None:
    expected: list[Pause] = []

    def expect(one: Pause) -> Callable[[], None]:
        expected.append(one)
        return lambda: None

    printer = Pausing()
    printer.be(State.PRINTING)
    async with command_calls(printer, expect_pause=expect) as calls:
        await pause(calls, order, LOCKED)

    assert [one.is_silent for one in expected] == [is_silent]


class Restoring(ScriptedPrinter):
    """Counts how often its restore was ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = 0

    async def end_restore(self) -> None:
        self.ended += 1


@on_a_hasty_loop
async def test_a_lock_ends_the_restore_of_a_smart_pause_whoever_asks_for_whatever() -> None:
    printer = Restoring()
    async with command_calls(printer) as calls:
        await calls.get("status")
        assert printer.ended == 0
        locked = [(b"X-Service-Permissions", LOCKED)]
        await calls.ask(b"GET", "status", headers=locked).reply()

    assert printer.ended == 1
