"""The portal: what is kept, what is made, and for whom."""

import asyncio
from datetime import timedelta

import pytest

from printreach.hub.denied import Denied, Reason
from printreach.hub.portal import IssuedConnection, Refusal, Request
from printreach.hub.portal.view import FlowKey
from printreach.hub.printers import BAD_NAME
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.portal import PortalError, Step
from printreach.rules.printers import WRONG_TRIES_ALLOWED
from tests.fakes.loop import on_a_loop
from tests.hub.accounts.test_locked_accounts import set_locked
from tests.hub.portal.portal_world import (
    OWN_PAGE,
    RETURN_URL,
    FakeHostKeys,
    begin,
    made,
    portal_of,
    query,
    step,
    view,
)
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World


async def bring_online(world: World, platform: str = "octoprint") -> None:
    at = world.clock.now()
    await world.agents.node_alive("n1", at)
    await world.agents.agent_connected(
        PRINTER_ID, "n1", at, lan_ip="192.168.1.20", agent_version="1", platform=platform
    )


@on_a_loop
async def test_an_app_that_nobody_registered_asks_for_nothing(open_world: OpenWorld) -> None:
    async with open_world() as world:
        portal = portal_of(world)

        assert await portal.read(query(appId="other")) == Refusal(is_app_known=False)


@on_a_loop
async def test_an_address_that_was_not_registered_is_refused(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        portal = portal_of(world)

        for url in ("https://evil.example/", "javascript:alert(1)"):
            assert await portal.read(query(returnUrl=url)) == Refusal(is_app_known=True)
        ambiguous = query(RETURNURL="https://demo.example/other")
        assert await portal.read(ambiguous) == Refusal(is_app_known=True)


@on_a_loop
async def test_without_an_address_people_end_on_our_own_page(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()

        request = await portal_of(world).read(query(returnUrl=""))

        assert isinstance(request, Request)
        assert request.return_url == OWN_PAGE


@on_a_loop
async def test_a_parameter_with_two_values_sends_people_back_at_once(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()

        request = await portal_of(world).read(query(printerId="p1", printerid="p2"))

        assert isinstance(request, Request)
        assert request.error is PortalError.INVALID_REQUEST


@on_a_loop
async def test_a_person_lets_an_app_use_a_printer(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world)
        key = await begin(portal)

        assert await step(portal, key, None) is Step.ACCOUNT
        assert await step(portal, key, account) is Step.PERMIT
        done = made(await portal.allow(key, account, PRINTER_ID))

        assert done.view.flow.return_url == RETURN_URL
        assert done.completion.printer_name == "Workshop"
        [connection] = await world.connections.all()
        assert (connection.connection_id, connection.app_id) == (
            done.completion.connection_id,
            "demo",
        )
        assert await step(portal, key, account) is Step.DONE


@on_a_loop
async def test_a_flow_makes_one_connection_however_often_it_is_allowed(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world)
        key = await begin(portal)

        results = await asyncio.gather(*(portal.allow(key, account, PRINTER_ID) for _ in range(5)))

        assert len([one for one in results if isinstance(one, IssuedConnection)]) == 1
        assert [
            one for one in results if one is not None and not isinstance(one, IssuedConnection)
        ] == []
        assert len(await world.connections.all()) == 1


@on_a_loop
async def test_another_browser_has_no_such_flow(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world)
        key = await begin(portal)
        stolen = FlowKey(key.flow_id, "another browser")

        assert await portal.view(stolen, account) is None
        assert await portal.allow(stolen, account, PRINTER_ID) is None
        await portal.refuse(stolen, account, PortalError.ACCESS_DENIED)
        assert await step(portal, key, account) is Step.PERMIT
        assert stolen.form_token != key.form_token
        assert key.is_form_token(key.form_token)
        assert not key.is_form_token(stolen.form_token)


@on_a_loop
async def test_a_printer_is_linked_and_named_on_the_way(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()
        await world.apps.add("demo", "Demo", ["https://demo.example/"])
        portal = portal_of(world)
        key = await begin(portal)
        code = await world.link_code()

        assert await portal.link(key, account, code.code) is None
        assert await step(portal, key, account) is Step.NAME
        assert await portal.name(key, account, " ") == BAD_NAME
        assert await portal.name(key, account, " Attic ") is None

        shown = await view(portal, key, account)
        assert shown.step is Step.PERMIT
        assert shown.printer is not None
        assert shown.printer.printer.name == "Attic"


@on_a_loop
async def test_link_codes_cannot_be_guessed_in_the_portal_either(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()
        await world.apps.add("demo", "Demo", ["https://demo.example/"])
        portal = portal_of(world)
        code = await world.link_code()

        for _ in range(WRONG_TRIES_ALLOWED):
            # A new flow each time is no way around it.
            wrong = await portal.link(await begin(portal), account, "AAAAAAAA")
            assert isinstance(wrong, Denied)
            assert wrong.reason is Reason.LINK_CODE_UNKNOWN

        locked = await portal.link(await begin(portal), account, code.code)
        assert isinstance(locked, Denied)
        assert locked.reason is Reason.LINKING_LOCKED


@on_a_loop
async def test_a_foreign_printer_starts_linking_and_is_never_given_away(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        bob = await world.add_account(BOB)
        portal = portal_of(world)
        key = await begin(portal, printerId=PRINTER_ID)

        assert await step(portal, key, bob) is Step.LINK
        assert await portal.allow(key, bob, PRINTER_ID) is None
        await portal.choose(key, bob, PRINTER_ID)
        await portal.take_own(key, bob)
        assert await step(portal, key, bob) is Step.LINK
        assert await world.connections.all() == []


@on_a_loop
async def test_whoever_lacks_supporter_status_is_asked_for_it(open_world: OpenWorld) -> None:
    async with open_world(supporters=SupporterPolicy.GRANTED) as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world, SupporterPolicy.GRANTED)
        key = await begin(portal)

        assert await step(portal, key, account) is Step.SUPPORTER
        assert await portal.allow(key, account, PRINTER_ID) is None

        await world.accounts.set_supporter(account.email, granted=True)
        granted = (await world.accounts.all())[0]
        assert await step(portal, key, granted) is Step.PERMIT


@on_a_loop
async def test_a_key_is_made_after_a_second_yes(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        keys = FakeHostKeys()
        portal = portal_of(world, host_keys=keys)
        await bring_online(world)
        key = await begin(portal, hostApiKeyAppName="My app")

        assert await portal.allow(key, account, PRINTER_ID) is None
        assert await step(portal, key, account) is Step.KEY
        assert keys.asked == []
        done = made(await portal.answer_key(key, account, PRINTER_ID, with_key=True))

        assert done.completion.host_api_key == "host-key"
        assert keys.asked == [(PRINTER_ID, "My app")]


@on_a_loop
async def test_a_key_is_kept_back_where_the_printer_got_another_owner_meanwhile(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        keys = FakeHostKeys(meanwhile=lambda: world.printers.remove(PRINTER_ID))
        portal = portal_of(world, host_keys=keys)
        await bring_online(world)
        key = await begin(portal, hostApiKeyAppName="My app")
        await portal.allow(key, account, PRINTER_ID)

        done = made(await portal.answer_key(key, account, PRINTER_ID, with_key=True))

        assert done.completion.host_api_key is None


@on_a_loop
async def test_no_key_is_offered_while_remote_control_is_locked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        keys = FakeHostKeys()
        portal = portal_of(world, host_keys=keys)
        await bring_online(world)
        key = await begin(portal, hostApiKeyAppName="My app")
        await set_locked(world)

        done = made(await portal.allow(key, account, PRINTER_ID))

        assert done.completion.host_api_key is None
        assert keys.asked == []


@on_a_loop
async def test_no_key_is_made_where_remote_control_is_locked_before_the_second_yes(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        keys = FakeHostKeys()
        portal = portal_of(world, host_keys=keys)
        await bring_online(world)
        key = await begin(portal, hostApiKeyAppName="My app")
        await portal.allow(key, account, PRINTER_ID)
        await set_locked(world)

        done = made(await portal.answer_key(key, account, PRINTER_ID, with_key=True))

        assert done.completion.host_api_key is None
        assert keys.asked == []


@on_a_loop
async def test_a_key_is_kept_back_where_remote_control_is_locked_while_it_is_made(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        keys = FakeHostKeys(meanwhile=lambda: set_locked(world))
        portal = portal_of(world, host_keys=keys)
        await bring_online(world)
        key = await begin(portal, hostApiKeyAppName="My app")
        await portal.allow(key, account, PRINTER_ID)

        done = made(await portal.answer_key(key, account, PRINTER_ID, with_key=True))

        assert done.completion.host_api_key is None


@pytest.mark.parametrize("with_key", [True, False])
@on_a_loop
async def test_no_key_costs_the_key_alone(open_world: OpenWorld, with_key: bool) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world, host_keys=FakeHostKeys(key=None))
        await bring_online(world)
        key = await begin(portal, octoPrintApiKeyAppName="My app")
        await portal.allow(key, account, PRINTER_ID)

        done = made(await portal.answer_key(key, account, PRINTER_ID, with_key=with_key))

        assert done.completion.host_api_key is None


@on_a_loop
async def test_a_printer_that_makes_no_keys_is_not_asked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world, host_keys=FakeHostKeys())
        await bring_online(world, platform="bambu")
        key = await begin(portal, hostApiKeyAppName="My app")

        made(await portal.allow(key, account, PRINTER_ID))


@on_a_loop
async def test_a_full_printer_is_told_and_the_flow_goes_on(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.let_a_printer_have(1)
        account = (await world.accounts.all())[0]
        await world.connect_app()
        portal = portal_of(world)
        key = await begin(portal)

        refused = await portal.allow(key, account, PRINTER_ID)

        assert isinstance(refused, Denied)
        assert refused.reason is Reason.TOO_MANY_CONNECTIONS
        assert await step(portal, key, account) is Step.PERMIT


@pytest.mark.slow
@on_a_loop
async def test_a_flow_expires_and_is_forgotten_later(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world)
        key = await begin(portal)

        world.clock.advance(timedelta(hours=1))
        assert await step(portal, key, account) is Step.EXPIRED
        assert await portal.allow(key, account, PRINTER_ID) is None

        world.clock.advance(timedelta(hours=24))
        await begin(portal)
        assert await portal.view(key, account) is None


@on_a_loop
async def test_a_deleted_account_takes_its_flows_along(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world)
        key = await begin(portal)
        await portal.choose(key, account, PRINTER_ID)

        await world.accounts.delete(account.email)

        assert await portal.view(key, None) is None


@pytest.mark.sqlite
@on_a_loop
async def test_nothing_secret_of_a_flow_is_on_the_disk(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        account = (await world.accounts.all())[0]
        portal = portal_of(world)
        key = await begin(portal)
        done = made(await portal.allow(key, account, PRINTER_ID))
        stored = world.everything_on_disk()

    told = done.completion.secrets
    secrets = (key.browser, key.form_token, told.basic_password, told.bearer_token)
    assert [one for one in secrets if one.encode() in stored] == []
    assert key.flow_id.encode() in stored
