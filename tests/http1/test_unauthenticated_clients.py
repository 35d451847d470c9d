"""Unauthenticated clients, however many, keep no authenticated one out."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from tests.http1.serving import Client, client_of, echo_target, run, serving

MAX_CONNECTIONS = 4
YIELDING = ServerLimits(max_connections=MAX_CONNECTIONS, drops_unauthenticated=True)


async def knows_friends(call: Call) -> Answer:
    if call.path == b"/friend":
        call.mark_authenticated()
    return await echo_target(call)


@asynccontextmanager
async def crowd(
    limits: ServerLimits, *, friends: int = 0
) -> AsyncIterator[tuple[list[Client], Client]]:
    """As many clients as may be, the first of them friends, and one more."""
    async with serving(knows_friends, limits) as server, AsyncExitStack() as ends:
        clients = []
        for number in range(MAX_CONNECTIONS):
            client = await ends.enter_async_context(client_of(server))
            await client.ask(b"/friend" if number < friends else b"/")
            clients.append(client)
        yield clients, await ends.enter_async_context(client_of(server))


def test_the_oldest_unauthenticated_connection_makes_room_for_a_new_one() -> None:
    async def test() -> None:
        async with crowd(YIELDING) as (clients, one_more):
            assert (await one_more.ask(b"/new"))[1].startswith(b"/new")
            assert await clients[0].rest() == b""
            for client in clients[1:]:
                assert (await client.ask(b"/still"))[1].startswith(b"/still")

    run(test())


def test_an_authenticated_connection_is_never_dropped() -> None:
    async def test() -> None:
        async with crowd(YIELDING, friends=2) as (clients, one_more):
            assert (await one_more.ask(b"/new"))[1].startswith(b"/new")
            assert await clients[2].rest() == b""
            for client in clients[:2]:
                assert (await client.ask(b"/"))[0].startswith(b"HTTP/1.1 200 ")

    run(test())


def test_among_friends_alone_one_too_many_gets_503() -> None:
    async def test() -> None:
        async with crowd(YIELDING, friends=MAX_CONNECTIONS) as (clients, one_more):
            assert (await one_more.rest()).startswith(b"HTTP/1.1 503 ")
            for client in clients:
                assert (await client.ask(b"/"))[0].startswith(b"HTTP/1.1 200 ")

    run(test())


def test_without_the_setting_the_oldest_connection_stays() -> None:
    async def test() -> None:
        async with crowd(ServerLimits(max_connections=MAX_CONNECTIONS)) as (clients, one_more):
            assert (await one_more.rest()).startswith(b"HTTP/1.1 503 ")
            assert (await clients[0].ask(b"/"))[0].startswith(b"HTTP/1.1 200 ")

    run(test())


def test_silent_and_slow_loris_clients_are_dropped() -> None:
    async def test() -> None:
        async with serving(knows_friends, YIELDING) as server, AsyncExitStack() as ends:
            rude = [
                await ends.enter_async_context(client_of(server))
                for _ in range(3 * MAX_CONNECTIONS)
            ]
            for client in rude[-MAX_CONNECTIONS:]:
                await client.say(b"POST /friend HTTP/1.1\r\nHost:")
            friend = await ends.enter_async_context(client_of(server))

            assert (await friend.ask(b"/friend"))[0].startswith(b"HTTP/1.1 200 ")

    run(test())
