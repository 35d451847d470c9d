"""Every way in which a command is refused, and which refusal comes first."""

from dataclasses import replace

import pytest

from printreach.agent.commands.order_gate import COMMAND_TIMEOUT_S
from printreach.contract.commands import CommandStatus
from printreach.contract.status import Feature, State
from printreach.rules.printers.commands import Action, state_problem
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter, refusing
from tests.printers.asking import Json, command_calls

HOME = "home"
MOVE: Json = {"Axis": "X", "DistanceMm": 1}
UNREACHABLE = [
    CommandStatus.NOT_CONNECTED,
    CommandStatus.TOO_MANY_CLIENTS,
    CommandStatus.NOT_AUTHORIZED,
]
RAW = [
    (CommandStatus.NOT_CONNECTED, 502),
    (CommandStatus.TOO_MANY_CLIENTS, 502),
    (CommandStatus.NOT_AUTHORIZED, 502),
    (CommandStatus.NOT_SUPPORTED, 501),
    (CommandStatus.TIMED_OUT, 504),
    (CommandStatus.EXECUTION_FAILED, 500),
]


@pytest.mark.provokes(750)
@on_a_hasty_loop
async def test_a_mistake_of_ours_is_750_and_tells_nothing_of_it() -> None:
    printer = ScriptedPrinter()
    printer.refusal = KeyError("secret")
    async with command_calls(printer) as calls:
        reply = await calls.post(HOME)

    assert (reply.http_status, reply.status) == (200, 750)
    assert "secret" not in reply.error


@pytest.mark.provokes(751)
@on_a_hasty_loop
async def test_arguments_that_cannot_be_read_are_751_with_their_name() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        for body in ({"Axis": "W", "DistanceMm": 1}, {"Axis": "X"}, {"DistanceMm": 501}):
            reply = await calls.post("move-axis", body)
            assert (reply.http_status, reply.status) == (200, 751)
            assert "Axis" in reply.error or "DistanceMm" in reply.error


@pytest.mark.parametrize("name", ["..%2f..%2fetc%2fpasswd", "..%5Cx", "%2e%2e", "a%2f..%2Fb", "."])
@on_a_hasty_loop
async def test_a_path_that_leads_elsewhere_when_decoded_again_is_751(name: str) -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        reply = await calls.get("files/download", path=f"gcode/{name}")

    assert (reply.http_status, reply.status) == (400, 751)
    assert printer.done == []


@pytest.mark.provokes(752)
@on_a_hasty_loop
async def test_a_printer_that_says_no_is_752_in_its_own_words() -> None:
    printer = ScriptedPrinter()
    printer.refusal = refusing(CommandStatus.EXECUTION_FAILED)
    async with command_calls(printer) as calls:
        reply = await calls.post(HOME)

    assert (reply.http_status, reply.status) == (200, 752)
    assert reply.error == "The printer said no."


@pytest.mark.provokes(753)
@on_a_hasty_loop
async def test_an_answer_that_json_cannot_hold_is_753() -> None:
    printer = ScriptedPrinter()
    printer.details_told = {"note": "half a pair: \ud83d"}
    async with command_calls(printer) as calls:
        reply = await calls.get("files/details", path="gcode/a.gcode")

    assert (reply.http_status, reply.status) == (200, 753)


@pytest.mark.provokes(754)
@on_a_hasty_loop
async def test_an_unknown_command_or_method_is_754() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        for method, command in ((b"POST", "dance"), (b"GET", HOME), (b"DELETE", "status")):
            reply = await calls.ask(method, command).reply()
            assert (reply.http_status, reply.status) == (200, 754)


@on_a_hasty_loop
async def test_a_head_is_answered_with_the_head_of_a_get() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        whole = await calls.get("status")
        head = await calls.ask(b"HEAD", "status").reply()

    assert head.body == b""
    assert dict(head.headers)[b"Content-Length"] == b"%d" % len(whole.body)


@on_a_hasty_loop
async def test_a_compressed_upload_is_refused_and_not_stored() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        query = {"path": "gcode/a.gcode"}
        for coding, status in ((b"gzip", 751), (b"identity", 200)):
            headers = [(b"Content-Encoding", coding), (b"Content-Length", b"4")]
            asked = calls.ask(b"PUT", "files/upload", b"G28\n", query=query, headers=headers)
            reply = await asked.reply()
            assert reply.status == status, reply.envelope
            assert (status == 200) or "Content-Encoding" in reply.error


@on_a_hasty_loop
async def test_a_wrong_method_is_told_the_right_one() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        form = await calls.ask(b"POST", "files/upload").reply()
        question = await calls.get("move-axis")

    assert form.error.endswith("/files/upload is asked by PUT.")
    assert question.error.endswith("/move-axis is asked by POST.")


@pytest.mark.provokes(785, 787, 789)
@pytest.mark.parametrize("status", UNREACHABLE)
@on_a_hasty_loop
async def test_a_printer_out_of_reach_is_told_as_such_by_every_command(
    status: CommandStatus,
) -> None:
    printer = ScriptedPrinter()
    printer.be_in_trouble(status)
    async with command_calls(printer) as calls:
        for reply in (
            await calls.get("status"),
            await calls.post(HOME),
            await calls.get("files/list"),
        ):
            assert (reply.http_status, reply.status) == (200, status)
            assert reply.error == "The printer at 10.0.0.5 is not to be had."

    assert UNREACHABLE == [785, 787, 789]


@on_a_hasty_loop
async def test_files_of_a_printer_that_is_off_are_served_where_its_software_says_so() -> None:
    printer = ScriptedPrinter()
    printer.be_in_trouble(CommandStatus.NOT_CONNECTED)
    assert printer.view.trouble is not None
    alone = replace(printer.view.trouble, has_lost_firmware=True)
    printer.view = replace(printer.view, trouble=alone)
    async with command_calls(printer) as calls:
        listed = await calls.get("files/list")
        ordered = [await calls.post(HOME), await calls.post("start", {"Path": "gcode/a.gcode"})]

    assert listed.status == 200
    assert [reply.status for reply in ordered] == [785, 785]


@pytest.mark.provokes(786)
@on_a_hasty_loop
async def test_a_command_out_of_place_is_786_and_names_the_state() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        for state in set(State) - {State.PRINTING}:
            printer.be(state)
            reply = await calls.post("pause")
            assert (reply.http_status, reply.status) == (200, 786)
            assert reply.error == state_problem(Action.PAUSE, state)


@pytest.mark.provokes(788)
@on_a_hasty_loop
async def test_what_a_printer_lacks_is_788() -> None:
    printer = ScriptedPrinter()
    printer.lack(Feature.AXIS_MOVEMENT)
    async with command_calls(printer) as calls:
        reply = await calls.post("move-axis", MOVE)

    assert (reply.http_status, reply.status) == (200, 788)


@pytest.mark.provokes(404)
@on_a_hasty_loop
async def test_a_file_or_camera_that_is_not_there_is_404_twice() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        file = await calls.get("files/download", path="gcode/missing")
        camera = await calls.get("webcam/snapshot", index=3)

    assert (file.http_status, file.status) == (404, 404)
    assert (camera.http_status, camera.status) == (404, 404)


@pytest.mark.provokes(504)
@on_a_hasty_loop
async def test_a_printer_that_never_answers_is_504_before_the_command_expires() -> None:
    printer = ScriptedPrinter()
    printer.is_silent = True
    began = hasty_loop().time()
    async with command_calls(printer) as calls:
        reply = await calls.post(HOME)

    assert (reply.http_status, reply.status) == (200, 504)
    assert hasty_loop().time() - began == pytest.approx(COMMAND_TIMEOUT_S)


@pytest.mark.parametrize(("status", "http_status"), RAW)
@on_a_hasty_loop
async def test_a_raw_answer_that_fails_has_a_real_http_status(
    status: CommandStatus, http_status: int
) -> None:
    printer = ScriptedPrinter()
    printer.refusal = refusing(status)
    async with command_calls(printer) as calls:
        reply = await calls.get("files/download", path="gcode/a.gcode")

    assert (reply.http_status, reply.status) == (http_status, status)


@on_a_hasty_loop
async def test_a_raw_answer_with_a_wrong_argument_is_400() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        for command, query in (
            ("files/download", {"path": "gcode/../x"}),
            ("files/download", {}),
            ("webcam/stream", {"index": "first"}),
        ):
            reply = await calls.get(command, **query)
            assert (reply.http_status, reply.status) == (400, 751)


@on_a_hasty_loop
async def test_refusals_come_in_their_order() -> None:
    """Each request has every fault that comes later, too."""
    printer = ScriptedPrinter()
    printer.be(State.PRINTING)
    printer.lack(Feature.AXIS_MOVEMENT)
    reachable = printer.view
    printer.be_in_trouble(CommandStatus.NOT_CONNECTED)
    async with command_calls(printer) as calls:
        wrong_method = await calls.ask(b"PUT", "move-axis", b"{}").reply()
        wrong_argument = await calls.post("move-axis", {"Axis": 1})
        out_of_reach = await calls.post("move-axis", MOVE)
        printer.view = reachable
        not_supported = await calls.post("move-axis", MOVE)
        out_of_place = await calls.post(HOME)

    statuses = [wrong_method, wrong_argument, out_of_reach, not_supported, out_of_place]
    assert [reply.status for reply in statuses] == [754, 751, 785, 788, 786]
    assert printer.done == []


@on_a_hasty_loop
async def test_compressed_json_is_told_so() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        headers = [(b"Content-Encoding", b"gzip")]
        reply = await calls.ask(b"POST", HOME, b"\x1f\x8b", headers=headers).reply()

    assert (reply.status, reply.error) == (751, "Content-Encoding: send the JSON as it is.")


@on_a_hasty_loop
async def test_a_missing_path_is_told_to_go_into_the_query() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        reply = await calls.post("files/delete", {"path": "gcode/a.gcode"})

    assert (reply.status, reply.error) == (751, "path is missing in the query.")


@on_a_hasty_loop
async def test_an_address_without_a_command_is_told_so() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        reply = await calls.get("")

    assert reply.error.startswith("The address names no command. There are ")
