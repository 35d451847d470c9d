"""Commands never replay: late ones are refused, repeated ones get the first result."""

import asyncio
import tracemalloc

import pytest
from msgspec import structs

from printreach.agent.commands.replay import (
    COMMAND_BYTES,
    KEY_USED_BEFORE,
    MAX_BYTES,
    MAX_REMEMBERED,
    MAX_UNDER_WAY,
    REMEMBERED_S,
    TOO_MANY_UNDER_WAY,
    ServiceClock,
)
from printreach.contract.commands import CommandStatus
from printreach.contract.files import FileDone
from printreach.contract.status import State
from printreach.wire.heads import Headers
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.fakes.printer import ScriptedPrinter, refusing
from tests.printers.asking import CommandCalls, Json, Reply, command_calls

NOW_S = 1_800_000_000
TOO_LATE = 504
HEAT = b'{"BedC":60}'
"""Arguments of set-temp; orders without arguments of their own ignore them."""


def stamped(command_id: bytes, *, expires_s: float = NOW_S + 30) -> Headers:
    return [
        (b"X-Service-Command-Id", command_id),
        (b"X-Service-Command-Expires", b"%d" % int(expires_s * 1000)),
    ]


async def home(calls: CommandCalls, headers: Headers) -> Reply:
    return await calls.ask(b"POST", "home", headers=headers).reply()


async def post(
    calls: CommandCalls, command: str, body: bytes = b"", query: Json | None = None
) -> Reply:
    """Give an order that has the id of all of these orders."""
    asked = calls.ask(b"POST", command, body, query=query, headers=stamped(b"same"))
    return await asked.reply()


def told_clock() -> ServiceClock:
    clock = ServiceClock(hasty_loop().time)
    clock.set(NOW_S)
    return clock


@on_a_hasty_loop
async def test_a_command_that_comes_too_late_is_not_carried_out() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        in_time = await home(calls, stamped(b"1"))
        await asyncio.sleep(31)
        late = await home(calls, stamped(b"2"))

    assert (in_time.status, late.status) == (200, TOO_LATE)
    assert printer.done == ["home"]


@on_a_hasty_loop
async def test_a_command_whose_body_comes_too_late_is_not_carried_out() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        asked = calls.ask(b"POST", "home", None, headers=stamped(b"1"))
        await asyncio.sleep(31)
        asked.stream.send(b"{}", fin=True)
        late = await asked.reply()

    assert late.status == TOO_LATE
    assert printer.done == []


@on_a_hasty_loop
async def test_an_upload_that_comes_too_late_is_not_kept() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        await asyncio.sleep(31)
        query = {"path": "gcode/a.gcode"}
        asked = calls.ask(b"PUT", "files/upload", b"G28", query=query, headers=stamped(b"1"))
        late = await asked.reply()

    assert late.status == TOO_LATE
    assert printer.done == []


@on_a_hasty_loop
async def test_questions_never_expire() -> None:
    async with command_calls(ScriptedPrinter(), told_clock()) as calls:
        await asyncio.sleep(31)
        reply = await calls.ask(b"GET", "status", headers=stamped(b"1")).reply()

    assert reply.status == 200


@on_a_hasty_loop
async def test_a_repeat_gets_the_first_result_and_does_nothing() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        first = await home(calls, stamped(b"same"))
        printer.refusal = refusing(CommandStatus.EXECUTION_FAILED)
        again = await home(calls, stamped(b"same"))

    assert first.envelope == again.envelope
    assert printer.done == ["home"]


@on_a_hasty_loop
async def test_a_repeat_of_a_refused_command_is_refused_alike() -> None:
    printer = ScriptedPrinter()
    printer.refusal = refusing(CommandStatus.EXECUTION_FAILED)
    async with command_calls(printer, told_clock()) as calls:
        first = await home(calls, stamped(b"same"))
        printer.refusal = None
        again = await home(calls, stamped(b"same"))

    assert first.envelope == again.envelope
    assert printer.done == []


@on_a_hasty_loop
async def test_an_id_used_for_another_command_is_refused_and_nothing_is_done() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        await home(calls, stamped(b"same"))
        moved = await post(calls, "move-axis", b'{"Axis":"X","DistanceMm":1}')

    assert (moved.status, moved.error) == (CommandStatus.BAD_ARGUMENTS, KEY_USED_BEFORE)
    assert printer.done == ["home"]


@on_a_hasty_loop
async def test_an_id_used_with_other_arguments_is_refused_and_nothing_is_done() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        heated = await post(calls, "set-temp", b'{"BedC":60}')
        other = await post(calls, "set-temp", b'{"BedC":0}')

    assert heated.status == 200
    assert (other.status, other.error) == (CommandStatus.BAD_ARGUMENTS, KEY_USED_BEFORE)
    assert len(printer.done) == 1


@on_a_hasty_loop
async def test_an_id_used_for_another_path_of_the_query_is_refused_and_nothing_is_done() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        await post(calls, "files/delete", query={"path": "gcode/a.gcode"})
        done = list(printer.done)
        other = await post(calls, "files/delete", query={"path": "gcode/b.gcode"})

    assert (other.status, other.error) == (CommandStatus.BAD_ARGUMENTS, KEY_USED_BEFORE)
    assert printer.done == done


@on_a_hasty_loop
async def test_the_same_arguments_written_otherwise_are_a_repeat() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        first = await post(calls, "move-axis", b'{"Axis":"X","DistanceMm":1}')
        again = await post(calls, "move-axis", b' {"DistanceMm": 1, "Axis": "X"}')

    assert (first.status, again.envelope) == (200, first.envelope)
    assert len(printer.done) == 1


@on_a_hasty_loop
async def test_a_result_is_remembered_longer_than_any_command_is_good() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        await home(calls, [(b"X-Service-Command-Id", b"same")])
        await asyncio.sleep(REMEMBERED_S - 1)
        await home(calls, [(b"X-Service-Command-Id", b"same")])
        await asyncio.sleep(2)
        await home(calls, [(b"X-Service-Command-Id", b"same")])

    assert printer.done == ["home", "home"]


@on_a_hasty_loop
async def test_a_caller_that_leaves_does_not_stop_its_command_and_a_repeat_hears_of_it() -> None:
    printer = ScriptedPrinter()
    printer.is_silent = True
    async with command_calls(printer, told_clock()) as calls:
        asked = calls.ask(b"POST", "home", headers=stamped(b"same"))
        await asyncio.sleep(1)
        asked.leave()
        printer.is_silent = False
        again = await home(calls, stamped(b"same"))

    assert again.status == 504, "the first try still ran, and its result is the repeat's"
    assert printer.done == []


# --- how many are remembered ----------------------------------------------------------------------


@on_a_hasty_loop
async def test_the_orders_of_one_connection_push_out_no_key_of_another() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer, told_clock()) as calls:
        await home(calls, stamped(b"mine.1"))
        for number in range(2 * MAX_REMEMBERED):
            await home(calls, stamped(b"others.%d" % number))
        done = len(printer.done)
        await home(calls, stamped(b"mine.1"))

    assert len(printer.done) == done


@pytest.mark.slow
@on_a_hasty_loop
async def test_however_many_connections_there_are_little_is_remembered_of_all() -> None:
    """The connection with the most gives way."""
    printer = ScriptedPrinter()
    connections = 2 * MAX_BYTES // COMMAND_BYTES // MAX_REMEMBERED
    async with command_calls(printer, told_clock()) as calls:
        await home(calls, stamped(b"mine.1"))
        for connection in range(connections):
            for number in range(MAX_REMEMBERED):
                await home(calls, stamped(b"%d.%d" % (connection, number)))
        done = len(printer.done)
        await home(calls, stamped(b"mine.1"))
        assert len(printer.done) == done
        for connection in range(connections):
            await home(calls, stamped(b"%d.0" % connection))

    assert len(printer.done) == done + connections


class Talkative(ScriptedPrinter):
    """Answers each deletion with many words."""

    async def delete(self, path: str) -> FileDone:
        done = await super().delete(path)
        return structs.replace(done, printer_response={"Words": "x" * (MAX_BYTES // 16)})


@on_a_hasty_loop
async def test_long_answers_count_by_their_length() -> None:
    printer = Talkative()
    async with command_calls(printer, told_clock()) as calls:

        async def delete(number: int) -> None:
            query = {"path": "gcode/a.gcode"}
            headers = stamped(b"mine.%d" % number)
            asked = calls.ask(b"POST", "files/delete", query=query, headers=headers)
            assert (await asked.reply()).status == 200

        for number in range(20):
            await delete(number)
        done = len(printer.done)
        await delete(19)
        assert len(printer.done) == done
        await delete(0)

    assert len(printer.done) == done + 1


@on_a_hasty_loop
async def test_an_order_that_was_refused_before_it_reached_the_printer_is_not_remembered() -> None:
    printer = ScriptedPrinter()
    printer.be(State.PRINTING)
    async with command_calls(printer, told_clock()) as calls:
        refused = await home(calls, stamped(b"same"))
        printer.be(State.IDLE)
        again = await home(calls, stamped(b"same"))
        await home(calls, stamped(b"same"))

    assert (refused.status, again.status) == (CommandStatus.INVALID_STATE, CommandStatus.OK)
    assert printer.done == ["home"]


# --- how many are under way -----------------------------------------------------------------------


async def heat(calls: CommandCalls, command_id: bytes) -> Reply:
    return await calls.ask(b"POST", "set-temp", HEAT, headers=stamped(command_id)).reply()


async def give_and_leave(
    calls: CommandCalls, command: str, connection: bytes, body: bytes = HEAT
) -> None:
    """Give as many orders as a connection may have under way, each by a caller that leaves.

    connection: what their ids begin with.
    """
    for number in range(MAX_UNDER_WAY):
        asked = calls.ask(b"POST", command, body, headers=stamped(b"%b%d" % (connection, number)))
        await settle()
        asked.leave()
    await settle()


@on_a_hasty_loop
async def test_orders_under_way_are_not_forgotten_and_one_too_many_of_a_connection_is_refused() -> (
    None
):
    printer = ScriptedPrinter()
    printer.is_silent = True
    async with command_calls(printer, told_clock()) as calls:
        await give_and_leave(calls, "set-temp", b"mine.")
        refused = await heat(calls, b"mine.more")
        printer.is_silent = False
        again = await heat(calls, b"mine.0")
        other = await heat(calls, b"other.0")
        later = await heat(calls, b"mine.more")

    assert (refused.status, refused.error) == (CommandStatus.INVALID_STATE, TOO_MANY_UNDER_WAY)
    assert (again.status, other.status, later.status) == (TOO_LATE, 200, 200)
    assert len(printer.done) == 2


@on_a_hasty_loop
async def test_the_arguments_of_orders_under_way_are_not_kept() -> None:
    printer = ScriptedPrinter()
    printer.is_silent = True
    async with command_calls(printer, told_clock()) as calls:
        tracemalloc.start()
        await give_and_leave(calls, "set-temp", b"mine.", HEAT + b" " * 60_000)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        printer.is_silent = False

    assert kept < MAX_UNDER_WAY * 30_000


@pytest.mark.slow
@pytest.mark.parametrize("command", ["pause", "cancel", "resume", "set-temp"])
def test_no_orders_of_other_connections_under_way_keep_an_owner_from_giving_one(
    command: str,
) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer = ScriptedPrinter()
        printer.be(State.PAUSED if command == "resume" else State.PRINTING)
        printer.is_silent = True
        async with command_calls(printer, told_clock()) as calls:
            for connection in range(2 * MAX_BYTES // COMMAND_BYTES // MAX_UNDER_WAY):
                await give_and_leave(calls, "set-temp", b"%d." % connection)
            printer.is_silent = False
            asked = calls.ask(b"POST", command, HEAT, headers=stamped(b"owners.1"))

            assert (await asked.reply()).status == CommandStatus.OK

    run()


@pytest.mark.parametrize("connection", [b"mine.", b"of-an-older-relay-"])
@pytest.mark.parametrize(
    ("under_way", "command"),
    [("set-temp", "pause"), ("set-temp", "cancel"), ("pause", "cancel"), ("cancel", "pause")],
)
def test_however_many_orders_a_connection_has_under_way_it_may_pause_and_cancel(
    connection: bytes, under_way: str, command: str
) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer = ScriptedPrinter()
        printer.be(State.PRINTING)
        printer.is_silent = True
        async with command_calls(printer, told_clock()) as calls:
            await give_and_leave(calls, under_way, connection)
            more = calls.ask(b"POST", under_way, HEAT, headers=stamped(connection + b"more"))
            assert (await more.reply()).error == TOO_MANY_UNDER_WAY
            printer.is_silent = False
            asked = calls.ask(b"POST", command, headers=stamped(connection + b"safer"))

            assert (await asked.reply()).status == CommandStatus.OK

    run()
