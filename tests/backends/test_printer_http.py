"""Requests to printers through a real relay: answers, refusals as values, and other callers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from printreach.backends import printer_http
from printreach.backends.printer_http import RelayPrinterHttp
from printreach.http1.fetch import OpenAnswer
from printreach.ports import Topic
from printreach.ports.printer_http import PrinterAnswer, PrinterAnswerBroken, PrinterRefusal
from printreach.rules.connections.internal_grants import internal_name, internal_token
from printreach.rules.printers import OwnedPrinter
from tests.fakes.grants import INTERNAL_KEY
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import TUNNEL_DOMAIN, Rig, relay
from tests.relay.scripted_agent import Asked, Script, ignore, printer_id
from tests.relay.waiting import until

ONE = OwnedPrinter(printer_id("one"), "ada")
TWO = OwnedPrinter(printer_id("two"), "ada")
DONE = b'{"Status":200,"Result":{}}'
PIECES = 8_000
LONG_S = 100.0


@dataclass
class Inside:
    """A role of the service beside the relay."""

    rig: Rig
    printers: RelayPrinterHttp


@asynccontextmanager
async def inside() -> AsyncIterator[Inside]:
    async with relay() as rig:
        printers = RelayPrinterHttp(rig.node.connect_inside, TUNNEL_DOMAIN, INTERNAL_KEY, rig.clock)
        try:
            yield Inside(rig, printers)
        finally:
            await printers.close()


def says(body: bytes, status: int = 200) -> Script:
    """Answer with this, once the whole request has come."""

    def tell(asked: Asked) -> None:
        asked.answer(status, [(b"Content-Length", b"%d" % len(body))], body)

    def answer(asked: Asked) -> None:
        if asked.is_complete:
            tell(asked)
        else:
            asked.when_complete = tell

    return answer


def begin(asked: Asked) -> None:
    """Answer with a body that has no end yet."""
    asked.answer(fin=False)


# --- answers --------------------------------------------------------------------------------------


@on_a_loop
async def test_a_question_brings_the_whole_envelope() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=says(DONE))

        assert await here.printers.ask(ONE, "/files/list", {"path": "gcode/a b+c&d"}) == DONE
        target = agent.asked[0].head.target
        assert target == b"/service-command-api/files/list?path=gcode%2Fa%20b%2Bc%26d"


@on_a_loop
async def test_an_order_carries_its_arguments_and_no_credential_of_ours() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=says(DONE))

        assert await here.printers.order(ONE, "/pause", arguments=b'{"SmartPause":true}') == DONE
        asked = agent.asked[0]
        assert (asked.head.method, asked.body) == (b"POST", b'{"SmartPause":true}')
        assert b"authorization" not in {name.lower() for name, _ in asked.head.headers}


@on_a_loop
async def test_an_upload_arrives_whole_and_in_order() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(40):
            yield bytes([number]) * 20_000

    async with inside() as here:
        agent = await here.rig.agent(script=says(DONE))

        sent = await here.printers.send(ONE, "/files/upload", {"path": "gcode/a"}, pieces(), None)
        assert sent == DONE
        assert agent.asked[0].body == b"".join(bytes([number]) * 20_000 for number in range(40))


@on_a_loop
async def test_a_raw_answer_is_read_as_it_comes() -> None:
    async with inside() as here:
        await here.rig.agent(script=says(b"x" * 300_000))

        async with here.printers.open(ONE, "/files/download", {"path": "gcode/a"}) as answer:
            assert isinstance(answer, PrinterAnswer)
            assert answer.length == 300_000
            assert b"".join([chunk async for chunk in answer.chunks]) == b"x" * 300_000


@on_a_loop
async def test_leaving_a_raw_answer_ends_it_at_the_printer() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=begin)

        async with here.printers.open(ONE, "/webcam/stream") as answer:
            assert isinstance(answer, PrinterAnswer)
        await until(lambda: agent.asked[0].reset is not None)


@on_a_loop
async def test_a_raw_answer_that_breaks_off_says_so() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=begin)

        async with here.printers.open(ONE, "/webcam/stream") as answer:
            assert isinstance(answer, PrinterAnswer)
            agent.leave()
            with pytest.raises(PrinterAnswerBroken):
                await anext(answer.chunks)


# --- refusals -------------------------------------------------------------------------------------


@on_a_loop
async def test_an_agent_that_is_away_is_601() -> None:
    async with inside() as here:
        here.rig.agents.link(ONE.printer_id)

        refused = await here.printers.ask(ONE, "/status")
        assert isinstance(refused, PrinterRefusal)
        assert refused.code == 601
        async with here.printers.open(ONE, "/webcam/snapshot") as raw:
            assert raw == refused


@on_a_loop
async def test_a_printer_that_nobody_has_linked_is_604() -> None:
    async with inside() as here:
        refused = await here.printers.ask(ONE, "/status")

        assert isinstance(refused, PrinterRefusal)
        assert refused.code == 604


@on_a_loop
async def test_an_agents_refusal_is_its_status_and_its_words() -> None:
    async with inside() as here:
        said = b'{"Status":785,"Error":"The printer can\'t be reached."}'
        await here.rig.agent(script=says(said))
        await here.rig.agent("two", script=says(said, status=502))

        expected = PrinterRefusal(785, "The printer can't be reached.")
        assert await here.printers.ask(ONE, "/status") == expected
        async with here.printers.open(TWO, "/webcam/snapshot") as raw:
            assert raw == expected


@pytest.mark.provokes(610)
@on_a_loop
async def test_an_agent_that_does_not_know_a_command_is_too_old_for_it() -> None:
    async with inside() as here:
        await here.rig.agent(script=says(b'{"Status":754,"Error":"There is no such command."}'))
        answer = await here.printers.ask(ONE, "/status")

        assert isinstance(answer, PrinterRefusal)
        assert answer.code == 610
        assert "too old" in answer.sentence


@pytest.mark.parametrize("nonsense", [b"", b"\xff", b"[]", b'{"Status":"200"}', b"<html>"])
@on_a_loop
async def test_nonsense_from_an_agent_is_a_refusal(nonsense: bytes) -> None:
    async with inside() as here:
        await here.rig.agent(script=says(nonsense))

        refused = await here.printers.ask(ONE, "/status")
        assert isinstance(refused, PrinterRefusal)
        assert refused.code == 750


NESTED = b"[" * 100_000


@pytest.mark.parametrize("nested", [NESTED, b'{"Status":200,"Result":' + NESTED])
@on_a_loop
async def test_an_answer_that_is_nested_without_end_is_a_refusal(nested: bytes) -> None:
    async with inside() as here:
        await here.rig.agent(script=says(nested))

        refused = await here.printers.ask(ONE, "/status")
        assert isinstance(refused, PrinterRefusal)
        assert refused.code == 750


@pytest.mark.parametrize(
    ("command", "kib"), [("/status", 256), ("/pause", 256), ("/files/list", 8192)]
)
@on_a_loop
async def test_an_answer_that_is_larger_than_its_command_needs_is_refused_and_said_so(
    command: str, kib: int
) -> None:
    body = b'{"Status":200,"Result":{"x":"' + b"x" * kib * 1024 + b'"}}'
    async with inside() as here:
        await here.rig.agent(script=says(body))

        assert await here.printers.ask(ONE, command) == PrinterRefusal(
            750, f"The agent's answer is larger than {kib} KiB."
        )


@on_a_loop
async def test_a_list_of_files_of_some_megabytes_is_read() -> None:
    body = b'{"Status":200,"Result":{"x":"' + b"x" * 5_000_000 + b'"}}'
    async with inside() as here:
        await here.rig.agent(script=says(body))

        assert await here.printers.ask(ONE, "/files/list", {"root": "gcode"}) == body


@on_a_loop
async def test_a_printers_sentence_is_cut_and_printable() -> None:
    text = r"no\u0007 " + "x" * 100_000
    async with inside() as here:
        await here.rig.agent(script=says(f'{{"Status":752,"Error":"{text}"}}'.encode()))

        refused = await here.printers.order(ONE, "/pause")
        assert isinstance(refused, PrinterRefusal)
        assert len(refused.sentence) <= 500
        assert refused.sentence.startswith("no  xxx")


@on_a_loop
async def test_an_envelope_in_small_pieces_costs_no_more_than_its_bytes() -> None:
    """With a copy of all that came before for each piece, 16 MiB kept the service busy a minute."""
    answer = OpenAnswer()
    for _ in range(PIECES):
        answer.on_body(bytes(500), fin=True)
    began_s = time.process_time()

    assert len(await answer.whole(PIECES * 500)) == PIECES * 500
    assert time.process_time() - began_s < 1.0


def test_an_agent_that_keeps_silent_is_602(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printer_http, "ASK_TIMEOUT_S", LONG_S)

    @on_a_skipping_loop
    async def ask() -> None:
        async with inside() as here:
            agent = await here.rig.agent(script=ignore)
            asking = asyncio.create_task(here.printers.ask(ONE, "/status"))
            asked = await agent.next()
            skip(LONG_S)

            refused = await asking
            assert isinstance(refused, PrinterRefusal)
            assert refused.code == 602
            await until(lambda: asked.reset is not None)

    ask()


# --- who else may ask -----------------------------------------------------------------------------


def grant_of(rig: Rig, printer: OwnedPrinter = ONE) -> tuple[bytes, bytes]:
    """A name and a header line that the service itself would use now."""
    host = f"{internal_name(INTERNAL_KEY, printer.printer_id)}.{TUNNEL_DOMAIN}".encode()
    return (
        host,
        f"Authorization: Bearer {internal_token(INTERNAL_KEY, printer, rig.clock.now())}".encode(),
    )


@pytest.mark.parametrize("printer", ["one", "nobody's"])
@on_a_loop
async def test_from_outside_a_grant_of_ours_is_603_and_tells_nothing(printer: str) -> None:
    async with inside() as here, calling(here.rig.port) as caller:
        agent = await here.rig.agent(script=says(DONE))
        host, proof = grant_of(here.rig, OwnedPrinter(printer_id(printer), "ada"))
        caller.send(request(host, proof, target=b"/service-command-api/status"))

        answer = await caller.answer()
        assert (answer.status, json.loads(answer.body)["Status"]) == (603, 603)
        assert not agent.asked


@on_a_loop
async def test_a_token_of_ours_opens_no_connection_and_no_key_does_ours() -> None:
    async with inside() as here, calling(here.rig.port) as caller:
        access, agent = here.rig.connect(), await here.rig.agent(script=says(DONE))
        _, proof = grant_of(here.rig)
        key = proof.rpartition(b" ")[2]
        caller.send(request(access.host, proof))
        caller.send(request(access.host, target=b"/?service_api_key=" + key))

        assert [(await caller.answer()).status for _ in range(2)] == [606, 606]
        assert not agent.asked


@on_a_loop
async def test_a_name_that_is_made_up_costs_the_store_no_look_up() -> None:
    async with inside() as here, calling(here.rig.port) as caller:
        here.rig.agents.is_broken = True
        caller.send(request(f"self-{ONE.printer_id}{'a' * 26}.{TUNNEL_DOMAIN}".encode()))

        assert (await caller.answer()).status == 603
        assert here.rig.grants.lookups == []


@on_a_loop
async def test_the_way_leads_to_the_command_api_alone() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=says(DONE))

        refused = await here.printers.ask(ONE, "-of-another-name")
        assert isinstance(refused, PrinterRefusal)
        assert refused.code == 603
        assert not agent.asked


@on_a_loop
async def test_a_removed_printer_ends_what_is_under_way() -> None:
    async with inside() as here:
        await here.rig.agent(script=begin)

        async with here.printers.open(ONE, "/webcam/stream") as answer:
            assert isinstance(answer, PrinterAnswer)
            here.rig.agents.remove(ONE.printer_id)
            await here.rig.notify(Topic.PRINTER, ONE.printer_id)
            with pytest.raises(PrinterAnswerBroken):
                await anext(answer.chunks)


@on_a_loop
async def test_a_former_owners_requests_never_reach_the_next_owners_printer() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=says(DONE))
        assert await here.printers.ask(ONE, "/status") == DONE
        here.rig.agents.link(ONE.printer_id, account_id="bob")
        await here.rig.notify(Topic.PRINTER, ONE.printer_id)

        refused = await here.printers.order(ONE, "/cancel")
        assert isinstance(refused, PrinterRefusal)
        assert refused.code == 604
        assert len(agent.asked) == 1
        assert await here.printers.ask(OwnedPrinter(ONE.printer_id, "bob"), "/status") == DONE


@on_a_loop
async def test_a_stream_ends_where_the_printer_got_another_owner_between_two_looks() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=begin)

        async with here.printers.open(ONE, "/webcam/stream") as answer:
            assert isinstance(answer, PrinterAnswer)
            here.rig.agents.link(ONE.printer_id, account_id="bob")
            await here.rig.notify(Topic.PRINTER, ONE.printer_id)
            await until(lambda: agent.asked[0].reset is not None)


@on_a_loop
async def test_an_upload_ends_where_the_printer_gets_another_owner() -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=ignore)

        async def pieces() -> AsyncIterator[bytes]:
            yield b"x" * 1000
            await until(lambda: bool(agent.asked))
            here.rig.agents.link(ONE.printer_id, account_id="bob")
            await here.rig.notify(Topic.PRINTER, ONE.printer_id)
            await until(lambda: agent.asked[0].reset is not None)
            yield b"y" * 1000

        sent = await here.printers.send(ONE, "/files/upload", {"path": "gcode/a"}, pieces(), None)
        assert isinstance(sent, PrinterRefusal)
        assert not agent.asked[0].is_complete
