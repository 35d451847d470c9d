"""Many bodies at once, and the share of one caller."""

import asyncio

import pytest

from printreach.web.requests import Body, BodyLimiter, TooManyBodies, TooSlow
from tests.fakes.loop import on_a_loop


def room_of(
    max_bytes: int, max_per_caller: int | None = None, timeout_s: float = 60
) -> BodyLimiter:
    return BodyLimiter(max_bytes=max_bytes, max_per_caller=max_per_caller, timeout_s=timeout_s)


async def read_for_ever(
    limiter: BodyLimiter, account_id: str, size: int, has_begun: asyncio.Event
) -> None:
    """A caller who sends so much, and no more."""
    with limiter.admit(account_id) as body:
        async with body.reading():
            body.grow(size)
            has_begun.set()
            await asyncio.Event().wait()


async def begun(limiter: BodyLimiter, account_id: str, size: int) -> asyncio.Task[None]:
    has_begun = asyncio.Event()
    task = asyncio.create_task(read_for_ever(limiter, account_id, size, has_begun))
    await has_begun.wait()
    return task


async def end(*tasks: asyncio.Task[None]) -> list[BaseException | None]:
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


@on_a_loop
async def test_where_all_is_taken_the_slowest_makes_room() -> None:
    limiter = room_of(100)
    slowest, slow = await begun(limiter, "bob", 50), await begun(limiter, "eve", 50)
    with limiter.admit("ada") as body:
        async with body.reading():
            body.grow(30)
            with pytest.raises(TooManyBodies):
                await slowest
            body.grow(20)

    assert not slow.done()
    await end(slow)


@on_a_loop
async def test_what_is_whole_already_makes_no_room() -> None:
    limiter = room_of(100)
    with limiter.admit("ada") as whole:
        async with whole.reading():
            whole.grow(60)
        with limiter.admit("bob") as late, pytest.raises(TooManyBodies):
            async with late.reading():
                late.grow(60)

        assert whole.size == 60


@on_a_loop
async def test_what_was_given_up_takes_nothing_any_more() -> None:
    limiter = room_of(100)

    async def read(body: Body) -> None:
        async with body.reading():
            body.grow(60)
            body.evict()
            body.grow(1)

    with limiter.admit("ada") as given_up:
        with pytest.raises(TooManyBodies):
            await read(given_up)
        assert given_up.size == 0


@on_a_loop
async def test_what_makes_room_for_itself_takes_none() -> None:
    limiter = room_of(100)
    with limiter.admit("ada") as body:
        async with body.reading():
            body.grow(60)
            with pytest.raises(TooManyBodies):
                body.grow(60)
            assert body.size == 0


@on_a_loop
async def test_what_is_done_leaves_its_room_to_others() -> None:
    limiter = room_of(100)
    for _ in range(5):
        with limiter.admit("ada") as body:
            async with body.reading():
                body.grow(100)


@on_a_loop
async def test_an_account_has_no_more_than_its_share_of_bodies() -> None:
    limiter = room_of(100, max_per_caller=2)
    tasks = [await begun(limiter, "bob", 1) for _ in range(2)]

    with pytest.raises(TooManyBodies), limiter.admit("bob"):
        pass
    with limiter.admit("ada") as body:
        assert body.size == 0
    await end(*tasks)
    with limiter.admit("bob"):
        pass


@on_a_loop
async def test_a_body_is_waited_for_so_long() -> None:
    with pytest.raises(TooSlow):
        await (await begun(room_of(100, timeout_s=0.01), "bob", 1))


@on_a_loop
async def test_a_caller_who_stops_is_not_called_slow() -> None:
    limiter = room_of(100)
    [outcome] = await end(await begun(limiter, "bob", 1))

    assert isinstance(outcome, asyncio.CancelledError)
