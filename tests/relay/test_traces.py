"""Traces of requests, as a collector gets them from one node or two."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest

from printreach.backends.printer_http import RelayPrinterHttp
from printreach.backends.traces import sending_traces
from printreach.contract.signin import REQUEST_IDS
from printreach.http1.request_ids import SPAN
from printreach.relay import node_link
from printreach.relay.asgi import Receive, Scope, Send
from printreach.relay.request_ids import RequestIds
from printreach.rules.nodes import NodeKey
from printreach.rules.printers import OwnedPrinter
from printreach.wire.errors import Reason
from printreach.wire.heads import request_id_in
from tests.fakes.grants import INTERNAL_KEY
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, TUNNEL_DOMAIN, Access, Rig, relay
from tests.relay.scripted_agent import Asked, ignore, printer_id
from tests.relay.waiting import until
from tests.rigs.trace_collector import CLIENT, INTERNAL, SERVER, Collector, collector

__all__ = ["collector"]

KEY = NodeKey(b"n" * 32)
NAMES_REQUESTS = (REQUEST_IDS,)
PROXIES = (ip_network("127.0.0.1/32"),)
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GIVEN = f"00-{TRACE}-{PARENT}-01".encode()
FIELD = b"x-service-trace-parent"


@asynccontextmanager
async def two_nodes() -> AsyncIterator[tuple[Rig, Rig]]:
    """Two nodes of one service, each of which sends traces."""
    async with (
        sending_traces("a") as of_a,
        sending_traces("b") as of_b,
        relay(node_id="a", node_key=KEY, tracing=of_a) as one,
        relay(node_id="b", node_key=KEY, beside=one, tracing=of_b) as other,
    ):
        yield one, other


async def ask(
    rig: Rig, access: Access, *fields: bytes, target: bytes = b"/secret?token=x"
) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, access.bearer, *fields, target=target))
        return await caller.answer()


@on_a_loop
async def test_a_request_across_two_nodes_is_one_trace(collector: Collector) -> None:
    async with two_nodes() as (here, there):
        access, agent = here.connect(), await here.agent(capabilities=NAMES_REQUESTS)
        await ask(there, access)
        head = agent.asked[0].opened.head

    came, called, passed_on = (
        collector.one(SERVER, "b"),
        collector.one(CLIENT, "b"),
        collector.one(SERVER, "a"),
    )
    assert {span.trace for span in collector.spans} == {request_id_in(head).decode()}
    assert (came.parent, called.parent, passed_on.parent) == ("", came.own, called.own)
    assert len(collector.spans) == 3
    assert [span.facts["http.response.status_code"] for span in collector.spans] == [200] * 3
    assert not any(span.is_error for span in collector.spans)
    assert called.facts["printreach.printer.id"] == printer_id("one")
    assert (called.facts["printreach.printer.is_here"], came.service) == (False, "printreach")
    assert b"race" not in head.lower()  # neither the printer nor its agent is told


@on_a_loop
async def test_no_path_of_a_printers_own_and_no_host_is_in_a_trace(collector: Collector) -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        await here.agent()
        await ask(there, access)

    said = repr([(span.name, span.facts) for span in collector.spans])
    assert not re.search(r"secret|token|app-one|127\.0\.0\.1", said)


@on_a_loop
async def test_a_node_that_does_not_know_of_traces_gets_none(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_link, "TRACE_PARENTS", "of-another-version")
    async with two_nodes() as (here, there):
        access, agent = here.connect(), await here.agent(capabilities=NAMES_REQUESTS)
        answer = await ask(there, access)
        head = agent.asked[0].opened.head

    assert answer.status == 200
    assert b"race" not in head.lower()
    # The id of the request still puts it in the same trace.
    assert collector.one(SERVER, "a").trace == request_id_in(head).decode()
    assert collector.one(SERVER, "a").parent == ""


@on_a_loop
async def test_a_command_of_a_page_is_part_of_the_pages_trace(collector: Collector) -> None:
    printers: list[RelayPrinterHttp] = []

    async def web(scope: Scope, _receive: Receive, send: Send) -> None:
        scope["path_template"] = "/printers/{name}"
        await printers[0].ask(OwnedPrinter(printer_id("one"), "ada"), "/status")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with sending_traces("a") as tracing, relay(web_app=web, tracing=tracing) as rig:
        agent = await rig.agent(capabilities=NAMES_REQUESTS)
        printers.append(
            RelayPrinterHttp(rig.node.connect_inside, TUNNEL_DOMAIN, INTERNAL_KEY, rig.clock)
        )
        async with calling(rig.port) as caller:
            caller.send(request(OWN, target=b"/printers/voron"))
            await caller.answer()
        await printers[0].close()
        asked = agent.asked[0]

    page, command, call = (collector.one(kind) for kind in (SERVER, INTERNAL, CLIENT))
    assert page.name == "GET /printers/{name}"
    assert page.facts["http.route"] == "/printers/{name}"
    assert command.name == "GET /service-command-api/status"
    assert (page.parent, command.parent, call.parent) == ("", page.own, command.own)
    assert len({page.trace, command.trace, call.trace}) == 1
    assert call.facts["printreach.printer.is_here"] is True
    assert not asked.all(FIELD)


@pytest.mark.parametrize(
    ("field", "networks", "counts"),
    [
        (b"traceparent", PROXIES, True),
        (b"traceparent", (), False),
        (b"traceparent", (ip_network("10.0.0.0/8"),), False),
        (b"x-request-id", PROXIES, False),
        (b"", PROXIES, False),
    ],
)
@on_a_loop
async def test_the_trace_of_a_caller_counts_where_a_trusted_proxy_names_requests_by_it(
    collector: Collector, field: bytes, networks: tuple[object, ...], counts: bool
) -> None:
    async with (
        sending_traces("a") as tracing,
        relay(networks=networks, id_field=field, tracing=tracing) as rig,  # type: ignore[arg-type]
    ):
        access, agent = rig.connect(), await rig.agent(capabilities=NAMES_REQUESTS)
        stranger = b"X-Service-Trace-Parent: " + GIVEN.replace(b"b7", b"c8")
        await ask(rig, access, b"Traceparent: " + GIVEN, stranger)
        asked = agent.asked[0]

    came = collector.one(SERVER)
    assert came.trace == came.facts["printreach.request.id"]
    assert request_id_in(asked.opened.head).decode() == came.trace
    assert (came.trace == TRACE, came.parent == PARENT) == (counts, counts)
    assert counts or came.parent == ""
    assert not asked.all(FIELD)


@pytest.mark.parametrize(
    "given", [b"", b"nonsense", b"ff-" + GIVEN[3:], GIVEN + b"x", GIVEN.upper(), b"\xe4" * 55]
)
def test_a_trace_parent_in_another_form_is_none(given: bytes) -> None:
    ids, headers = RequestIds(b"seed", PROXIES, b"traceparent"), [(b"traceparent", given)]

    assert ids.trace_parent("127.0.0.1", headers, is_inside=False) == b""
    assert re.fullmatch(rb"[0-9a-f]{32}", ids.name("127.0.0.1", headers, is_inside=False))


@pytest.mark.parametrize(
    ("named", "trace"),
    [
        (b"5e0c8f1c-7f0b-4a3e-9f39-1f3cfb0b2f7e", "5e0c8f1c7f0b4a3e9f391f3cfb0b2f7e"),
        (b"0AF7651916CD43DD8448EB211C80319C", TRACE),
        (b"shop:order-17", None),
        (b"0" * 32, None),
    ],
)
@on_a_loop
async def test_an_id_that_a_proxy_gives_is_that_of_the_trace_where_it_can_be(
    collector: Collector, named: bytes, trace: str | None
) -> None:
    async with (
        sending_traces("a") as tracing,
        relay(networks=PROXIES, id_field=b"x-request-id", tracing=tracing) as rig,
    ):
        await ask(rig, rig.connect(), b"X-Request-Id: " + named)

    came = collector.one(SERVER)
    assert came.facts["printreach.request.id"] == named.decode()
    assert trace in (came.trace, None)
    assert re.fullmatch(r"(?!0{32})[0-9a-f]{32}", came.trace)


@on_a_loop
async def test_a_refusal_is_an_error_with_its_code(collector: Collector) -> None:
    async with sending_traces("a") as tracing, relay(tracing=tracing) as rig:
        await ask(rig, rig.connect())  # no agent is there

    came = collector.one(SERVER)
    assert (came.facts["http.response.status_code"], came.facts["error.type"]) == (601, "601")
    assert came.is_error


@on_a_loop
async def test_a_caller_that_leaves_before_the_answer_ends_the_trace(collector: Collector) -> None:
    async with two_nodes() as (here, there):
        access, agent = here.connect(), await here.agent(script=ignore)
        async with calling(there.port) as caller:
            caller.send(request(access.host, access.bearer))
            await until(lambda: bool(agent.asked))
        await until(lambda: there.figure("requests_at_printers") == 0)
        await until(lambda: agent.asked[0].stream.is_open is False)

    assert collector.one(SERVER, "b").facts["error.type"] == "caller_gone"
    assert collector.one(SERVER, "a").facts["error.type"] == "caller_gone"
    assert not collector.one(CLIENT, "b").is_error


@on_a_loop
async def test_an_answer_that_the_printer_breaks_off_is_an_error(collector: Collector) -> None:
    def break_off(asked: Asked) -> None:
        asked.stream.respond(b"200 OK\r\n", b"a part", fin=False)
        asked.stream.reset(Reason.BROKEN)

    async with two_nodes() as (here, there):
        access = here.connect()
        await here.agent(script=break_off)
        async with calling(there.port) as caller:
            caller.send(request(access.host, access.bearer))
            await caller.is_closed()

    for kind, node, error in ((SERVER, "b", "broken_off"), (CLIENT, "b", "broken")):
        assert collector.one(kind, node).facts["error.type"] == error
    assert collector.one(SERVER, "a").facts["error.type"] == "broken"


@on_a_loop
async def test_checks_of_health_and_agents_tunnels_are_in_no_trace(collector: Collector) -> None:
    async with sending_traces("a") as tracing, relay(tracing=tracing) as rig:
        await rig.agent()
        async with calling(rig.port) as caller:
            caller.send(request(OWN, target=b"/healthz"))
            await caller.answer()

    assert collector.spans == []


@on_a_loop
async def test_without_traces_no_span_is_known_anywhere() -> None:
    known = []

    async def web(_scope: Scope, _receive: Receive, send: Send) -> None:
        known.append(SPAN.get())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with relay(web_app=web) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        await caller.answer()

    assert known == [None]


@pytest.mark.slow
@on_a_loop
async def test_a_collector_that_is_gone_holds_up_neither_requests_nor_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("printreach.backends.traces.LAST_SPANS_S", 0.2)
    async with asyncio.timeout(20):
        async with sending_traces("a") as tracing, relay(tracing=tracing) as rig:
            access = rig.connect()
            await rig.agent()
            answer = await ask(rig, access)

    assert answer.status == 200


@on_a_loop
async def test_the_operators_name_of_the_service_counts(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "farm")
    async with sending_traces("a") as tracing, relay(tracing=tracing) as rig:
        await ask(rig, rig.connect())

    assert collector.one(SERVER).service == "farm"
