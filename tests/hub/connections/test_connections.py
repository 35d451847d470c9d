"""Connections, as they are made, limited and ended."""

import base64
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.accounts.limits import DEFAULT_ACCOUNT_LIMITS
from printreach.rules.connections import Connection, ConnectionKind, find_refusal
from printreach.rules.connections.credentials import (
    CredentialKind,
    digest,
    digest_of_authorization,
    digest_of_service_api_key,
)
from printreach.rules.connections.permissions import required_of
from printreach.rules.portal.parameters import Completion
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, KEY, PRINTER_ID, OpenWorld, World, denied

STATUS = required_of(b"GET", b"/service-command-api/status")


def label_of(url: str) -> str:
    return (urlsplit(url).hostname or "").split(".")[0]


async def opens(world: World, made: Completion, presented: bytes | None) -> bool:
    grant = await world.grants.grant(label_of(made.url))
    refused = find_refusal(grant, [presented] if presented else [], STATUS, world.clock.now())
    return refused is None


@on_a_loop
async def test_each_credential_an_app_is_given_opens_its_connection_alone(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        pair = f"{made.secrets.basic_user}:{made.secrets.basic_password}".encode()
        basic = b"Basic " + base64.b64encode(pair)
        bearer = f"Bearer {made.secrets.bearer_token}".encode()

        assert await opens(world, made, digest_of_authorization(basic))
        assert await opens(world, made, digest_of_authorization(bearer))
        assert await opens(world, made, digest_of_service_api_key(base64.b64encode(pair))[1])


@on_a_loop
async def test_the_app_api_token_does_not_open_the_printer(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        token = f"Bearer {made.secrets.app_api_token}".encode()

        assert not await opens(world, made, digest_of_authorization(token))


@on_a_loop
async def test_an_app_is_told_where_its_printer_is(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.agents.agent_connected(
            PRINTER_ID,
            "n1",
            world.clock.now(),
            lan_ip="192.168.1.20",
            agent_version=None,
            platform=None,
        )

        made = await world.connect_app()

        assert made.url.startswith("https://app-")
        assert made.url.endswith(".tunnel.example")
        assert made.printer_name == "Workshop"
        assert made.printer_lan_ip == "192.168.1.20"
        assert made.printer_page_url == f"https://reach.example/printers/{PRINTER_ID}"


@on_a_loop
async def test_an_unknown_app_and_an_unlinked_printer_get_no_connection(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()

        no_app = denied(await world.connections.add_for_app("other", PRINTER_ID))
        no_printer = denied(await world.connections.add_for_app("demo", "p"))

        assert no_app.reason is Reason.NO_SUCH_APP
        assert no_printer.reason is Reason.NO_SUCH_PRINTER


@on_a_loop
async def test_a_printer_has_at_most_twenty_app_connections(open_world: OpenWorld) -> None:
    assert DEFAULT_ACCOUNT_LIMITS.app_connections == 20
    async with open_world() as world:
        await world.set_up()
        await world.let_a_printer_have(3)  # the same in less time
        await world.connections.open_own(PRINTER_ID)
        made = [await world.connect_app() for _ in range(3)]

        refusal = denied(await world.connections.add_for_app("demo", PRINTER_ID))
        assert refusal.reason is Reason.TOO_MANY_CONNECTIONS

        await world.connections.revoke(made[0].connection_id)
        await world.connect_app()


@on_a_loop
async def test_a_revoked_connection_has_ended_and_relays_hear_of_it(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()

        revoked = await world.connections.revoke(made.connection_id)

        assert isinstance(revoked, Connection)
        grant = await world.grants.grant(revoked.unique_id)
        assert grant is not None
        assert grant.ended
        assert (await world.notices())[-1] == Notice(Topic.CONNECTION, revoked.unique_id)


@on_a_loop
async def test_revoking_again_changes_nothing(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        await world.connections.revoke(made.connection_id)
        [before] = await world.connections.all()
        world.clock.advance(timedelta(days=1))

        await world.connections.revoke(made.connection_id)

        assert await world.connections.all() == [before]


@on_a_loop
async def test_an_unknown_connection_cannot_be_revoked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        assert denied(await world.connections.revoke("c")).reason is Reason.NO_SUCH_CONNECTION


@on_a_loop
async def test_where_ports_are_configured_each_connection_is_told_by_its_own(
    open_world: OpenWorld,
) -> None:
    async with open_world(ports=range(18000, 18002)) as world:
        await world.set_up()

        urls = [(await world.connect_app()).url for _ in range(2)]

        assert urls == ["https://reach.example:18000", "https://reach.example:18001"]
        assert await world.grants.unique_id_at_port(18001) is not None


@on_a_loop
async def test_when_the_ports_are_used_up_the_operator_is_told(open_world: OpenWorld) -> None:
    async with open_world(ports=range(18000, 18001)) as world:
        await world.set_up()
        await world.connect_app()

        refusal = denied(await world.connections.add_for_app("demo", PRINTER_ID))

        assert refusal.reason is Reason.NO_PORT_LEFT


@on_a_loop
async def test_the_port_of_an_ended_connection_goes_to_the_next(open_world: OpenWorld) -> None:
    async with open_world(ports=range(18000, 18001)) as world:
        await world.set_up()
        ended = await world.connect_app()
        await world.connections.revoke(ended.connection_id)
        first = await world.grants.unique_id_at_port(18000)

        made = await world.connect_app()

        assert made.url == "https://reach.example:18000"
        second = await world.grants.unique_id_at_port(18000)
        assert second not in (first, None)
        assert Notice(Topic.CONNECTION, first or "") in await world.notices()


@on_a_loop
async def test_the_link_that_opens_a_printer_signs_in_on_its_own_host(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()

        link = await world.connections.open_own(PRINTER_ID)

        assert isinstance(link, str)
        parts = urlsplit(link)
        assert (parts.scheme, parts.path) == ("https", "/service-command-api/open")
        assert label_of(link).startswith("own-")
        assert (parts.hostname or "").endswith(".tunnel.example")
        cookie = await world.grants.redeem_open_ticket(
            label_of(link), parse_qs(parts.query)["ticket"][0], world.clock.now()
        )
        assert cookie is not None
        grant = await world.grants.grant(label_of(link))
        presented = [digest(CredentialKind.COOKIE, cookie.encode())]
        assert find_refusal(grant, presented, STATUS, world.clock.now()) is None


@on_a_loop
async def test_where_ports_are_configured_an_owner_opens_the_printer_at_one_and_keeps_it(
    open_world: OpenWorld,
) -> None:
    async with open_world(ports=range(18000, 18002)) as world:
        await world.set_up()

        links = [str(await world.connections.open_own(PRINTER_ID)) for _ in range(2)]

        assert {urlsplit(link).netloc for link in links} == {"reach.example:18000"}
        unique_id = await world.grants.unique_id_at_port(18000)
        assert (unique_id or "").startswith("own-")
        assert Notice(Topic.CONNECTION, unique_id or "") in await world.notices()


@on_a_loop
async def test_an_owner_whose_connection_has_no_port_yet_gets_one_once_there_are_ports(
    open_world: OpenWorld,
) -> None:
    async with open_world(ports=range(18000, 18001)) as world:
        await world.set_up()
        without_ports = replace(world.connections, ports=range(0))
        before = await without_ports.open_own(PRINTER_ID)

        after = await world.connections.open_own(PRINTER_ID)
        back = await without_ports.open_own(PRINTER_ID)

        assert urlsplit(str(after)).netloc == "reach.example:18000"
        assert label_of(str(back)) == label_of(str(before))
        assert len(await world.connections.all()) == 1


@on_a_loop
async def test_where_no_port_is_left_an_owner_is_told(open_world: OpenWorld) -> None:
    async with open_world(ports=range(18000, 18001)) as world:
        await world.set_up()
        await world.connect_app()

        refusal = denied(await world.connections.open_own(PRINTER_ID))

        assert refusal.reason is Reason.NO_PORT_LEFT


@on_a_loop
async def test_the_port_of_a_removed_printer_is_free_for_the_next(open_world: OpenWorld) -> None:
    async with open_world(ports=range(18000, 18001)) as world:
        await world.set_up()
        await world.connections.open_own(PRINTER_ID)
        first = await world.grants.unique_id_at_port(18000)
        await world.printers.remove(PRINTER_ID)
        await world.link_printer()

        link = await world.connections.open_own(PRINTER_ID)

        assert urlsplit(str(link)).netloc == "reach.example:18000"
        assert await world.grants.unique_id_at_port(18000) != first


@on_a_loop
async def test_an_owner_keeps_the_host_of_a_printer(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()

        links = [await world.connections.open_own(PRINTER_ID) for _ in range(2)]

        assert links[0] != links[1]
        assert len({label_of(str(link)) for link in links}) == 1


@on_a_loop
async def test_the_next_owner_of_a_printer_gets_another_host(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        first = await world.connections.open_own(PRINTER_ID)
        await world.printers.remove(PRINTER_ID)
        await world.add_account(BOB)
        await world.link_printer(BOB)

        second = await world.connections.open_own(PRINTER_ID)

        assert label_of(str(first)) != label_of(str(second))


@on_a_loop
async def test_a_printer_that_nobody_linked_cannot_be_opened(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account(ADA)
        await world.link_code(KEY)

        assert denied(await world.connections.open_own(PRINTER_ID)).reason is (
            Reason.NO_SUCH_PRINTER
        )


@pytest.mark.sqlite
@on_a_loop
async def test_secrets_are_stored_as_digests_alone(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        link = await world.connections.open_own(PRINTER_ID)
        assert isinstance(link, str)
        stored = world.everything_on_disk()

    ticket = parse_qs(urlsplit(link).query)["ticket"][0]
    secrets = (
        made.secrets.basic_password,
        made.secrets.bearer_token,
        made.secrets.app_api_token,
        ticket,
    )
    assert [secret for secret in secrets if secret.encode() in stored] == []
    assert made.connection_id.encode() in stored


@on_a_loop
async def test_app_connections_are_not_own_ones(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.connect_app()
        await world.connections.open_own(PRINTER_ID)

        kinds = [connection.kind for connection in await world.connections.all()]

        assert kinds.count(ConnectionKind.OWN) == 1
        assert kinds.count(ConnectionKind.APP) == 1
