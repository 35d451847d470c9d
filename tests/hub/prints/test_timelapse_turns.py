"""No account keeps the others waiting for the videos of their prints."""

from dataclasses import replace

import pytest

from printreach.rules.detection.jpeg import claimed_size
from printreach.rules.prints.timelapse import MIN_PICTURES
from tests.fakes.loop import on_a_loop
from tests.hub.prints.test_timelapses import GAP, cinema
from tests.hub.world import OpenWorld
from tests.rules.detection.test_jpeg import picture


@on_a_loop
async def test_a_video_that_takes_too_long_is_given_up_at_once(
    open_world: OpenWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async with cinema(open_world) as here:
        here.maker.is_slow = True
        await here.prints(MIN_PICTURES)

        assert await here.ends() is None
        assert caplog.text.count("it took longer") == 1
        assert here.files(".jpg") == 1


@pytest.mark.slow
@on_a_loop
async def test_an_account_with_many_videos_delays_another_by_one_alone(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        lasting = await here.world.add_account("lasting@example.org")
        other = await here.world.add_account("other@example.org")
        await here.was_printed(lasting, 4)
        await here.make()
        await here.was_printed(other, 2)
        for _ in range(5):
            await here.make()

        turns = [lasting, other, lasting, other, lasting, lasting]
        assert here.turns() == [account.email for account in turns]


@pytest.mark.slow
@on_a_loop
async def test_an_account_whose_video_is_under_way_waits_for_the_others(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        here.maker.fails = True  # it stays under way until its lease ends
        lasting = await here.world.add_account("lasting@example.org")
        other = await here.world.add_account("other@example.org")
        await here.was_printed(lasting, 2)
        await here.was_printed(other)
        await here.make()
        here.making = replace(here.making)  # another worker
        await here.make()

        assert here.turns() == [lasting.email, other.email]


@on_a_loop
async def test_a_picture_that_takes_long_to_draw_is_not_shown(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        here.world.clock.advance(GAP)
        large = picture(progressive=True).replace(b"\x00\x18\x00\x20", b"\x14\x50\x0f\x00", 1)
        assert claimed_size(large) == (3840, 5200)
        await here.collector.add(here.key, large)
        await here.ends()

        assert here.maker.given == [here.taken]
