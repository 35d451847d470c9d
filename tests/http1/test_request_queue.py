"""Requests wait in a queue for a server that has enough to answer."""

import asyncio
import itertools

import pytest

from printreach.limiters.request_queue import RequestQueue
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import GET, PATIENCE_S, Heard, ServerConnection, Talk, talk

LONG_S = 600.0
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n--x\r\n"
UPGRADE = (
    b"GET /sock HTTP/1.1\r\nHost: printer\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
)
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
POST = b"POST /%d HTTP/1.1\r\nHost: printer\r\nContent-Length: 0\r\n\r\n"


def patient(most: int) -> RequestQueue:
    """A queue whose time-out doesn't pass while a test runs."""
    return RequestQueue(most, timeout_s=LONG_S)


async def until_waiting(queue: RequestQueue, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while queue.waiting != count:  # noqa: ASYNC110 - no event tells its length
            await asyncio.sleep(0)


def post_many(at: Talk, count: int) -> list[Heard]:
    return [at.ask(POST % number)[0] for number in range(count)]


async def targets(connections: list[ServerConnection]) -> list[bytes]:
    return [(await accepted.head()).split()[1] for accepted in connections]


@on_a_loop
async def test_a_server_has_no_more_to_answer_at_once_than_it_can() -> None:
    queue = patient(most=2)
    async with talk(queue=queue) as at:
        heard = post_many(at, 5)
        busy = [await at.server.accept() for _ in range(2)]
        await until_waiting(queue, 3)

        assert await targets(busy) == [b"/0", b"/1"]
        assert at.server.accepted == 2
        assert not any(one.is_over for one in heard)


@on_a_loop
async def test_an_answer_lets_the_next_one_go_in_its_order() -> None:
    queue = patient(most=1)
    async with talk(queue=queue) as at:
        heard = post_many(at, 4)
        asked = []
        for one in heard:
            accepted = await at.server.accept()
            asked += await targets([accepted])
            accepted.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await one.until_over()

        assert asked == [b"/0", b"/1", b"/2", b"/3"]


@pytest.mark.parametrize(("head", "answer"), [(GET, STREAM), (UPGRADE, SWITCHED)])
@on_a_loop
async def test_an_answer_under_way_holds_up_no_other_request(head: bytes, answer: bytes) -> None:
    async with talk(queue=patient(most=1)) as at:
        streams = []
        for _ in range(3):
            heard, _ = at.ask(head)
            await (await at.server.accept()).answer(answer)
            await heard.until_response()
            streams.append(heard)

        at.ask(GET)
        await (await at.server.accept()).head()
        assert not any(one.is_over for one in streams)


@on_a_loop
async def test_a_request_that_waited_for_the_time_out_is_sent_all_the_same() -> None:
    async with talk(queue=RequestQueue(1, timeout_s=0.01)) as at:
        hanging, _ = at.ask(POST % 0)
        await (await at.server.accept()).head()
        heard, _ = at.ask(POST % 1)
        await (await at.server.accept()).answer()

        assert (await heard.until_over()).response.status == 200
        assert not hanging.is_over


@on_a_loop
async def test_a_cancelled_request_in_the_queue_is_never_sent() -> None:
    queue = patient(most=1)
    async with talk(queue=queue) as at:
        first, _ = at.ask(POST % 0)
        accepted = await at.server.accept()
        _, gives_up = at.ask(POST % 1)
        at.ask(POST % 2)
        await until_waiting(queue, 2)
        gives_up.cancel()
        await accepted.answer(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await first.until_over()

        assert await targets([await at.server.accept()]) == [b"/2"]
        assert at.server.accepted == 2


@on_a_loop
async def test_a_request_cancelled_while_it_is_answered_releases_its_slot() -> None:
    async with talk(queue=patient(most=1)) as at:
        _, gives_up = at.ask(POST % 0)
        await (await at.server.accept()).head()
        at.ask(POST % 1)
        gives_up.cancel()

        assert await targets([await at.server.accept()]) == [b"/1"]


@on_a_loop
async def test_requests_to_a_server_that_is_away_do_not_stay_in_the_queue() -> None:
    queue = patient(most=1)
    async with talk(queue=queue) as at:
        at.server.port = 1  # nobody listens there
        heard = post_many(at, 3)

        assert [len((await one.until_over()).failures) for one in heard] == [1, 1, 1]
        assert queue.waiting == 0


@on_a_loop
async def test_the_end_of_the_client_ends_the_queue() -> None:
    queue = patient(most=1)
    async with talk(queue=queue) as at:
        heard = post_many(at, 3)
        await at.server.accept()
        await until_waiting(queue, 2)
        await at.client.close()

        assert all([(await one.until_over()).failures for one in heard])
        assert queue.waiting == 0


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@on_a_loop
async def test_no_turn_is_lost_in_whatever_order_they_leave(order: tuple[int, ...]) -> None:
    queue = patient(most=2)
    tasks = [asyncio.create_task(queue.wait_for_turn(who)) for who in range(4)]
    await until_waiting(queue, 2)
    for who in order:
        queue.release(who)
        tasks[who].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    async with asyncio.timeout(PATIENCE_S):
        await queue.wait_for_turn("a")
        await queue.wait_for_turn("b")
    assert queue.waiting == 0


@on_a_loop
async def test_a_turn_that_comes_with_the_time_out_does_no_harm() -> None:
    """After a stall both are due at once, and the time-out is noticed a moment later."""
    queue = patient(most=1)
    queue.admit("first")
    waiting = [asyncio.create_task(queue.wait_for_turn(name)) for name in ("second", "third")]
    await until_waiting(queue, 2)
    waiting[0].cancel()
    queue.release("first")
    queue.release("second")
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)

    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert outcomes[1] is None
    assert queue.waiting == 0
