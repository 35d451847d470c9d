"""An account whose remote control is locked: what its connections may do, and who did it."""

from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.connections import ConnectionKind
from printreach.rules.connections.internal_grants import internal_name
from printreach.rules.connections.permissions import FULL_ACCESS, Access
from printreach.rules.operators import OperatorAct
from tests.fakes.grants import INTERNAL_KEY
from tests.fakes.loop import on_a_loop
from tests.hub.operators.test_operating import GRACE, acts, operating
from tests.hub.world import ADA, BOB, PRINTER_ID, OpenWorld, World, denied

DESPITE_LOCK = Access(ignores_lock=True)
LOCKED = Access(is_locked=True)


async def set_locked(world: World, *, locked: bool = True) -> None:
    changed = await operating(world).set_locked(ADA, locked=locked, by=GRACE)
    assert isinstance(changed, Account)
    assert changed.is_locked is locked


async def access_of(world: World, unique_id: str) -> Access:
    grant = await world.grants.grant(unique_id)
    assert grant is not None
    return grant.access


@on_a_loop
async def test_a_lock_binds_apps_and_the_dashboard_but_not_what_stops_printers(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        app = made.url.removeprefix("https://").partition(".")[0]
        dashboard = internal_name(INTERNAL_KEY, PRINTER_ID)
        stopping = internal_name(INTERNAL_KEY, PRINTER_ID, ConnectionKind.STOPPING)
        names = (app, dashboard, stopping)
        unlocked = [FULL_ACCESS, FULL_ACCESS, DESPITE_LOCK]
        assert [await access_of(world, name) for name in names] == unlocked

        await set_locked(world)
        assert [await access_of(world, name) for name in names] == [LOCKED, LOCKED, DESPITE_LOCK]

        await set_locked(world, locked=False)
        assert [await access_of(world, name) for name in names] == unlocked


@on_a_loop
async def test_relays_are_told_when_operators_lock_and_unlock(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()
        await set_locked(world)
        await set_locked(world)
        await set_locked(world, locked=False)

        assert await world.notices() == [Notice(Topic.ACCOUNT, account.account_id)] * 2


@on_a_loop
async def test_what_operators_lock_is_written_down(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        await set_locked(world)
        await set_locked(world, locked=False)

        assert [(one.operator, one.act, one.subject) for one in await acts(world)] == [
            (GRACE.name, OperatorAct.ACCOUNT_LOCKED, ADA),
            (GRACE.name, OperatorAct.ACCOUNT_UNLOCKED, ADA),
        ]


@on_a_loop
async def test_an_account_that_is_not_there_is_not_locked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        refused = denied(await operating(world).set_locked(BOB, locked=True, by=GRACE))

        assert refused.reason is Reason.NO_SUCH_ACCOUNT
