"""A person's connections: listed, shared, ended; and nobody else's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from printreach.contract.permissions import Permission
from printreach.hub.connections import Shared
from printreach.hub.connections.own import MAX_SHARED, OwnConnections
from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.connections import ConnectionKind, find_refusal
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.connections.permissions import FULL_ACCESS, Access, required_of
from tests.fakes.loop import on_a_loop
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World, denied

STATUS = required_of(b"GET", b"/service-command-api/status")


@dataclass
class Home:
    world: World
    own: OwnConnections
    ada: str
    bob: str

    async def share(self, hours: str = "24") -> Shared:
        made = await self.own.share(self.ada, PRINTER_ID, hours)
        assert isinstance(made, Shared)
        return made


@asynccontextmanager
async def home(open_world: OpenWorld) -> AsyncIterator[Home]:
    async with open_world() as world:
        printer = await world.set_up()
        bob = await world.add_account(BOB)
        own = OwnConnections(core=world.core, connections=world.connections)
        yield Home(world, own, printer.account_id, bob.account_id)


@on_a_loop
async def test_a_shared_connection_opens_with_what_was_told_until_it_expires(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        shared = await here.share("24")
        grant = await here.world.grants.grant(shared.connection.unique_id)
        proof = [digest(CredentialKind.BEARER, shared.secrets.bearer_token.encode())]
        now = here.world.clock.now()

        assert shared.url == f"https://{shared.connection.unique_id}.tunnel.example"
        assert find_refusal(grant, proof, STATUS, now + timedelta(hours=23)) is None
        assert find_refusal(grant, proof, STATUS, now + timedelta(hours=24)) is not None
        assert shared.secrets.bearer_token.encode() not in here.world.everything_on_disk()


@on_a_loop
async def test_connections_are_listed_by_kind_with_their_names(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.world.connect_app()
        await here.share("")

        apps = await here.own.all(here.ada, ConnectionKind.APP)
        shared = await here.own.all(here.ada, ConnectionKind.SHARED)
        assert [(one.title, one.printer_name) for one in apps] == [("Demo", "Workshop")]
        assert [(one.ended_at, one.printer_name) for one in shared] == [(None, "Workshop")]
        assert await here.own.all(here.bob, ConnectionKind.APP) == []


@on_a_loop
async def test_an_ended_connection_is_gone_and_the_relay_is_told(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        shared = await here.share()
        await here.own.end(here.ada, shared.connection.connection_id)

        assert await here.own.all(here.ada, ConnectionKind.SHARED) == []
        assert Notice(Topic.CONNECTION, shared.connection.unique_id) in await here.world.notices()


@on_a_loop
async def test_another_accounts_connection_is_as_if_there_were_none(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        made = await here.world.connect_app()
        for connection_id in (made.connection_id, "unknown"):
            refused = denied(await here.own.end(here.bob, connection_id))
            assert refused.reason is Reason.NO_SUCH_CONNECTION
            assert refused == denied(await here.own.one(here.bob, connection_id))
        refused = denied(await here.own.share(here.bob, PRINTER_ID, "1"))
        assert refused.reason is Reason.NO_SUCH_PRINTER

        assert len(await here.own.all(here.ada, ConnectionKind.APP)) == 1


@on_a_loop
async def test_a_printer_is_not_shared_without_end(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        for _ in range(MAX_SHARED):
            await here.share()

        refused = denied(await here.own.share(here.ada, PRINTER_ID, "24"))
        assert refused.reason is Reason.TOO_MANY_CONNECTIONS


@on_a_loop
async def test_what_a_connection_may_do_is_changed_by_its_owner_alone(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        shared = await here.share("")
        connection = shared.connection
        only_camera = frozenset({Permission.CAMERA})

        refused = denied(await here.own.permit(here.bob, connection.connection_id, only_camera))
        before = await here.world.grants.grant(connection.unique_id)
        await here.own.permit(here.ada, connection.connection_id, only_camera)
        after = await here.world.grants.grant(connection.unique_id)

        assert refused.reason is Reason.NO_SUCH_CONNECTION
        assert before is not None
        assert after is not None
        assert before.access == FULL_ACCESS
        assert after.access == Access(permissions=only_camera)
        assert Notice(Topic.CONNECTION, connection.unique_id) in await here.world.notices()


@on_a_loop
async def test_a_connection_that_has_ended_gets_no_permissions(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        shared = await here.share("")
        await here.own.end(here.ada, shared.connection.connection_id)

        refused = denied(
            await here.own.permit(here.ada, shared.connection.connection_id, frozenset())
        )

        assert refused.reason is Reason.NO_SUCH_CONNECTION
