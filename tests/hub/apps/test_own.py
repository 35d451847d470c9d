"""A developer's apps: theirs alone, and gone with all they reach."""

from dataclasses import replace

from printreach.hub.apps import LOOKS_THE_SAME, TAKEN, InvalidDraft, ListedApp, OwnApps
from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.apps.registration import MAX_APP_IDS, MAX_APPS, AppDraft, AppPolicy
from printreach.rules.portal.parameters import Completion
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.hub.portal.portal_world import begin, portal_of
from tests.hub.world import BOB, PASSWORD, PRINTER_ID, OpenWorld, World, denied

DRAFT = AppDraft(
    app_id="Layerlark",
    name="Layerlark",
    return_prefixes=("https://layerlark.example/done", "com.layerlark://done"),
    logo_url="https://layerlark.example/logo.png",
)


def own_apps(world: World, policy: AppPolicy = AppPolicy.OPEN) -> OwnApps:
    return OwnApps(core=world.core, policy=policy)


def errors(result: object) -> dict[str, str]:
    assert isinstance(result, InvalidDraft), result
    return dict(result.errors)


async def connect(world: World, account: Account) -> Completion:
    """Register the app, and connect it to the account's printer."""
    await own_apps(world).register(account, DRAFT)
    await world.link_printer(account.email)
    made = await world.connections.add_for_app("Layerlark", PRINTER_ID)
    assert isinstance(made, Completion)
    return made


@on_a_loop
async def test_an_app_belongs_to_who_registered_it(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        apps = own_apps(world)
        made = await apps.register(ada, DRAFT)

        assert isinstance(made, App)
        assert made.owner_id == ada.account_id
        assert await apps.all(ada.account_id) == [ListedApp(made, 0)]
        assert await apps.all(bob.account_id) == []


@on_a_loop
async def test_no_app_looks_like_another_accounts(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        apps = own_apps(world)
        await apps.register(ada, DRAFT)
        await world.apps.add("pod", "OctoPod", [])
        alike = replace(DRAFT, app_id="other", name="LAYER-1ark")
        fine = replace(DRAFT, app_id="fine", name="Larkspur")

        assert errors(await apps.register(bob, alike)) == {"name": LOOKS_THE_SAME}
        assert isinstance(await apps.register(bob, fine), App)
        renamed = replace(fine, name="Octo Pod")
        assert errors(await apps.change(bob.account_id, "fine", renamed)) == {
            "name": LOOKS_THE_SAME
        }
        assert isinstance(await apps.register(ada, alike), App)  # one's own may


@on_a_loop
async def test_the_name_of_a_removed_app_is_free(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        apps = own_apps(world)
        await apps.register(ada, DRAFT)
        await apps.remove(ada.account_id, "Layerlark")

        assert isinstance(await apps.register(bob, replace(DRAFT, app_id="other")), App)


@on_a_loop
async def test_an_operator_may_name_an_app_like_another(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await own_apps(world).register(await world.add_account(), DRAFT)

        assert isinstance(await world.apps.add("second", "Layerlark", ["myapp://done"]), App)


@on_a_loop
async def test_an_app_that_was_checked_is_not_once_its_developer_changes_what_people_see(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        apps = own_apps(world)
        app = await apps.register(ada, DRAFT)
        assert isinstance(app, App)
        assert not app.is_vouched_for
        checked = replace(app, was_checked=True)

        for change, stays in (
            ({"max_connections": 5}, True),
            ({"name": "Larkspur"}, False),
            ({"return_prefixes": ("https://thief.example/",)}, False),
            ({"returns_to_lan": True}, False),
            ({"logo_url": "https://thief.example/l.png"}, False),
        ):
            await world.store.write(lambda records: records.apps.put(checked))
            draft = replace(DRAFT, **change)
            changed = await apps.change(ada.account_id, "Layerlark", draft)
            assert isinstance(changed, App)
            assert changed.was_checked is stays, change


@on_a_loop
async def test_the_own_app_of_an_operator_counts_as_checked_whatever_they_change(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        operator = await world.accounts.add("op@example.org", PASSWORD, is_admin=True)
        assert isinstance(operator, Account)
        apps = own_apps(world)
        app = await apps.register(operator, DRAFT)
        assert isinstance(app, App)
        assert app.is_vouched_for

        draft = replace(DRAFT, name="Larkspur")
        changed = await apps.change(operator.account_id, "Layerlark", draft)

        assert isinstance(changed, App)
        assert changed.is_vouched_for


@on_a_loop
async def test_an_app_of_the_operator_belongs_to_no_account(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        added = await world.apps.add("demo", "Demo", [])

        assert isinstance(added, App)
        assert added.owner_id is None
        assert await own_apps(world).all(ada.account_id) == []
        assert denied(await own_apps(world).one(ada.account_id, "demo")).reason is (
            Reason.NO_SUCH_APP
        )


@on_a_loop
async def test_every_fault_is_told_at_its_field(open_world: OpenWorld) -> None:
    wrong = AppDraft(
        app_id="a b",
        name="x",
        return_prefixes=("javascript://alert",),
        logo_url="http://a.example/l.png",
        max_connections=0,
        max_connections_a_printer=0,
    )
    async with open_world() as world:
        ada = await world.add_account()

        told = errors(await own_apps(world).register(ada, wrong))
        assert set(told) == {
            *("app_id", "name", "return_prefixes", "logo_url"),
            *("max_connections", "max_connections_a_printer"),
        }
        assert await own_apps(world).all(ada.account_id) == []


@on_a_loop
async def test_a_taken_id_is_told_the_same_way_whoever_has_it(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        await world.apps.add("operators", "Operator's", [])
        await own_apps(world).register(bob, replace(DRAFT, app_id="bobs"))
        await own_apps(world).register(bob, replace(DRAFT, app_id="bobs-old"))
        await own_apps(world).remove(bob.account_id, "bobs-old")

        for taken in ("operators", "OPERATORS", "bobs", "Bobs", "bobs-old", "BOBS-OLD"):
            result = await own_apps(world).register(ada, replace(DRAFT, app_id=taken))
            assert errors(result) == {"app_id": TAKEN}
        assert await own_apps(world).all(ada.account_id) == []


@on_a_loop
async def test_another_accounts_app_is_as_one_that_does_not_exist(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        apps = own_apps(world)
        await apps.register(bob, DRAFT)

        for act in (
            lambda app_id: apps.one(ada.account_id, app_id),
            lambda app_id: apps.change(ada.account_id, app_id, replace(DRAFT, name="Ada's")),
            lambda app_id: apps.remove(ada.account_id, app_id),
        ):
            assert denied(await act("Layerlark")) == denied(await act("unknown"))
        [listed] = await apps.all(bob.account_id)
        assert listed.app.name == "Layerlark"


@on_a_loop
async def test_a_changed_app_keeps_its_id_its_owner_and_its_connections(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await connect(world, ada)
        draft = replace(DRAFT, app_id="other", name="Larklayer", max_connections=7)
        changed = await own_apps(world).change(ada.account_id, "Layerlark", draft)

        assert isinstance(changed, App)
        assert (changed.app_id, changed.owner_id) == ("Layerlark", ada.account_id)
        assert await own_apps(world).all(ada.account_id) == [ListedApp(changed, 1)]


@on_a_loop
async def test_a_change_that_cannot_be_leaves_the_app_as_it_was(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await own_apps(world).register(ada, DRAFT)

        told = errors(
            await own_apps(world).change(ada.account_id, "Layerlark", replace(DRAFT, name=""))
        )
        assert set(told) == {"name"}
        [listed] = await own_apps(world).all(ada.account_id)
        assert listed.app.name == "Layerlark"


@on_a_loop
async def test_the_connections_of_a_removed_app_end_and_the_relay_is_told(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        made = await connect(world, ada)
        [connection] = await world.connections.all()
        await own_apps(world).remove(ada.account_id, "Layerlark")

        grant = await world.grants.grant(connection.unique_id)
        assert grant is not None
        assert grant.ended
        assert Notice(Topic.CONNECTION, connection.unique_id) in await world.notices()
        assert denied(await world.connections.add_for_app("Layerlark", PRINTER_ID)).reason is (
            Reason.NO_SUCH_APP
        )
        assert made.connection_id == connection.connection_id


@on_a_loop
async def test_who_stands_in_the_portal_of_a_removed_app_gets_no_further(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, portal = await world.add_account(), portal_of(world)
        await own_apps(world).register(ada, DRAFT)
        await world.link_printer()
        key = await begin(portal, appId="Layerlark", returnUrl="com.layerlark://done")
        assert await portal.view(key, ada) is not None
        await own_apps(world).remove(ada.account_id, "Layerlark")

        assert await portal.view(key, ada) is None
        assert await portal.allow(key, ada, PRINTER_ID) is None
        assert await world.connections.all() == []


@on_a_loop
async def test_the_id_of_a_removed_app_stays_with_its_account(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, bob = await world.add_account(), await world.add_account(BOB)
        apps = own_apps(world)
        await apps.register(ada, DRAFT)
        await apps.remove(ada.account_id, "Layerlark")

        assert errors(await apps.register(bob, DRAFT)) == {"app_id": TAKEN}
        assert denied(await world.apps.add("layerlark", "L2", [])).reason is Reason.APP_EXISTS
        assert isinstance(await apps.register(ada, replace(DRAFT, name="Again")), App)


def test_an_account_has_20_apps_and_100_ids_at_most() -> None:
    assert (MAX_APPS, MAX_APP_IDS) == (20, 100)


@on_a_loop
async def test_no_account_hoards_apps_or_their_ids(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        apps = own_apps(world)
        for number in range(MAX_APPS):
            assert isinstance(await apps.register(ada, replace(DRAFT, app_id=f"a{number}")), App)
        more = replace(DRAFT, app_id="one-more")
        assert "at most 20 apps" in errors(await apps.register(ada, more))["app_id"]

        async def hoard(records: Records) -> None:
            for number in range(MAX_APPS, MAX_APP_IDS):
                old = App(
                    app_id=f"a{number}",
                    name="Old",
                    return_prefixes=(),
                    created_at=world.clock.now(),
                    owner_id=ada.account_id,
                )
                await records.apps.add(old)
                await records.apps.remove(old.app_id, world.clock.now())

        await world.store.write(hoard)
        await apps.remove(ada.account_id, "a0")
        assert "at most 100 app ids" in errors(await apps.register(ada, more))["app_id"]


@on_a_loop
async def test_where_operators_alone_register_apps_others_keep_theirs(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await own_apps(world).register(ada, DRAFT)
        closed = own_apps(world, AppPolicy.OPERATORS)

        assert not closed.may_register(ada)
        denied(await closed.register(ada, replace(DRAFT, app_id="second")))
        changed = await closed.change(ada.account_id, "Layerlark", replace(DRAFT, name="New"))
        assert isinstance(changed, App)


@on_a_loop
async def test_an_app_over_its_quota_gets_no_connection_more(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await connect(world, ada)
        one_printer = replace(DRAFT, max_connections_a_printer=1)
        await own_apps(world).change(ada.account_id, "Layerlark", one_printer)
        full = denied(await world.connections.add_for_app("Layerlark", PRINTER_ID))
        assert full.reason is Reason.TOO_MANY_CONNECTIONS
        assert "connected to this printer already" in full.sentence

        await own_apps(world).change(ada.account_id, "Layerlark", replace(DRAFT, max_connections=1))
        denied(await world.connections.add_for_app("Layerlark", PRINTER_ID))
        [connection] = await world.connections.all()
        await world.connections.revoke(connection.connection_id)
        assert isinstance(await world.connections.add_for_app("Layerlark", PRINTER_ID), Completion)


@on_a_loop
async def test_the_apps_of_a_deleted_account_go_with_their_connections(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, _ = await world.add_account(), await world.add_account(BOB)
        await own_apps(world).register(ada, DRAFT)
        await world.link_printer(BOB)
        await world.connections.add_for_app("Layerlark", PRINTER_ID)
        [connection] = await world.connections.all()
        await world.accounts.delete(ada.email)

        grant = await world.grants.grant(connection.unique_id)
        assert grant is not None
        assert grant.ended
        assert await world.apps.all() == []
