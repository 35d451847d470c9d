"""Sends queued notifications: destinations are claimed one by one, and failures are retried.

A claimed destination belongs to one task, so one that hangs delays no other.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar, Final

from printreach.hub.leased_queue import LeasedQueue
from printreach.hub.notifications.push import PushNotifier
from printreach.hub.print_mails import stop_token
from printreach.hub.printers.access import role_at_event
from printreach.languages import N_, speaking
from printreach.ports.notifications import Mailer, Messenger, NotSent, Sealer, SendFailure
from printreach.rules.accounts import Account
from printreach.rules.accounts.mails import Mails
from printreach.rules.notifications import (
    DESTINATIONS_AT_ONCE,
    GIVEN_UP_AFTER,
    Destination,
    QueuedMessage,
    next_try,
)
from printreach.rules.notifications.channels import MAIL, PUSH
from printreach.rules.notifications.push import ACT_LIFETIME, ACTS_KEPT_FOR
from printreach.store.leases import Claim
from printreach.store.store import Records

log = logging.getLogger(__name__)

MESSAGES_OF_A_CLAIM: Final = 20
"""After these the destination waits for its next turn, after the others."""
RENEW_AFTER: Final = timedelta(seconds=30)
"""A third of the lease."""
MAX_POSTPONED: Final = timedelta(hours=26)
"""Quiet hours may last a day, and one in which clocks go back has 25 hours."""


@dataclass(kw_only=True)
class NotificationSender(LeasedQueue[Destination]):
    """The queue of destinations that have messages. lease: longer than two messages can take."""

    item_name: ClassVar[str] = "destination"
    lease: ClassVar[timedelta] = timedelta(seconds=90)
    at_once: ClassVar[int] = DESTINATIONS_AT_ONCE
    batch: ClassVar[int] = DESTINATIONS_AT_ONCE
    stop_within_s: ClassVar[float] = 2.0

    messenger: Messenger
    sealer: Sealer
    mailer: Mailer
    push: PushNotifier

    def key(self, item: Destination) -> str:
        return item.destination_id

    async def has_due(self, records: Records, at: datetime) -> bool:
        return await records.notifications.has_due(at)

    async def claim(self, records: Records, claim: Claim) -> Sequence[Destination]:
        return await records.notifications.claim(claim)

    async def handle(self, item: Destination) -> None:
        """Send the oldest messages until one fails; then release the destination."""
        due = await self.core.store.read(
            lambda records: records.notifications.due_messages(
                item.destination_id, self.core.clock.now(), MESSAGES_OF_A_CLAIM
            )
        )
        claimed = item
        sent: list[QueuedMessage] = []
        trouble: NotSent | None = None
        renewed_at = self.core.clock.now()
        for message in due:
            if self.stopping.is_set():
                break
            if abs(self.core.clock.now() - renewed_at) >= RENEW_AFTER:
                renewed_at = self.core.clock.now()
                renewed = await self._renew(claimed, sent)
                if renewed is None:
                    return  # it was removed, or another worker has it
                claimed, sent = renewed, []
            account = await self.core.store.read(lambda records: _reached(records, item))
            if account is None:
                break  # its messages are gone, too
            may_know = partial(_may_know, destination=item, message=message)
            if not await self.core.store.read(may_know):
                sent.append(message)  # deleted with those, and not sent
                continue
            trouble = await self._send(account, item, message)
            if trouble is not None:
                break
            sent.append(message)
        await self._settle(claimed, sent, trouble)

    async def tidy(self) -> None:
        """Repair times that a clock ahead of time has stored. Raises StoreUnavailable."""
        at = self.core.clock.now()
        await self.core.store.write(
            lambda records: records.notifications.mend_times(at, at + MAX_POSTPONED)
        )

    async def forget_acts(self) -> None:
        """Delete buttons of notifications that are over, and what was done long ago."""
        at = self.core.clock.now()
        await self.core.store.write(
            lambda records: records.pushes.forget(at - ACT_LIFETIME, at - ACTS_KEPT_FOR)
        )

    # --- helpers ----------------------------------------------------------------------------------

    async def _renew(
        self, claimed: Destination, sent: Sequence[QueuedMessage]
    ) -> Destination | None:
        """Delete the messages sent so far and renew the claim; None if it was lost."""
        until = self.core.clock.now() + self.lease

        async def note(records: Records) -> Destination | None:
            await records.notifications.drop_messages([message.message_id for message in sent])
            return await records.notifications.renew(claimed, until)

        return await self.core.store.write(note)

    async def _send(
        self, account: Account, destination: Destination, message: QueuedMessage
    ) -> NotSent | None:
        if destination.channel == PUSH:
            with speaking(account.language_of_messages):
                return await self.push.send(destination, message)
        if destination.channel != MAIL:
            return await send_to(
                self.messenger, self.sealer, destination, message.title, message.text
            )
        if not self.core.has_mail_server:
            return NotSent(SendFailure.NO_MAIL_SERVER)
        if account.verified_at is None:
            return NotSent(SendFailure.NOT_ALLOWED)
        stop_url = self.core.addresses.of_end_of_mails(
            stop_token(self.sealer, destination.destination_id)
        )
        mails = Mails(self.core.addresses.base_url, account.language_of_messages)
        mail = mails.about_print(account.email, message.title, message.text, stop_url)
        try:
            return await self.mailer.hand_in(mail)
        except Exception as error:  # noqa: BLE001  # a mail that can't be made must not come for ever
            log.error("an e-mail could not be handed to the mail server: %s", type(error).__name__)
            return NotSent(SendFailure.MAIL_REFUSED)

    async def _settle(
        self, claimed: Destination, sent: Sequence[QueuedMessage], trouble: NotSent | None
    ) -> None:
        """Delete the messages that were sent, store the outcome, and release the claim.

        A browser that takes no more messages is removed.
        """
        at = self.core.clock.now()
        if trouble is not None and trouble.trouble is SendFailure.DEVICE_GONE:
            await self.core.store.write(
                lambda records: records.notifications.remove_destination(
                    claimed.account_id, claimed.destination_id
                )
            )
            return
        failures, not_before = 0 if sent else claimed.failures, None
        words = "" if sent else claimed.trouble
        if trouble is not None:
            failures = 1 if sent else claimed.failures + 1
            not_before = next_try(failures, at, trouble.retry_after)
            words = in_words(trouble)

        async def settle(records: Records) -> None:
            await records.notifications.drop_messages([message.message_id for message in sent])
            if trouble is not None:
                await records.notifications.drop_older(claimed.destination_id, at - GIVEN_UP_AFTER)
            await records.notifications.release(
                claimed,
                not_before=not_before,
                sent_at=at if sent else None,
                failures=failures,
                trouble=words,
            )

        await self.core.store.write(settle)


async def _reached(records: Records, destination: Destination) -> Account | None:
    """Return its account; None if it was removed or its owner blocked since it was claimed."""
    is_there = await records.notifications.destination(destination.destination_id) is not None
    account = await records.accounts.get(destination.account_id) if is_there else None
    return None if account is None or account.is_blocked else account


async def _may_know(records: Records, destination: Destination, message: QueuedMessage) -> bool:
    """Return whether the person may still be told: a printer may be shared no longer."""
    stored = None if message.event_seq is None else await records.events.at(message.event_seq)
    return stored is None or (
        await role_at_event(records, destination.account_id, stored) is not None
    )


async def send_to(
    messenger: Messenger, sealer: Sealer, destination: Destination, title: str, text: str
) -> NotSent | None:
    """Send to a destination other than mail. None if it was accepted."""
    url = sealer.unseal(destination.sealed, destination.destination_id)
    if url is None:
        return NotSent(SendFailure.NOT_ALLOWED)
    try:
        return await messenger.send(url, title, text)
    except Exception as error:  # noqa: BLE001  # what answers there must not hold up the place
        # The exception's text may contain an address; its type does not.
        log.error("a message could not be sent: %s", type(error).__name__)
        return NotSent(SendFailure.UNREACHABLE)


NO_MAIL_SERVER: Final = N_(
    "This service has no mail server, so it can't send you e-mail. Add another channel, or ask the "
    "operator to set up a mail server."
)


def in_words(trouble: NotSent) -> str:
    """Return the sentence that a person reads about it."""
    match trouble.trouble:
        case SendFailure.NOT_ALLOWED:
            return N_(
                "This channel can't be used: its address isn't a public one, or lacks TLS. Add it "
                "again."
            )
        case SendFailure.UNREACHABLE:
            return N_("Nobody answered at that address.")
        case SendFailure.TOO_SLOW:
            return N_("The service took too long to answer.")
        case SendFailure.NO_MAIL_SERVER:
            return NO_MAIL_SERVER
        case SendFailure.MAIL_SERVER_AWAY:
            return N_("The mail server of this service can't be reached now.")
        case SendFailure.NOBODY_THERE:
            return N_(
                "The mail server accepts no e-mail for your address: it answered %(status)s.",
                status=trouble.status,
            )
        case SendFailure.MAIL_REFUSED:
            if trouble.status is None:
                return N_("The mail server did not accept the e-mail.")
            return N_(
                "The mail server did not accept the e-mail: it answered %(status)s.",
                status=trouble.status,
            )
        case SendFailure.DEVICE_GONE:
            return N_("That browser no longer accepts notifications, so it was removed.")
        case SendFailure.REFUSED:
            return _REFUSALS.get(
                trouble.status or 0,
                N_("The service answered with status %(status)s.", status=trouble.status),
            )


_REFUSALS: Final = {
    401: N_("The service refused the key or token."),
    403: N_("The service refused the key or token."),
    404: N_("The service doesn't know this channel. It may have been deleted."),
    410: N_("The service doesn't know this channel. It may have been deleted."),
    429: N_("The service asks for fewer messages for a while."),
}
