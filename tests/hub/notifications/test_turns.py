"""Messages beside one another: what hangs, takes its time, is removed or crashes harms no other."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract.events import EventType
from printreach.hub.notifications.sending import MESSAGES_OF_A_CLAIM, NotificationSender
from printreach.ports.notifications import NotSent
from printreach.rules.notifications import NewMessage
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.fakes.messages import RecordingMessenger
from tests.hub.notifications.test_enqueue import OTHER_KEY, reached
from tests.hub.world import BOB, OpenWorld, World


class Slow(RecordingMessenger):
    """Each message takes a while of the service's own time."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        self._world.clock.advance(NotificationSender.lease / 2)
        return await super().send(url, title, text)


class SlowOnce(Slow):
    """It takes the first message when it is told to."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.is_asked, self.answers = asyncio.Event(), asyncio.Event()

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        self.is_asked.set()
        await self.answers.wait()
        return await super().send(url, title, text)


class Hanging(RecordingMessenger):
    """One address never answers."""

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        if "hangs" in url:
            await asyncio.get_running_loop().create_future()
        return await super().send(url, title, text)


@on_a_loop
async def test_a_place_that_takes_its_time_stays_claimed(open_world: OpenWorld) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        ada.sending.messenger = ada.messenger = Slow(ada.world)
        await ada.happens([EventType.COMPLETE] * 5)
        begun = asyncio.create_task(ada.sending.begin_due())
        other = replace(ada.sending)
        async with asyncio.timeout(60):
            while len(ada.messenger.sent) < 5:
                await other.begin_due()
        await begun
        await ada.sending.settled()

        assert len(await ada.send()) == 5


@on_a_loop
async def test_a_place_that_was_removed_meanwhile_is_sent_no_more(open_world: OpenWorld) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination()
        slow = ada.sending.messenger = ada.messenger = SlowOnce(ada.world)
        await ada.happens([EventType.COMPLETE] * 5)
        await ada.sending.begin_due()
        async with asyncio.timeout(60):
            await slow.is_asked.wait()
        await ada.world.store.write(
            lambda records: records.notifications.remove_destination(ada.account_id, destination)
        )
        slow.answers.set()
        await ada.sending.settled()

        assert len(slow.sent) == 1


@on_a_loop
async def test_accounts_that_act_together_keep_no_other_waiting(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotificationSender, "stop_within_s", 0.0)
    async with reached(open_world) as ada:
        ada.sending.messenger = ada.messenger = Hanging()
        at = ada.world.clock.now()
        news = NewMessage(title="t", text="t", made_at=at, due_at=at)
        destinations = []
        for number in range(6):
            hostile = await ada.world.add_account(f"hostile{number}@example.org")
            destinations += [
                await ada.add_destination(
                    f"ntfys://hangs.example/{destination}", hostile.account_id
                )
                for destination in range(20)
            ]
        await ada.world.store.write(lambda records: records.notifications.queue(destinations, news))
        await ada.sending.begin_due()
        await ada.add_destination("ntfys://ntfy.sh/adas")
        await ada.happens([EventType.COMPLETE])
        await ada.sending.begin_due()
        async with asyncio.timeout(60):
            while not ada.messenger.sent:
                await ada.sending.begin_due()
                await asyncio.sleep(0.01)
        await ada.sending.close()

        assert [one.url for one in ada.messenger.sent] == ["ntfys://ntfy.sh/adas"]


@on_a_loop
async def test_a_place_that_hangs_for_ever_delays_no_other(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotificationSender, "stop_within_s", 0.0)
    async with reached(open_world) as ada:
        ada.sending.messenger = ada.messenger = Hanging()
        for number in range(8):
            await ada.add_destination(f"ntfys://hangs.example/{number}")
        bob = await ada.world.add_account(BOB)
        other = await ada.world.link_printer(BOB, OTHER_KEY)
        await ada.add_destination("ntfys://ntfy.sh/bobs", bob.account_id)
        await ada.happens([EventType.COMPLETE] * 3)
        await ada.happens([EventType.COMPLETE] * 7, other.printer_id)
        async with asyncio.timeout(60):
            while len(ada.messenger.sent) < 7:
                await ada.sending.begin_due()
                await asyncio.sleep(0.01)
        await ada.sending.close()

        assert {one.url for one in ada.messenger.sent} == {"ntfys://ntfy.sh/bobs"}


@on_a_loop
async def test_what_a_crash_interrupted_is_sent_when_its_lease_is_over(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotificationSender, "stop_within_s", 0.0)
    async with reached(open_world) as ada:
        crashing = replace(ada.sending, messenger=Hanging())
        await ada.add_destination("ntfys://hangs.example/1")
        await ada.happens([EventType.COMPLETE])
        await crashing.begin_due()
        await crashing.close()
        while_leased = list(await ada.send())
        ada.world.clock.advance(timedelta(minutes=11))

        assert while_leased == []
        assert await ada.send() == ["Workshop: print finished"]


@pytest.mark.slow
@on_a_loop
async def test_thousands_of_queued_messages_are_all_sent(open_world: OpenWorld) -> None:
    async with reached(open_world, limit=100_000) as ada:
        destinations = [
            await ada.add_destination(f"ntfys://ntfy.sh/{number}") for number in range(20)
        ]
        at = ada.world.clock.now()
        message = NewMessage(title="t", text="t", made_at=at, due_at=at)

        async def queue(records: Records) -> None:
            for _ in range(6 * MESSAGES_OF_A_CLAIM):
                await records.notifications.queue(destinations, message)

        await ada.world.store.write(queue)
        async with asyncio.timeout(100):
            while await ada.sending.begin_due():
                await ada.sending.settled()

        assert len(ada.messenger.sent) == len(destinations) * 6 * MESSAGES_OF_A_CLAIM
        for destination in destinations:
            assert (await ada.destination(destination)).sent_at == at
