"""Messages on their way: what fails, and a worker that stops."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract.events import EventType
from printreach.hub.notifications.sending import NotificationSender
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts.mails import Mail
from printreach.rules.notifications.channels import MAIL
from tests.fakes.loop import on_a_loop
from tests.hub.notifications.test_enqueue import reached
from tests.hub.world import OpenWorld


@on_a_loop
async def test_a_message_that_can_not_be_sent_holds_up_its_place_and_repeats_no_other(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination()
        send = ada.messenger.send

        async def stumble(url: str, title: str, text: str) -> NotSent | None:
            if ada.messenger.sent:
                raise RuntimeError("a fault of the test")
            return await send(url, title, text)

        monkeypatch.setattr(ada.messenger, "send", stumble)
        await ada.happens([EventType.COMPLETE, EventType.FAILED])
        await ada.send()
        assert (await ada.destination(destination)).failures == 1

        monkeypatch.undo()
        ada.world.clock.advance(timedelta(hours=1))
        assert len(set(await ada.send())) == len(ada.messenger.sent) == 2


@on_a_loop
async def test_a_mail_that_fails_by_a_fault_waits_for_its_next_try_like_any_other(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination("", channel=MAIL)

        async def stumble(_: Mail) -> NotSent | None:
            raise RuntimeError("a fault of the test")

        monkeypatch.setattr(ada.mailer, "hand_in", stumble)
        await ada.happens([EventType.COMPLETE])
        await ada.send()
        now = await ada.destination(destination)
        assert (now.failures, now.trouble) == (1, "The mail server did not accept the e-mail.")

        monkeypatch.undo()
        ada.world.clock.advance(timedelta(hours=1))
        await ada.send()
        assert len(ada.mailer.sent) == 1


@on_a_loop
async def test_what_was_taken_when_the_worker_stopped_does_not_come_twice(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotificationSender, "stop_within_s", 60.0)
    async with reached(open_world) as ada:
        await ada.add_destination()
        taken, send = asyncio.Event(), ada.messenger.send

        async def take_time(url: str, title: str, text: str) -> NotSent | None:
            await taken.wait()
            return await send(url, title, text)

        monkeypatch.setattr(ada.messenger, "send", take_time)
        await ada.happens([EventType.COMPLETE, EventType.FAILED])
        await ada.sending.begin_due()
        stopping = asyncio.create_task(ada.sending.close())
        await asyncio.sleep(0)
        taken.set()
        await stopping
        ada.world.clock.advance(NotificationSender.lease)
        again = replace(ada.sending)
        await again.begin_due()
        await again.settled()

        titles = [one.title for one in ada.messenger.sent]
        assert len(set(titles)) == len(titles) == 2


@pytest.mark.parametrize("ahead", [timedelta(days=400), timedelta(hours=10)])
@on_a_loop
async def test_a_clock_that_was_ahead_silences_no_place(
    open_world: OpenWorld, ahead: timedelta
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        ada.world.clock.advance(ahead)
        ada.messenger.answer = NotSent(SendFailure.UNREACHABLE)
        await ada.happens([EventType.COMPLETE])
        assert len(await ada.send()) == 1
        ada.world.clock.advance(-ahead)
        ada.messenger.answer = None
        await ada.happens([EventType.FAILED])
        await ada.sending.tidy()

        assert len(set(await ada.send())) == 2
