"""A printer's own interface is open for as long as the browser is signed in that opened it."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from printreach.hub.sessions import Sessions, Visitor
from printreach.rules.credentials import CredentialKind, digest
from tests.hub.world import PRINTER_ID, OpenWorld, World

VISITOR = Visitor(address="192.0.2.1", browser="")


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
            sessions = Sessions(
                store=world.store, clock=world.clock, token_bytes=secrets.token_bytes
            )

            async def begin() -> str:
                begun = await world.store.write(
                    lambda records: sessions.begin(records, printer.account_id, VISITOR)
                )
                return begun.session.session_id

            this, other = await begin(), await begin()
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


def test_a_link_of_a_browser_that_is_signed_out_opens_nothing(open_world: OpenWorld) -> None:
    async def main() -> None:
        async with open_world() as world:
            printer = await world.set_up()
            sessions = Sessions(
                store=world.store, clock=world.clock, token_bytes=secrets.token_bytes
            )
            begun = await world.store.write(
                lambda records: sessions.begin(records, printer.account_id, VISITOR)
            )
            session_id = begun.session.session_id
            link = await world.connections.open_own(PRINTER_ID, session_id=session_id)
            assert isinstance(link, str)
            await sessions.end(printer.account_id, session_id)

            ticket, host = link.partition("ticket=")[2], await own_host(world)
            assert await world.grants.redeem_open_ticket(host, ticket, world.clock.now()) is None

    asyncio.run(main())
