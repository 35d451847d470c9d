"""Mails about accounts wait in the store until the mail server has them."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from printreach.hub.account_mailer import AccountMailer, SealedOutbox
from printreach.hub.accounts.mail_queue import MailDelivery
from printreach.hub.clock_jumps import ClockHistory
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts.mails import (
    LIFETIMES,
    NEWS_LASTS,
    Mail,
    MailPurpose,
    Mails,
    next_mail_try,
)
from printreach.store.accounts.mails import WaitingMail
from printreach.store.leases import Claim
from printreach.store.sealing import KeySealer
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.fakes.mails import RecordingMailer
from tests.hub.world import ADA, OpenWorld, World

AWAY = NotSent(SendFailure.MAIL_SERVER_AWAY)
SECRET = "s3cret-of-a-link"
TOLD = "Your password was changed"
LEASE = MailDelivery.lease
A_DAY = timedelta(days=1)


class Office:
    """An outbox and who empties it; the mails that the server was handed."""

    def __init__(self, world: World, key: bytes = b"s" * 32) -> None:
        self.world = world
        self.server = RecordingMailer()
        self.steady_s = 0.0
        outbox = SealedOutbox(
            sealer=KeySealer(key, secrets.token_bytes), token_bytes=secrets.token_bytes
        )
        self.account_mailer = AccountMailer(
            outbox=outbox,
            mails=Mails("https://reach.example"),
            token_bytes=lambda _count: SECRET.encode(),
        )
        self.mailing = MailDelivery(
            core=world.core,
            mailer=self.server,
            outbox=outbox,
            clock_history=ClockHistory(lambda: self.steady_s),
        )

    async def tell(self, text: str = "") -> None:
        """A mail is put on its way."""
        mail = Mail(to=ADA, subject=TOLD, text=text)
        at = self.world.clock.now()
        await self.world.store.write(lambda records: self.account_mailer.tell(records, mail, at))

    async def after(self, time: timedelta) -> int:
        """Refresh so much later; how many mails the server was handed by then."""
        self.world.clock.advance(time)
        self.steady_s += time.total_seconds()
        await self.deliver()
        return len(self.server.sent)

    def next_claim(self) -> Claim:
        """A worker's claim of one mail, now."""
        at = self.world.clock.now()
        return Claim(token="t", at=at, until=at + LEASE, at_most=1)

    async def jump(self, time: timedelta) -> int:
        """The clock is set, while no time goes by; how many mails the server was handed by then."""
        self.steady_s -= time.total_seconds()
        return await self.after(time)

    async def deliver(self) -> None:
        """Try all that is due, and give up what is outdated."""
        while await self.mailing.begin_due():
            await self.mailing.settled()
        await self.mailing.forget_outdated()


@asynccontextmanager
async def office(open_world: OpenWorld) -> AsyncIterator[Office]:
    async with open_world() as world:
        yield Office(world)


def all_bytes(folder: Path) -> bytes:
    """Of the database and its journal."""
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


@on_a_loop
async def test_a_mail_is_delivered_once_and_in_the_order_of_the_others(
    open_world: OpenWorld,
) -> None:
    async with office(open_world) as here:
        for text in ("one", "two", "three"):
            await here.tell(text)
            here.world.clock.advance(timedelta(seconds=1))
        await here.deliver()
        await here.after(timedelta(days=2))

        assert [mail.text for mail in here.server.sent] == ["one", "two", "three"]


@on_a_loop
async def test_a_mail_of_what_did_not_happen_is_never_sent(open_world: OpenWorld) -> None:
    async with office(open_world) as here:
        mail, at = Mail(to=ADA, subject=TOLD, text=""), here.world.clock.now()

        async def fail(records: Records) -> None:
            await here.account_mailer.tell(records, mail, at)
            raise RuntimeError("the unit of work broke off")

        with pytest.raises(RuntimeError):
            await here.world.store.write(fail)

        assert await here.after(timedelta()) == 0


@on_a_loop
async def test_a_server_that_is_away_is_tried_again_ever_more_seldom(
    open_world: OpenWorld,
) -> None:
    async with office(open_world) as here:
        here.server.answer = AWAY
        await here.tell()
        tries = [await here.after(timedelta())]
        for failures in range(1, 5):
            now = here.world.clock.now()
            wait = next_mail_try(failures, now) - now
            tries.append(await here.after(wait - timedelta(seconds=1)))
            tries.append(await here.after(timedelta(seconds=1)))

        assert tries == [1, 1, 2, 2, 3, 3, 4, 4, 5]
        here.server.answer = None
        assert await here.after(timedelta(hours=3)) == 6
        assert await here.after(timedelta(hours=12)) == 6


@on_a_loop
async def test_a_mail_that_waited_for_a_day_is_not_tried_again_and_the_log_says_that_it_is_given_up(
    open_world: OpenWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async with office(open_world) as here:
        here.server.answer = AWAY
        await here.tell(SECRET)
        tries = await here.after(timedelta())
        here.server.answer = None

        assert await here.after(NEWS_LASTS) == tries
        assert await here.after(A_DAY + timedelta(hours=1)) == tries
        assert "1 e-mails could not be delivered in time" in caplog.text
        assert ADA not in caplog.text
        assert SECRET not in caplog.text


@on_a_loop
async def test_a_link_is_mailed_for_as_long_as_it_is_good(open_world: OpenWorld) -> None:
    async with office(open_world) as here:
        account, at = await here.world.add_account(), here.world.clock.now()
        await here.world.store.write(
            lambda records: here.account_mailer.mail_link(records, MailPurpose.RESET, account, at)
        )

        assert await here.after(LIFETIMES[MailPurpose.RESET]) == 0


@on_a_loop
async def test_a_recipient_that_no_server_knows_is_let_be(open_world: OpenWorld) -> None:
    async with office(open_world) as here:
        here.server.answer = NotSent(SendFailure.NOBODY_THERE, 550)
        await here.tell()
        await here.after(timedelta())

        assert await here.after(timedelta(hours=4)) == 1


@on_a_loop
async def test_after_a_crash_in_mid_delivery_the_next_start_sends_it(
    open_world: OpenWorld,
) -> None:
    async with office(open_world) as here:
        await here.tell()
        await here.world.store.write(lambda records: records.mails.claim(here.next_claim()))

        assert await here.after(LEASE - timedelta(seconds=1)) == 0
        assert await here.after(timedelta(seconds=1)) == 1


@on_a_loop
async def test_a_clock_that_was_ahead_silences_nothing(open_world: OpenWorld) -> None:
    async with office(open_world) as here:
        here.world.clock.advance(timedelta(days=400))
        await here.tell()
        here.world.clock.advance(timedelta(days=-400))

        assert await here.after(timedelta()) == 1


@pytest.mark.parametrize("up_for", [timedelta(0), 2 * A_DAY])
@on_a_loop
async def test_a_clock_that_jumps_days_ahead_and_is_set_right_gives_up_no_mail(
    open_world: OpenWorld, up_for: timedelta
) -> None:
    async with office(open_world) as here:
        for _ in range(int(up_for / timedelta(hours=1))):
            await here.after(timedelta(hours=1))
        here.server.answer = AWAY
        await here.tell()
        tries = await here.after(timedelta())
        here.server.answer = None

        assert await here.jump(3 * A_DAY) == tries
        assert await here.after(timedelta(hours=5)) == tries
        assert await here.jump(-3 * A_DAY) == tries + 1


@on_a_loop
async def test_a_mail_that_is_being_handed_in_is_not_handed_in_again_when_the_clock_jumps(
    open_world: OpenWorld,
) -> None:
    async with office(open_world) as here:
        is_taken = asyncio.Event()
        here.server.is_ready = is_taken
        await here.tell()
        assert await here.mailing.begin_due() == 1
        here.world.clock.advance(2 * LEASE)
        assert await here.mailing.begin_due() == 0
        is_taken.set()
        await here.mailing.settled()

        assert await here.after(timedelta()) == 1


@on_a_loop
async def test_a_worker_that_lost_its_claim_of_a_mail_does_not_release_the_claim_of_another(
    open_world: OpenWorld,
) -> None:
    async with office(open_world) as here:
        await here.tell()

        async def claim(records: Records) -> WaitingMail:
            [mail] = await records.mails.claim(here.next_claim())
            return mail

        first = await here.world.store.write(claim)
        here.world.clock.advance(LEASE)
        second = await here.world.store.write(claim)
        at = here.world.clock.now()
        await here.world.store.write(lambda records: records.mails.release(first, at, 1))
        assert await here.after(timedelta()) == 0
        await here.world.store.write(lambda records: records.mails.release(second, at, 1))
        assert await here.after(timedelta()) == 1


@on_a_loop
async def test_a_link_lies_in_no_file_of_the_store(open_world: OpenWorld) -> None:
    async with office(open_world) as here:
        account, at = await here.world.add_account(), here.world.clock.now()
        await here.world.store.write(
            lambda records: here.account_mailer.mail_link(records, MailPurpose.RESET, account, at)
        )
        token = here.account_mailer.link(MailPurpose.RESET, "")

        assert b"reach.example/reset/new" not in all_bytes(here.world.data_dir)
        assert await here.after(timedelta()) == 1
        assert token in here.server.sent[0].text


@on_a_loop
async def test_what_no_key_opens_is_given_up_and_holds_up_nothing(
    open_world: OpenWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async with office(open_world) as here:
        await Office(here.world, key=b"o" * 32).tell("of another key")
        await here.tell("ours")
        await here.after(timedelta())

        assert [mail.text for mail in here.server.sent] == ["ours"]
        assert "can't be opened" in caplog.text


@on_a_loop
async def test_mails_that_pile_up_are_dropped_and_the_log_says_so(
    open_world: OpenWorld, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("printreach.store.accounts.mails.MAX_WAITING", 2)
    async with office(open_world) as here:
        for _ in range(3):
            await here.tell()

        assert await here.after(timedelta()) == 2
        assert caplog.text.count("an e-mail was dropped") == 1


# --- closing while a claim is under way -----------------------------------------------------------


async def close_during_a_claim(
    here: Office, monkeypatch: pytest.MonkeyPatch, *, is_claimed: bool
) -> int:
    """Close the queue when it has looked what is due, or has claimed it; how many it began."""
    step = "claim" if is_claimed else "has_due"
    take = getattr(here.mailing, step)

    async def take_then_close(*arguments: object) -> object:
        found = await take(*arguments)
        await here.mailing.close()
        return found

    monkeypatch.setattr(here.mailing, step, take_then_close)
    begun = await here.mailing.begin_due()
    await here.mailing.settled()
    return begun


@on_a_loop
async def test_a_mail_that_is_due_while_its_queue_closes_is_left_to_other_workers(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office(open_world) as here:
        await here.tell()
        assert await close_during_a_claim(here, monkeypatch, is_claimed=False) == 0
        other = Office(here.world)

        assert await other.after(timedelta()) == 1
        assert here.server.sent == []


@on_a_loop
async def test_a_mail_that_was_claimed_while_its_queue_closed_is_sent_once_its_lease_ends(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office(open_world) as here:
        await here.tell()
        assert await close_during_a_claim(here, monkeypatch, is_claimed=True) == 0
        other = Office(here.world)

        assert await other.after(timedelta()) == 0
        assert await other.after(LEASE) == 1
        assert await other.after(LEASE) == 1
        assert here.server.sent == []
