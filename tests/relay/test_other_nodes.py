"""Several nodes: a request at any of them reaches the printer, by one hop at most."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from printreach.backends.node_tls import node_tls
from printreach.backends.printer_http import RelayPrinterHttp
from printreach.contract import signin
from printreach.contract.commands import PERMISSIONS_FIELD
from printreach.contract.node_words import Holds, encode
from printreach.contract.permissions import Permission
from printreach.ports import Notice, Topic
from printreach.relay import presence
from printreach.relay.node_link import NODE_PATH
from printreach.relay.other_nodes import MAX_UNPROVEN
from printreach.rules.connections.permissions import Access as Granted
from printreach.rules.nodes import NodeKey
from printreach.rules.printers import OwnedPrinter
from printreach.wire.errors import CloseCode, Reason
from tests.fakes.grants import INTERNAL_KEY
from tests.relay.caller import Answer, BrokenOff, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import TUNNEL_DOMAIN, Access, Rig, relay
from tests.relay.scripted_agent import (
    ScriptedAgent,
    answer_with_size_of_body,
    echo,
    ignore,
    send_for_ever,
)
from tests.relay.waiting import settle, until

KEY = NodeKey(b"n" * 32)
HANDSHAKE = (
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    b"Sec-WebSocket-Version: 13",
)


@asynccontextmanager
async def two_nodes(
    *, other_key: NodeKey = KEY, settle_s: float = 0.0
) -> AsyncIterator[tuple[Rig, Rig]]:
    """Two relay nodes of one service."""
    async with (
        relay(node_id="a", node_key=KEY) as one,
        relay(node_id="b", node_key=other_key, beside=one, settle_s=settle_s) as other,
    ):
        yield one, other


async def ask(rig: Rig, access: Access, target: bytes = b"/api/version") -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, access.bearer, target=target))
        return await caller.answer()


@on_a_loop
async def test_a_request_at_the_wrong_node_reaches_the_printer() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        await here.agent(platform="octoprint")

        answer = await ask(there, access)

        assert (answer.status, answer.body) == (200, b"GET /api/version")
        assert there.figure("printers_online") == 0


@on_a_loop
async def test_all_requests_share_one_link() -> None:
    async with two_nodes() as (here, there):
        accesses = [here.connect(f"app-{name}", printer=name) for name in ("one", "two")]
        for name in ("one", "two"):
            await here.agent(name)

        answers = await asyncio.gather(*(ask(there, access) for access in accesses * 10))

        assert {answer.status for answer in answers} == {200}
        assert (here.figure("node_links"), there.figure("node_links")) == (1, 1)


@on_a_loop
async def test_an_upload_and_a_download_are_whole() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        agent = await here.agent(script=answer_with_size_of_body)
        body = b"x" * 3_000_000
        async with calling(there.port) as caller:
            length = b"Content-Length: %d" % len(body)
            caller.send(request(access.host, access.bearer, length, method=b"POST") + body)
            assert (await caller.answer()).body == b"3000000"

        agent.script = lambda asked: asked.answer_with_length(body)
        assert (await ask(there, access)).body == body


@on_a_loop
async def test_a_caller_that_does_not_read_slows_its_printer_through_both_nodes() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        agent = await here.agent(script=send_for_ever)
        caller = await Caller.connect(there.port, receive_buffer=4096)
        caller.send(request(access.host, access.bearer))
        await until(lambda: agent.asked and agent.link.sent_bytes > 100_000)
        for _ in range(50):
            await settle()

        assert agent.link.sent_bytes < 4_000_000
        caller.leave()
        await until(lambda: agent.asked[0].reset is Reason.CANCELLED)


@on_a_loop
async def test_bytes_pass_both_ways_after_a_handshake() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        agent = await here.agent(
            script=lambda asked: asked.answer(101, [(b"Upgrade", b"websocket")], fin=False)
        )
        async with calling(there.port) as caller:
            caller.send(request(access.host, access.bearer, *HANDSHAKE))
            assert (await caller.head()).status == 101
            caller.send(b"to the printer")
            asked = await agent.next()
            await until(lambda: asked.body == b"to the printer")
            asked.stream.send(b"from the printer")
            assert await caller.read(16) == b"from the printer"


@on_a_loop
async def test_a_revoked_connection_ends_at_every_node() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        agent = await here.agent(script=lambda asked: asked.answer(body=b"first", fin=False))
        async with calling(there.port) as caller:
            caller.send(request(access.host, access.bearer))
            await caller.head()
            await here.revoke(access)

            with pytest.raises(BrokenOff):
                await caller.chunks()
        await until(lambda: agent.asked[0].reset is Reason.CANCELLED)
        assert (await ask(there, access)).status == 604


@on_a_loop
async def test_permissions_travel_with_the_request() -> None:
    async with two_nodes() as (here, there):
        access = here.connect(may=Granted(permissions=frozenset({Permission.CAMERA})))
        agent = await here.agent()

        await ask(there, access, target=b"/service-command-api/status")

        assert agent.asked[0].all(PERMISSIONS_FIELD.lower()) == [b"camera"]


@on_a_loop
async def test_a_printer_without_a_tunnel_is_refused_at_every_node_and_asked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 0.05)
    async with two_nodes() as (here, there):
        access, said = here.connect(), []
        here.bus.subscribe(lambda notice: said.append(notice.topic), *Topic)

        assert [(await ask(there, access)).status for _ in range(3)] == [601, 601, 601]
        assert said == [Topic.NODES]


@on_a_loop
async def test_an_agent_that_connects_is_found_although_it_was_absent_a_moment_ago(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 0.05)
    async with two_nodes() as (here, there):
        access = here.connect()
        assert (await ask(there, access)).status == 601
        await here.agent()

        assert (await ask(there, access)).status == 200


@on_a_loop
async def test_a_node_that_has_heard_nothing_asks() -> None:
    async with relay(node_id="a", node_key=KEY) as here:
        access = here.connect()
        await here.agent()
        async with relay(node_id="b", node_key=KEY, beside=here) as there:
            assert (await ask(there, access)).status == 200


@on_a_loop
async def test_the_newest_tunnel_wins_and_the_older_is_closed() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        older = await here.agent()
        newer = await there.agent(script=lambda asked: asked.answer_with_length(b"newer"))
        await until(lambda: older.closed is not None)

        assert older.closed is not None
        assert older.closed[0] == CloseCode.REPLACED
        assert (await ask(here, access)).body == b"newer"
        assert (await ask(there, access)).body == b"newer"
        assert newer.closed is None


@on_a_loop
async def test_a_request_goes_one_hop_and_no_further() -> None:
    async with (
        relay(node_id="a", node_key=KEY) as one,
        relay(node_id="b", node_key=KEY, beside=one) as middle,
        relay(node_id="c", node_key=KEY, beside=one) as last,
    ):
        access = one.connect()
        agent = await last.agent()
        await ask(middle, access)  # so that it has a link to the last one
        wrong = Holds(
            node="b",
            address=f"ws://127.0.0.1:{middle.node_port}",
            printer_id=agent.printer_id,
            epoch=1 << 50,
            platform="moonraker",
            agent_unix_s=0.0,
            capabilities=[],
        )
        # Only the first node believes it: the others know better, or would close the tunnel.
        one.node._other_nodes._presence._on_notice(  # type: ignore[union-attr]
            Notice(Topic.NODES, encode(wrong).decode())
        )

        assert (await ask(one, access)).status == 601
        assert len(agent.asked) == 1
        assert (await ask(one, access)).status == 200


@on_a_loop
async def test_a_node_that_goes_ends_its_requests_at_once() -> None:
    async with relay(node_id="b", node_key=KEY) as there:
        access = there.connect()
        async with relay(node_id="a", node_key=KEY, beside=there) as here:
            await here.agent(script=ignore)
            caller = await Caller.connect(there.port)
            caller.send(request(access.host, access.bearer))
            await until(lambda: there.figure("requests_at_printers") == 1)
        assert (await caller.answer()).status == 601
        caller.leave()


@on_a_loop
async def test_who_lacks_the_key_of_the_service_is_no_node(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 0.05)
    async with two_nodes(other_key=NodeKey(b"x" * 32)) as (here, there):
        access = here.connect()
        agent = await here.agent()

        assert (await ask(there, access)).status == 601
        assert agent.asked == []
        assert "not the node that was dialled" in caplog.text


@on_a_loop
async def test_a_role_without_a_relay_reaches_printers_by_the_nodes_that_hold_them() -> None:
    async with relay(node_id="a", node_key=KEY) as here:
        agent = await here.agent(
            script=lambda asked: asked.answer_with_length(b'{"Status":200,"Result":{}}')
        )
        async with relay(node_id="web", node_key=KEY, beside=here, listens=False) as web:
            http = RelayPrinterHttp(
                web.node.connect_inside, TUNNEL_DOMAIN, INTERNAL_KEY, here.clock
            )
            printer = OwnedPrinter(agent.printer_id, "ada")
            assert await http.ask(printer, "/status") == b'{"Status":200,"Result":{}}'
            await http.close()


@on_a_loop
async def test_a_key_of_the_printers_own_software_is_made_through_another_node() -> None:
    async with two_nodes() as (here, there):
        agent = ScriptedAgent("one", echo, capabilities=(signin.HOST_API_KEYS,))
        here.agents.link(agent.printer_id)
        await agent.sign_in(here.port)
        here.running.append(agent)
        await until(lambda: agent.printer_id in here.agents.presence)

        making = asyncio.create_task(there.node.make_host_key(agent.printer_id, "An app"))
        wanted = await agent.hear(signin.MakeHostApiKey)
        agent.say(signin.HostApiKey(request_id=wanted.request_id, api_key="key-1", error=None))

        assert await making == "key-1"


@on_a_loop
async def test_nodes_know_each_other_by_tls_of_the_same_secret() -> None:
    async with (
        relay(node_id="a", node_key=KEY, tls=node_tls(b"t" * 32)) as here,
        relay(node_id="b", node_key=KEY, tls=node_tls(b"t" * 32), beside=here) as there,
    ):
        access = here.connect()
        await here.agent()

        assert (await ask(there, access)).status == 200


@on_a_loop
async def test_a_node_with_another_certificate_is_not_dialled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 0.05)
    async with (
        relay(node_id="a", node_key=KEY, tls=node_tls(b"t" * 32)) as here,
        relay(node_id="b", node_key=KEY, tls=node_tls(b"x" * 32), beside=here) as there,
    ):
        access = here.connect()
        await here.agent()

        assert (await ask(there, access)).status == 601


@on_a_loop
async def test_nodes_that_are_linked_find_tunnels_without_the_bus() -> None:
    async with relay(node_id="a", node_key=KEY) as here:
        known, unknown = here.connect(), here.connect("app-two", printer="two")
        await here.agent()
        async with relay(node_id="b", node_key=KEY, beside=here) as there:
            assert (await ask(there, known)).status == 200
            here.bus.is_away = True
            await here.agent("two")

            assert (await ask(there, unknown)).status == 200
            here.bus.is_away = False


async def silent_link(rig: Rig, address: str) -> asyncio.StreamReader:
    """A link to the node from that address, whose end never says that it is a node."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", rig.node_port, local_addr=(address, 0)
    )
    head = [b"GET %s HTTP/1.1" % NODE_PATH.encode(), b"Host: node", *HANDSHAKE, b"", b""]
    writer.write(b"\r\n".join(head))
    assert b"101" in await reader.readuntil(b"\r\n\r\n")
    reader.writer = writer  # type: ignore[attr-defined] # which closes once it is dropped
    return reader


async def has_ended(reader: asyncio.StreamReader) -> bool:
    try:
        async with asyncio.timeout(0.2):
            while await reader.read(4096):
                pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


@on_a_loop
async def test_outsiders_at_the_port_for_nodes_keep_no_node_away() -> None:
    async with two_nodes() as (here, there):
        access = here.connect()
        await here.agent(platform="octoprint")
        outsiders = [await silent_link(here, "127.0.0.2") for _ in range(MAX_UNPROVEN)]
        other = await silent_link(here, "127.0.0.3")
        outsiders += [await silent_link(here, "127.0.0.2") for _ in range(5)]

        assert (await ask(there, access)).status == 200
        ended = await asyncio.gather(*map(has_ended, [other, *outsiders]))
        assert not ended[0]
        assert sum(ended) == 7
