"""What operators see and do, and the record that is kept of it."""

from dataclasses import replace

import pytest

from printreach.hub import operators as build
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.apps import InvalidDraft
from printreach.hub.denied import Denied, Reason
from printreach.hub.operators import OperatedAccount, Operating
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.accounts.limits import LimitChanges
from printreach.rules.apps import App
from printreach.rules.apps.registration import AppDraft
from printreach.rules.operators import ACTS_KEPT, ActDone, Operator, OperatorAct
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import AccountFilter, ConnectionRow, PrinterRow, Search
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, PRINTER_ID, OpenWorld, World, denied

GRACE = Operator(name="grace@example.org", account_id="grace")
DRAFT = AppDraft(app_id="lark", name="Lark", return_prefixes=("https://lark.example/",))


def operating(world: World) -> Operating:
    """The operators' use cases of a service that sells supporter status."""
    core = replace(world.core, supporters=SupporterPolicy.GRANTED)
    return build.operating(core, None, range(0))


async def acts(world: World) -> list[ActDone]:
    """What was written down, the latest last."""
    found = await operating(world).acts(Search())
    return list(reversed(found.rows))


@on_a_loop
async def test_each_act_is_written_down_with_who_and_what_and_when(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.accounts.add(ADA, "a long enough passphrase", by=GRACE)
        await world.accounts.set_supporter(ADA, granted=True, by=GRACE)
        await hub.invitations.invite(BOB, is_admin=True, by=GRACE)
        await hub.apps.register(DRAFT, GRACE)
        printer = await world.link_printer()
        made = await world.connections.add_for_app("lark", PRINTER_ID, by=GRACE)
        assert not isinstance(made, Denied)
        await world.connections.revoke(made.connection_id, by=GRACE)
        await world.printers.remove(PRINTER_ID, by=GRACE)
        await hub.apps.remove("lark", GRACE)
        account = await hub.delete(ADA, GRACE)
        assert isinstance(account, Account)
        nobody = f"deleted account {account.account_id}"

        done = [(one.act, one.subject, one.detail) for one in await acts(world)]
        assert done == [
            (OperatorAct.ACCOUNT_ADDED, nobody, ""),
            (OperatorAct.SUPPORTER_CHANGED, nobody, "on"),
            (OperatorAct.INVITED, BOB, "operator"),
            (OperatorAct.APP_ADDED, "lark", "Lark"),
            (OperatorAct.CONNECTION_ADDED, made.connection_id, f"lark to {PRINTER_ID}"),
            (OperatorAct.CONNECTION_ENDED, made.connection_id, "lark"),
            (OperatorAct.PRINTER_REMOVED, printer.name, PRINTER_ID),
            (OperatorAct.APP_REMOVED, "lark", "Lark"),
            (OperatorAct.ACCOUNT_DELETED, nobody, ""),
        ]
        assert {(one.operator, one.at) for one in await acts(world)} == {(GRACE.name, NOON)}


@on_a_loop
async def test_who_deletes_their_account_leaves_no_address_in_the_record(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.accounts.add(ADA, "a long enough passphrase", by=GRACE)
        await world.accounts.delete(ADA)

        [act] = await acts(world)
        assert ADA not in f"{act.subject} {act.detail}"


@on_a_loop
async def test_what_owners_do_themselves_is_nobodys_record(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.printers.remove(PRINTER_ID)
        await world.accounts.delete(ADA)

        assert await acts(world) == []


@on_a_loop
async def test_what_was_refused_is_not_written_down(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.accounts.set_supporter(ADA, granted=True, by=GRACE)
        await hub.apps.change("lark", DRAFT, GRACE, was_checked=True)
        await hub.set_admin(ADA, is_admin=True, by=GRACE)

        assert await acts(world) == []


@on_a_loop
async def test_acts_are_kept_for_two_years(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.accounts.add(ADA, "a long enough passphrase", by=GRACE)
        world.clock.advance(ACTS_KEPT * 1.01)
        await world.accounts.set_supporter(ADA, granted=True, by=GRACE)

        assert [one.act for one in await acts(world)] == [OperatorAct.SUPPORTER_CHANGED]


@on_a_loop
async def test_the_last_operator_stays_one(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.accounts.add(ADA, "a long enough passphrase", is_admin=True)
        assert denied(await hub.set_admin(ADA, is_admin=False, by=GRACE)).reason is Reason.INVALID

        await world.add_account(BOB)
        await hub.set_admin(BOB, is_admin=True, by=GRACE)
        taken = await hub.set_admin(ADA, is_admin=False, by=GRACE)

        assert isinstance(taken, Account)
        assert not taken.is_admin


@on_a_loop
async def test_nobody_deletes_their_own_account_among_those_of_others(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        account = await world.add_account()
        me = Operator(name=ADA, account_id=account.account_id)

        assert isinstance(await operating(world).delete(ADA, me), Denied)
        assert await world.accounts.all() == [account]


@on_a_loop
async def test_an_app_that_is_removed_loses_its_connections(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        await operating(world).apps.remove("demo", GRACE)

        [connection] = await world.connections.all()
        assert connection.revoked_at == NOON
        assert Notice(Topic.CONNECTION, connection.unique_id) in await world.notices()
        assert made.connection_id == connection.connection_id


@on_a_loop
async def test_a_changed_app_keeps_its_owner_and_its_connections(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.set_up()
        await world.connect_app()
        draft = replace(DRAFT, app_id="other", name="Larkspur")
        changed = await hub.apps.change("demo", draft, GRACE, was_checked=False)

        assert isinstance(changed, App)
        assert (changed.app_id, changed.name) == ("demo", "Larkspur")
        row = await hub.apps.one("demo")
        assert not isinstance(row, Denied)
        assert row.connections == 1
        [act] = await acts(world)
        assert act.detail == "name, return_prefixes"


@on_a_loop
async def test_an_app_that_cannot_be_is_not_registered(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        await hub.apps.register(DRAFT, GRACE)

        assert isinstance(await hub.apps.register(DRAFT, GRACE), InvalidDraft)
        bad = replace(DRAFT, app_id="two", return_prefixes=("javascript:alert(1)",))
        assert isinstance(await hub.apps.register(bad, GRACE), InvalidDraft)


@on_a_loop
async def test_an_account_is_seen_with_its_printers_and_connections(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.connect_app()
        [account] = await world.accounts.all()
        seen = await operating(world).account(account.account_id)

        assert isinstance(seen, OperatedAccount)
        assert [one.printer.printer_id for one in seen.printers] == [PRINTER_ID]
        assert [one.app_id for one in seen.connections] == ["demo"]
        assert isinstance(await operating(world).account("nobody"), Denied)


@on_a_loop
async def test_limits_of_one_account_reach_its_connections_and_nobody_elses(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        cases = operating(world).limits
        await world.set_up()
        await world.connect_app()
        [connection] = await world.connections.all()
        await cases.set_of_service(LimitChanges(upload_bytes=5, webcam_stream_s=60), GRACE)
        await cases.set_of_account(ADA, LimitChanges(upload_bytes=7), GRACE)

        grant = await world.grants.grant(connection.unique_id)
        assert grant is not None
        assert (grant.limits.upload_bytes, grant.limits.webcam_stream_s) == (7, 60)
        assert grant.limits.download_bytes == 1024**3
        assert Notice(Topic.ACCOUNT, grant.account_id) in await world.notices()
        assert (await cases.in_force("somebody else")).upload_bytes == 5


@on_a_loop
async def test_a_limit_may_be_taken_back(open_world: OpenWorld) -> None:
    async with open_world() as world:
        cases = operating(world).limits
        account = await world.add_account()
        await cases.set_of_account(ADA, LimitChanges(upload_bytes=7), GRACE)
        await cases.set_of_account(ADA, LimitChanges(), GRACE)

        assert (await cases.in_force(account.account_id)).upload_bytes == 1024**3


@pytest.mark.parametrize(
    "changes",
    [
        LimitChanges(upload_bytes=-1),
        LimitChanges(download_bytes=1024**5),
        LimitChanges(requests_a_minute=0),
        LimitChanges(webcam_stream_s=10**9),
    ],
)
@on_a_loop
async def test_limits_that_lock_everybody_out_or_mean_nothing_are_refused(
    open_world: OpenWorld, changes: LimitChanges
) -> None:
    async with open_world() as world:
        cases = operating(world).limits
        await world.add_account()

        assert isinstance(await cases.set_of_service(changes, GRACE), Denied)
        assert isinstance(await cases.set_of_account(ADA, changes, GRACE), Denied)
        assert await acts(world) == []


@on_a_loop
async def test_an_account_is_held_to_its_own_number_of_requests(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(ADA), await world.add_account(BOB)
        changes = LimitChanges(requests_a_minute=30)
        await operating(world).limits.set_of_account(ADA, changes, GRACE)
        limits = RequestLimits(core=world.core)

        of_ada = [await limits.take(ada.account_id, "session") for _ in range(31)]
        of_bob = [await limits.take(bob.account_id, "session") for _ in range(31)]

        assert of_ada[:30] == [None] * 30
        assert isinstance(of_ada[30], TooSoon)
        assert of_bob == [None] * 31


@on_a_loop
async def test_pages_of_a_list_hold_each_row_once(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        for number in range(7):
            await world.add_account(f"person{number}@example.org")
        pages = [
            await hub.find_accounts(Search(number=number, size=3), AccountFilter.ALL)
            for number in (1, 2, 3, 4)
        ]

        assert [len(page.rows) for page in pages] == [3, 3, 1, 0]
        assert {page.total for page in pages} == {7}
        emails = [row.account.email for page in pages for row in page.rows]
        assert emails == [f"person{number}@example.org" for number in range(7)]


@pytest.mark.parametrize(
    ("text", "found"), [("BOB", [BOB]), ("%", []), ("_", []), ("example", [ADA, BOB]), ("x'", [])]
)
@on_a_loop
async def test_accounts_are_found_by_any_part_of_their_address(
    open_world: OpenWorld, text: str, found: list[str]
) -> None:
    async with open_world() as world:
        await world.add_account(ADA)
        await world.add_account(BOB)
        page = await operating(world).find_accounts(Search(text=text), AccountFilter.ALL)

        assert [row.account.email for row in page.rows] == found


@on_a_loop
async def test_accounts_are_listed_by_how_they_came_to_supporter_status(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.add_account(ADA)
        bob = await world.add_account(BOB)
        await world.accounts.set_supporter(ADA, granted=True)
        await world.store.write(
            lambda records: records.accounts.set_paid_until(bob.account_id, NOON.replace(year=2027))
        )

        assert await _listed(hub, AccountFilter.GRANTED) == [ADA]
        assert await _listed(hub, AccountFilter.PAYING) == [BOB]
        assert await _listed(hub, AccountFilter.OPERATORS) == []
        assert (await hub.counts()).supporters == 2


async def _listed(hub: Operating, show: AccountFilter) -> list[str]:
    return [row.account.email for row in (await hub.find_accounts(Search(), show)).rows]


@on_a_loop
async def test_printers_apps_and_connections_are_found_by_what_they_are_called(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.set_up()
        await world.connect_app()

        for text, number in (("worksh", 1), ("ADA@", 1), ("nothing", 0)):
            assert (await hub.find_printers(Search(text=text))).total == number
            assert (await hub.find_connections(Search(text=text))).total == number
        assert (await hub.apps.find(Search(text="dem"))).rows[0].connections == 1
        counts = await hub.counts()
        assert (counts.accounts, counts.printers, counts.apps, counts.connections) == (1, 1, 1, 1)


@on_a_loop
async def test_a_connection_that_has_ended_is_in_no_list(open_world: OpenWorld) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.set_up()
        made = await world.connect_app()
        await world.connections.revoke(made.connection_id)

        assert (await hub.find_connections(Search())).total == 0
        assert isinstance(await hub.connection(made.connection_id), Denied)


@on_a_loop
async def test_one_printer_or_connection_is_known_by_its_whole_id_alone(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        hub = operating(world)
        await world.set_up()
        made = await world.connect_app()

        assert isinstance(await hub.printer(PRINTER_ID), PrinterRow)
        assert isinstance(await hub.connection(made.connection_id), ConnectionRow)
        for part in ("", PRINTER_ID[:-1], PRINTER_ID.upper(), made.connection_id[1:]):
            assert isinstance(await hub.printer(part), Denied)
            assert isinstance(await hub.connection(part), Denied)
            assert isinstance(await hub.key(part), Denied)
