"""When a push service that took no message is tried again."""

from datetime import timedelta

from printreach.ports.notifications import NotSent, SendFailure
from tests.fakes.loop import on_a_loop
from tests.hub.notifications.test_push import pushed
from tests.hub.world import OpenWorld


@on_a_loop
async def test_a_push_service_that_asks_to_wait_is_tried_again(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        phone.ada.push.answer = NotSent(SendFailure.REFUSED, 429)
        await phone.warn()
        await phone.ada.send()
        [waiting] = await phone.listed()
        phone.ada.push.answer = None
        phone.ada.world.clock.advance(timedelta(seconds=31))
        await phone.ada.send()
        [told] = await phone.listed()

        assert waiting.failures == 1
        assert (told.failures, told.trouble) == (0, "")
        assert told.sent_at is not None
        assert len(phone.ada.push.sent) == 2


@on_a_loop
async def test_a_push_service_is_not_called_before_the_time_that_it_asked_for(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        asked = timedelta(minutes=20)
        phone.ada.push.answer = NotSent(SendFailure.REFUSED, 429, asked)
        await phone.warn()
        await phone.ada.send()
        phone.ada.push.answer = None
        phone.ada.world.clock.advance(asked - timedelta(seconds=1))
        await phone.ada.send()
        assert len(phone.ada.push.sent) == 1

        phone.ada.world.clock.advance(timedelta(seconds=2))
        await phone.ada.send()
        assert len(phone.ada.push.sent) == 2
