"""Ids of requests: who gives them, where they go, and what is logged by them."""

import asyncio
import logging
import re
from ipaddress import ip_network

import pytest

from printreach.backends.printer_http import RelayPrinterHttp
from printreach.contract.signin import REQUEST_IDS
from printreach.http1.request_ids import REQUEST_ID
from printreach.relay.asgi import Receive, Scope, Send
from printreach.relay.request_ids import RequestIds
from printreach.rules.printers import OwnedPrinter
from printreach.wire.heads import Headers, request_id_in
from tests.fakes.grants import INTERNAL_KEY
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, TUNNEL_DOMAIN, Access, Rig, relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, printer_id
from tests.relay.test_other_nodes import two_nodes

FIELD = b"x-service-request-id"
PROXIES = (ip_network("127.0.0.1/32"),)
NAMED_BY_PROXY = b"5e0c8f1c-7f0b-4a3e-9f39-1f3cfb0b2f7e"
NAMES_REQUESTS = (REQUEST_IDS,)


def id_at(agent: ScriptedAgent, number: int = -1) -> bytes:
    """The id of a request as it reached the agent."""
    return request_id_in(agent.asked[number].opened.head)


async def ask(rig: Rig, access: Access, *fields: bytes) -> Headers:
    """Ask the printer; return the header lines of the answer."""
    async with calling(rig.port) as caller:
        caller.send(request(access.host, access.bearer, *fields))
        return (await caller.answer()).headers


@on_a_loop
async def test_each_request_gets_an_id_of_its_own() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent(capabilities=NAMES_REQUESTS)
        for _ in range(2):
            await ask(rig, access)

        ids = [id_at(agent, number) for number in (0, 1)]
        assert all(re.fullmatch(rb"[0-9a-f]{32}", each) for each in ids)
        assert len(set(ids)) == 2


@on_a_loop
async def test_an_agent_that_does_not_know_of_ids_gets_none() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        await ask(rig, access)

        assert FIELD not in agent.asked[0].opened.head.lower()


@pytest.mark.parametrize(
    "name", [b"X-Service-Request-Id", b"X-Request-Id", b"X_Service_Request_Id"]
)
@on_a_loop
async def test_a_strangers_id_counts_for_nothing(name: bytes) -> None:
    async with relay(networks=PROXIES) as rig:
        access, agent = rig.connect(), await rig.agent(capabilities=NAMES_REQUESTS)
        await ask(rig, access, name + b": chosen-by-a-stranger")

        assert id_at(agent) != b"chosen-by-a-stranger"
        assert agent.asked[0].opened.head.lower().count(FIELD + b":") == 1
        passed = agent.asked[0].all(b"x-request-id")
        assert passed == ([b"chosen-by-a-stranger"] if name == b"X-Request-Id" else [])


@pytest.mark.parametrize(
    ("networks", "given", "is_taken"),
    [
        (PROXIES, NAMED_BY_PROXY, True),
        ((), NAMED_BY_PROXY, False),
        ((ip_network("10.0.0.0/8"),), NAMED_BY_PROXY, False),
        (PROXIES, b"short", False),
        (PROXIES, b"x" * 65, False),
        (PROXIES, b"with blank", False),
        (PROXIES, b"with\xe4umlaut", False),
        (PROXIES, b"", False),
    ],
)
@on_a_loop
async def test_an_id_is_taken_from_a_trusted_proxy_where_it_is_harmless(
    networks: tuple[object, ...], given: bytes, is_taken: bool
) -> None:
    async with relay(networks=networks, id_field=b"x-request-id") as rig:  # type: ignore[arg-type]
        access, agent = rig.connect(), await rig.agent(capabilities=NAMES_REQUESTS)
        await ask(rig, access, b"X-Request-Id: " + given)

        assert (id_at(agent) == given) is is_taken
        assert len(id_at(agent)) >= 8


def test_two_processes_give_different_ids() -> None:
    ids = {RequestIds(seed).name("", [], is_inside=False) for seed in (b"one", b"two")}

    assert len(ids) == 2


def test_ids_are_made_without_end() -> None:
    one = RequestIds(b"one")

    assert len({one.name("", [], is_inside=False) for _ in range(1000)}) == 1000


@on_a_loop
async def test_a_refusal_tells_its_id_and_no_printer_can_tell_one() -> None:
    def forge(asked: Asked) -> None:
        asked.answer(headers=[(b"X-Service-Request-Id", b"forged-by-a-printer")])

    async with relay() as rig:
        access = rig.connect()
        await rig.agent(script=forge)
        refused = await ask(rig, Access(access.unique_id, b"wrong"))
        answered = await ask(rig, access)

        [told] = [value for name, value in refused if name.lower() == FIELD]
        assert re.fullmatch(rb"[0-9a-f]{32}", told)
        assert FIELD not in [name.lower() for name, _ in answered]


@on_a_loop
async def test_one_id_is_logged_at_both_nodes_and_reaches_the_agent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "printreach.relay")
    async with two_nodes() as (here, there):
        access, agent = here.connect(), await here.agent(capabilities=NAMES_REQUESTS)
        await ask(there, access)

        logged = {
            record.name: record.getMessage()
            for record in caplog.records
            if getattr(record, "request_id", "") == id_at(agent).decode()
        }
        assert logged["printreach.relay.node_link"].endswith("a request by node b: passed on")
        assert re.search(r"GET: answered 200 after \d+ ms$", logged["printreach.relay.exchange"])


@on_a_loop
async def test_a_failure_is_logged_by_its_id(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "printreach.relay")
    async with relay() as rig:
        headers = await ask(rig, rig.connect())  # no agent is there

        [told] = [value for name, value in headers if name.lower() == FIELD]
        [logged] = [record for record in caplog.records if hasattr(record, "request_id")]
        assert logged.getMessage() == "refused with 601"
        assert logged.request_id == told.decode()


@on_a_loop
async def test_what_the_service_asks_for_a_request_has_the_id_of_that_request() -> None:
    async with relay() as rig:
        agent = await rig.agent(capabilities=NAMES_REQUESTS)
        printers = RelayPrinterHttp(rig.node.connect_inside, TUNNEL_DOMAIN, INTERNAL_KEY, rig.clock)
        before = REQUEST_ID.set("0123456789abcdef")
        await printers.ask(OwnedPrinter(printer_id("one"), "ada"), "/status")
        REQUEST_ID.reset(before)
        await printers.close()

        assert id_at(agent) == b"0123456789abcdef"


@on_a_loop
async def test_the_web_role_knows_the_id_and_tells_it() -> None:
    known = []

    async def web(_scope: Scope, _receive: Receive, send: Send) -> None:
        await asyncio.sleep(0)
        known.append(REQUEST_ID.get().encode())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with relay(web_app=web) as rig, calling(rig.port) as one, calling(rig.port) as other:
        for caller in (one, other):
            caller.send(request(OWN))
        told = [(await caller.answer()).get(FIELD) for caller in (one, other)]

    assert sorted(known) == sorted(filter(None, told))
    assert len(set(known)) == 2
