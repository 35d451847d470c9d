"""Ports that stand for connections, for users without wildcard DNS."""

import asyncio

import pytest

from printreach.ports import Topic
from printreach.rules.connections import ConnectionKind
from tests.relay.caller import Answer, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Rig, relay
from tests.relay.waiting import until
from tests.rigs.waiting import free_port


async def ask(port: int, *fields: bytes, host: bytes = b"nas.local:18000", **line: bytes) -> Answer:
    async with calling(port) as caller:
        caller.send(request(host, *fields, **line))
        return await caller.answer()


async def listening(rig: Rig) -> int:
    port = free_port()
    await rig.node.listen_for_tunnels("127.0.0.1", range(port, port + 1))
    return port


@on_a_loop
async def test_a_port_leads_to_its_connection_whatever_host_is_asked_for() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access, agent = rig.connect(port=port), await rig.agent()
        rig.connect("app-two", printer="two")
        hosts = [b"nas.local:18000", b"127.0.0.1", OWN, b"app-two.tunnel.example"]

        for host in hosts:
            assert (await ask(port, access.bearer, host=host)).status == 200
        assert [asked.all(b"host") for asked in agent.asked] == [[host] for host in hosts]


@on_a_loop
async def test_a_port_serves_nothing_else() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access, agent = rig.connect(port=port), await rig.agent()
        for target in (b"/healthz", b"/metrics", b"/api/agent/tunnel"):
            assert (await ask(port, target=target)).status == 606
            assert (await ask(port, access.bearer, target=target)).body == b"GET " + target

        assert rig.web.asked == []
        assert len(agent.asked) == 3


@on_a_loop
async def test_browsers_are_told_nothing_of_https_on_a_port_whose_name_others_share() -> None:
    async with relay(scheme="https") as rig:
        port = await listening(rig)
        access, _ = rig.connect(port=port), await rig.agent()
        answer = await ask(port, access.bearer)

        assert answer.status == 200
        assert answer.all(b"strict-transport-security") == []


@on_a_loop
async def test_a_port_that_no_connection_owns_is_603() -> None:
    async with relay() as rig:
        port = await listening(rig)
        rig.connect()

        assert (await ask(port, b"Authorization: Bearer token-of-app-one")).status == 603


@on_a_loop
async def test_a_port_is_looked_up_once_for_many_requests() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect(port=port)
        await rig.agent()
        for _ in range(5):
            assert (await ask(port, access.bearer)).status == 200

        assert rig.grants.lookups == [str(port), access.unique_id]


@on_a_loop
async def test_a_port_changes_hands_with_a_notice() -> None:
    async with relay() as rig:
        port = await listening(rig)
        first = rig.connect("app-one", port=port)
        await rig.agent()
        assert (await ask(port, first.bearer)).status == 200
        second = rig.connect("app-two", port=port)
        await rig.revoke(first)

        assert (await ask(port, first.bearer)).status == 606
        assert (await ask(port, second.bearer)).status == 200


@on_a_loop
async def test_a_notice_in_the_middle_of_a_look_at_a_port_is_not_overlooked() -> None:
    """What the store said may be from before that of which the notice tells."""
    async with relay() as rig:
        port = await listening(rig)
        await rig.agent()
        release = rig.grants.hold_answer()
        early = asyncio.create_task(ask(port, b"Authorization: Bearer token-of-app-one"))
        await until(lambda: rig.grants.lookups)
        access = rig.connect("app-one", port=port)
        await rig.notify(Topic.CONNECTION, access.unique_id)
        release()
        await early

        assert (await ask(port, access.bearer)).status == 200


@on_a_loop
async def test_a_revoked_connection_is_604_at_its_port() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect(port=port)
        await rig.revoke(access)

        assert (await ask(port, access.bearer)).status == 604


@on_a_loop
async def test_at_a_port_no_cookie_counts_since_ports_share_them() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect("own-one", kind=ConnectionKind.OWN, port=port)
        await rig.agent()
        rig.grants.add_cookie(access.unique_id, b"secret")
        cookie = b"Cookie: printreach_own=secret"

        assert (await ask(port, cookie)).status == 606
        assert (await ask(rig.port, cookie, host=access.host)).status == 200


@on_a_loop
async def test_at_a_port_the_single_use_link_opens_nothing() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect("own-one", kind=ConnectionKind.OWN, port=port)
        rig.grants.add_open_ticket(access.unique_id, "ticket", rig.clock.now().replace(year=2027))

        opened = await ask(port, target=b"/service-command-api/open?ticket=ticket")
        assert (opened.status, opened.all(b"set-cookie")) == (606, [])


@on_a_loop
async def test_a_key_in_the_query_opens_at_a_port() -> None:
    async with relay() as rig:
        port = await listening(rig)
        access = rig.connect(port=port)
        await rig.agent()

        assert (await ask(port, target=b"/x?service_api_key=" + access.token)).body == b"GET /x"


@on_a_loop
async def test_a_port_that_nobody_can_have_stops_the_start() -> None:
    async with relay() as rig:
        with pytest.raises(OSError, match="in use"):
            await rig.node.listen_for_tunnels("127.0.0.1", range(rig.port, rig.port + 1))
