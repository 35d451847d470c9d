"""A printer's own interface is open for as long as the browser is signed in that opened it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from printreach.hub.accounts.sessions import NewSession, Sessions, Visitor
from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World, denied

VISITOR = Visitor(address="192.0.2.1", browser="")


async def begin(sessions: Sessions, account_id: str) -> str:
    """A browser is signed in; the session's id."""
    begun = await sessions.core.store.write(
        lambda records: sessions.begin(records, account_id, VISITOR)
    )
    assert isinstance(begun, NewSession)
    return begun.session.session_id


async def opened(world: World, session_id: str | None) -> bytes:
    """A browser that holds the printer's cookie; its digest."""
    link = await world.connections.open_own(PRINTER_ID, session_id=session_id)
    assert isinstance(link, str)
    ticket = link.partition("ticket=")[2]
    cookie = await world.grants.redeem_open_ticket(await own_host(world), ticket, world.clock.now())
    assert cookie is not None
    return digest(CredentialKind.COOKIE, cookie.encode())


async def own_host(world: World) -> str:
    [connection] = await world.connections.all()
    return connection.unique_id


async def is_open(world: World, cookie: bytes) -> bool:
    grant = await world.grants.grant(await own_host(world))
    return grant is not None and cookie in grant.digests


def after(
    open_world: OpenWorld, end: Callable[[Sessions, str, str], Awaitable[None]]
) -> list[bool]:
    """Whether this browser, another and a link of the command line are still in, after the end."""

    async def main() -> list[bool]:
        async with open_world() as world:
            printer = await world.set_up()
            sessions = Sessions(core=world.core)

            this, other = [await begin(sessions, printer.account_id) for _ in range(2)]
            cookies = [await opened(world, one) for one in (this, other, None)]
            await end(sessions, printer.account_id, this)
            return [await is_open(world, cookie) for cookie in cookies]

    return asyncio.run(main())


def test_who_signs_out_is_signed_out_of_the_printer_too(open_world: OpenWorld) -> None:
    assert after(open_world, lambda every, account, this: every.end(account, this)) == [
        False,
        True,
        True,
    ]


def test_who_signs_the_others_out_signs_them_out_of_the_printer_too(
    open_world: OpenWorld,
) -> None:
    assert after(open_world, lambda every, account, this: every.end_others(account, this)) == [
        True,
        False,
        True,
    ]


def test_relays_are_told_of_a_browser_that_is_signed_out(open_world: OpenWorld) -> None:
    async def main() -> None:
        async with open_world() as world:
            account = await world.add_account()
            sessions = Sessions(core=world.core)
            this = await begin(sessions, account.account_id)
            assert await world.notices() == []
            await sessions.end(account.account_id, this)

            assert await world.notices() == [Notice(Topic.ACCOUNT, account.account_id)]

    asyncio.run(main())


def test_a_link_of_a_browser_that_is_signed_out_opens_nothing(open_world: OpenWorld) -> None:
    async def main() -> None:
        async with open_world() as world:
            printer = await world.set_up()
            sessions = Sessions(core=world.core)
            session_id = await begin(sessions, printer.account_id)
            link = await world.connections.open_own(PRINTER_ID, session_id=session_id)
            assert isinstance(link, str)
            await sessions.end(printer.account_id, session_id)

            ticket, host = link.partition("ticket=")[2], await own_host(world)
            assert await world.grants.redeem_open_ticket(host, ticket, world.clock.now()) is None

    asyncio.run(main())


async def _block(world: World, account_id: str) -> None:
    at = world.clock.now()
    await world.store.write(lambda records: records.accounts.set_blocked(account_id, at))


async def _relink_without_a_look_between(world: World, _account_id: str) -> None:
    """As it looks to a relay whose notice was lost: the connection's row stays as it was."""
    bob, at = await world.add_account(BOB), world.clock.now()

    async def change(records: Records) -> None:
        former = await records.printers.linked(PRINTER_ID)
        assert former is not None
        await records.printers.remove(PRINTER_ID, at)
        await records.printers.link(replace(former, account_id=bob.account_id))

    await world.store.write(change)


async def _remove(world: World, _account_id: str) -> None:
    await world.printers.remove(PRINTER_ID)


@pytest.mark.parametrize("lose", [_block, _remove, _relink_without_a_look_between])
@on_a_loop
async def test_a_link_opens_nothing_once_its_account_may_not_use_the_printer(
    open_world: OpenWorld, lose: Callable[[World, str], Awaitable[None]]
) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        link = await world.connections.open_own(PRINTER_ID)
        assert isinstance(link, str)
        host = await own_host(world)
        await lose(world, printer.account_id)

        ticket = link.partition("ticket=")[2]
        assert await world.grants.redeem_open_ticket(host, ticket, world.clock.now()) is None


@on_a_loop
async def test_a_former_owner_gets_no_link_to_the_printer_and_cannot_remove_it(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        await world.printers.remove(PRINTER_ID)
        await world.add_account(BOB)
        await world.link_printer(BOB)
        former = printer.account_id

        link = await world.connections.open_own(PRINTER_ID, account_id=former)
        assert denied(link).reason is Reason.NO_SUCH_PRINTER
        removed = await world.printers.remove(PRINTER_ID, account_id=former)
        assert denied(removed).reason is Reason.NO_SUCH_PRINTER
        assert [one.owner_email for one in await world.printers.all()] == [BOB]
