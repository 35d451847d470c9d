"""While remote control is locked: pauses are plain ones, and nothing else is carried out."""

import json
from collections.abc import Callable

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import State
from printreach.printers.port import Restores
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import CommandCalls, Json, Reply, command_calls

FAR = {"SmartPause": True, "DisableBed": True, "ZLiftMm": 500, "RetractFilamentMm": 500}
LOCKED = b"control,files,camera,interface,locked"


class PausedPrinter(ScriptedPrinter):
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
    printer = PausedPrinter()
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
    printer = PausedPrinter()
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

    printer = PausedPrinter()
    printer.be(State.PRINTING)
    async with command_calls(printer, expect_pause=expect) as calls:
        await pause(calls, order, LOCKED)

    assert [one.is_silent for one in expected] == [is_silent]


class RestoringPrinter(ScriptedPrinter):
    """Counts how often its restore was ended. is_held: whether it has to wait now."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = 0
        self.is_held = False

    @property
    def restores(self) -> Restores:
        return self

    async def lock(self) -> None:
        self.ended += 1

    def hold(self, *, is_held: bool) -> None:
        self.is_held = is_held


@on_a_hasty_loop
async def test_a_lock_ends_the_restore_of_a_smart_pause_whoever_asks_for_whatever() -> None:
    printer = RestoringPrinter()
    async with command_calls(printer) as calls:
        await calls.get("status")
        assert printer.ended == 0
        locked = [(b"X-Service-Permissions", LOCKED)]
        await calls.ask(b"GET", "status", headers=locked).reply()

    assert printer.ended == 1


# --- a lock that the service tells without a request ----------------------------------------------


@on_a_hasty_loop
async def test_a_lock_that_is_told_ends_the_restore_without_any_request() -> None:
    printer, lock = RestoringPrinter(), RemoteLock()
    async with command_calls(printer, remote_lock=lock):
        lock.set_locked(is_locked=True)
        await settle()
        assert (printer.ended, printer.is_held) == (1, True)
        lock.set_locked(is_locked=False)
        await settle()

    assert (printer.ended, printer.is_held) == (1, False)


@on_a_hasty_loop
async def test_a_restore_is_held_while_the_service_can_tell_of_no_lock() -> None:
    printer, lock = RestoringPrinter(), RemoteLock()
    async with command_calls(printer, remote_lock=lock):
        lock.lost()
        assert printer.is_held
        lock.set_locked(is_locked=False)
        await settle()

    assert (printer.ended, printer.is_held) == (0, False)


@on_a_hasty_loop
async def test_an_order_that_waits_for_another_one_is_refused_after_a_lock() -> None:
    printer, lock = ScriptedPrinter(), RemoteLock()
    async with command_calls(printer, remote_lock=lock) as calls:
        printer.be(State.PRINTING)
        assert (await calls.post("pause")).status == 200
        before = list(printer.done)
        asked = calls.ask(b"POST", "resume")
        await settle()
        lock.set_locked(is_locked=True)
        printer.be(State.PAUSED)
        reply = await asked.reply()

    assert reply.status == CommandStatus.INVALID_STATE
    assert "locked" in reply.error
    assert printer.done == before


@on_a_hasty_loop
async def test_a_smart_pause_that_waits_for_another_order_is_a_plain_one_after_a_lock() -> None:
    printer, lock = PausedPrinter(), RemoteLock()
    async with command_calls(printer, remote_lock=lock) as calls:
        printer.be(State.PAUSED)
        assert (await calls.post("resume")).status == CommandStatus.OK
        asked = calls.ask(b"POST", "pause", json.dumps({"SmartPause": True}).encode())
        await settle()
        lock.set_locked(is_locked=True)
        printer.be(State.PRINTING)
        reply = await asked.reply()

    assert "plain pause" in str(reply.result["Note"])
    assert [one.smart_pause for one in printer.pauses] == [False]


@on_a_hasty_loop
async def test_the_service_stops_a_print_despite_a_lock_that_it_told() -> None:
    printer, lock = ScriptedPrinter(), RemoteLock()
    lock.set_locked(is_locked=True)
    printer.be(State.PAUSED)
    stamp = [(b"X-Service-Permissions", b"control,files,camera,interface,despite-lock")]
    async with command_calls(printer, remote_lock=lock) as calls:
        heat = json.dumps({"ToolC": 0}).encode()
        cooled = await calls.ask(b"POST", "set-temp", heat, headers=stamp).reply()
        cancelled = await calls.ask(b"POST", "cancel", headers=stamp).reply()

    assert (cooled.status, cancelled.status) == (200, 200)
