"""Sends queued notifications: destinations are claimed one by one, and failures are retried.

A claimed destination belongs to one task, so one that hangs delays no other.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from printreach.hub.print_mails import stop_token
from printreach.ports import Clock, StoreUnavailable
from printreach.ports.notifications import Mailer, Messenger, NotSent, Sealer, Trouble
from printreach.rules.accounts import Account
from printreach.rules.addresses import Addresses
from printreach.rules.mails import Mails
from printreach.rules.notifications import GIVEN_UP_AFTER, Destination, QueuedMessage, next_try
from printreach.rules.notify_channels import MAIL
from printreach.rules.notify_turns import DESTINATIONS_AT_ONCE
from printreach.store.store import Records, Store

log = logging.getLogger(__name__)

STOP_WITHIN_S: Final = 2.0
"""A message that is sent by then does not come twice. Webhooks have their own five seconds."""
MESSAGES_OF_A_CLAIM: Final = 20
"""After these the destination waits for its next turn, after the others."""
LEASE: Final = timedelta(seconds=90)
"""Longer than two messages can take. A worker that does not renew it has died."""
RENEW_AFTER: Final = LEASE / 3
PUT_OFF_AT_MOST: Final = timedelta(hours=26)
"""Quiet hours may last a day, and one in which clocks go back has 25 hours."""


@dataclass(kw_only=True, slots=True)
class NotificationSender:
    """One pass at a time: `send_due`.

    has_mail_server: without one, no mail is sent about prints.
    """

    store: Store
    clock: Clock
    messenger: Messenger
    sealer: Sealer
    mailer: Mailer
    addresses: Addresses
    has_mail_server: bool
    _running: set[asyncio.Task[None]] = field(default_factory=set)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)
    _on_freed: Callable[[], None] = lambda: None

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Have this called when a destination was released: others may wait for its slot."""
        self._on_freed = callback

    async def send_due(self) -> int:
        """Begin to send to every destination with due messages; return how many. Raises
        StoreUnavailable.

        Returns when nothing more is due, while slow destinations go on.
        """
        begun = 0
        while claimed := await self._claim():
            begun += len(claimed)
            for destination in claimed:
                task = asyncio.create_task(self._send_to(destination))
                self._running.add(task)
                task.add_done_callback(self._is_done)
            await self._room()
        return begun

    async def tidy(self) -> None:
        """Repair times that a clock ahead of time has stored. Raises StoreUnavailable."""
        at = self.clock.now()
        await self.store.write(
            lambda records: records.notifications.mend_times(at, at + PUT_OFF_AT_MOST)
        )

    async def settled(self) -> None:
        """Wait until nothing is being sent."""
        while self._running:
            await asyncio.gather(*self._running, return_exceptions=True)

    async def close(self) -> None:
        """Stop; what takes too long is sent by the next start, after its lease has run out."""
        self._stopping.set()
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_WITHIN_S)
        for task in list(self._running):
            task.cancel()
        await self.settled()

    # --- helpers ----------------------------------------------------------------------------------

    async def _claim(self) -> list[Destination]:
        room = DESTINATIONS_AT_ONCE - len(self._running)
        at = self.clock.now()
        # A read does not wait for the writer, and most passes find nothing.
        due_at = await self.store.read(lambda records: records.notifications.next_due(at))
        if room <= 0 or due_at is None or due_at > at:
            return []
        return await self.store.write(
            lambda records: records.notifications.claim(at, at + LEASE, room)
        )

    async def _room(self) -> None:
        while len(self._running) >= DESTINATIONS_AT_ONCE:
            self._freed.clear()
            await self._freed.wait()

    def _is_done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._freed.set()
        self._on_freed()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a place could not be served", exc_info=error)

    async def _send_to(self, destination: Destination) -> None:
        """Send the oldest messages until one fails; then release the destination."""
        due = await self.store.read(
            lambda records: records.notifications.due_messages(
                destination.destination_id, self.clock.now(), MESSAGES_OF_A_CLAIM
            )
        )
        sent: list[QueuedMessage] = []
        trouble: NotSent | None = None
        renewed_at = self.clock.now()
        for message in due:
            if self._stopping.is_set():
                break
            if abs(self.clock.now() - renewed_at) >= RENEW_AFTER:
                renewed_at = self.clock.now()
                if not await self._renew(destination, sent):
                    return  # it was removed, and its messages with it
                sent = []
            account = await self.store.read(lambda records: _reached(records, destination))
            if account is None:
                break  # its messages are gone, too
            trouble = await self._send(account, destination, message)
            if trouble is not None:
                break
            sent.append(message)
        try:
            await self.store.write(
                lambda records: self._let_go(records, destination, sent, trouble)
            )
        except StoreUnavailable as error:
            log.warning("what was sent to a place is not noted, it may come twice: %s", error)

    async def _renew(self, destination: Destination, sent: Sequence[QueuedMessage]) -> bool:
        """Delete the messages sent so far and renew the claim; False if the destination was
        removed."""
        until = self.clock.now() + LEASE

        async def note(records: Records) -> bool:
            await records.notifications.drop_messages([one.message_id for one in sent])
            return await records.notifications.renew(destination.destination_id, until)

        return await self.store.write(note)

    async def _send(
        self, account: Account, destination: Destination, message: QueuedMessage
    ) -> NotSent | None:
        if destination.channel != MAIL:
            return await send_to(
                self.messenger, self.sealer, destination, message.title, message.text
            )
        if not self.has_mail_server:
            return NotSent(Trouble.NO_MAIL_SERVER)
        if account.verified_at is None:
            return NotSent(Trouble.NOT_ALLOWED)
        stop_url = self.addresses.of_end_of_mails(
            stop_token(self.sealer, destination.destination_id)
        )
        mails = Mails(self.addresses.base_url)
        mail = mails.about_print(account.email, message.title, message.text, stop_url)
        try:
            return await self.mailer.hand_in(mail)
        except Exception as error:  # noqa: BLE001  # a mail that can't be made must not come for ever
            log.error("a mail could not be handed in: %s", type(error).__name__)
            return NotSent(Trouble.MAIL_REFUSED)

    async def _let_go(
        self,
        records: Records,
        destination: Destination,
        sent: list[QueuedMessage],
        trouble: NotSent | None,
    ) -> None:
        at = self.clock.now()
        await records.notifications.drop_messages([one.message_id for one in sent])
        failures, not_before = 0 if sent else destination.failures, None
        words = "" if sent else destination.trouble
        if trouble is not None:
            failures = 1 if sent else destination.failures + 1
            not_before, words = next_try(failures, at), in_words(trouble)
            await records.notifications.drop_older(destination.destination_id, at - GIVEN_UP_AFTER)
        await records.notifications.release(
            destination.destination_id,
            not_before=not_before,
            sent_at=at if sent else None,
            failures=failures,
            trouble=words,
        )


async def _reached(records: Records, destination: Destination) -> Account | None:
    """Return its account; None if it was removed or its owner blocked since it was claimed."""
    is_there = await records.notifications.destination(destination.destination_id) is not None
    account = await records.accounts.get(destination.account_id) if is_there else None
    return None if account is None or account.is_blocked else account


async def send_to(
    messenger: Messenger, sealer: Sealer, destination: Destination, title: str, text: str
) -> NotSent | None:
    """Send to a destination other than mail. None if it was accepted."""
    url = sealer.unseal(destination.sealed, destination.destination_id)
    if url is None:
        return NotSent(Trouble.NOT_ALLOWED)
    try:
        return await messenger.send(url, title, text)
    except Exception as error:  # noqa: BLE001  # what answers there must not hold up the place
        # The exception's text may contain an address; its type does not.
        log.error("a message could not be sent: %s", type(error).__name__)
        return NotSent(Trouble.UNREACHABLE)


NO_MAIL_SERVER: Final = (
    "This service has no mail server, so no mail reaches you. Add another place, or ask the "
    "operator to set a mail server up."
)


def in_words(trouble: NotSent) -> str:
    """Return the sentence that a person reads about it."""
    match trouble.trouble:
        case Trouble.NOT_ALLOWED:
            return "This place can't be used: its address isn't a public one. Add it again."
        case Trouble.UNREACHABLE:
            return "Nobody answered at that address."
        case Trouble.TOO_SLOW:
            return "The service took too long to answer."
        case Trouble.NO_MAIL_SERVER:
            return NO_MAIL_SERVER
        case Trouble.MAIL_SERVER_AWAY:
            return "The mail server of this service can't be reached now."
        case Trouble.NOBODY_THERE:
            return f"The mail server takes no mail for your address: it answered {trouble.status}."
        case Trouble.MAIL_REFUSED:
            answer = "" if trouble.status is None else f": it answered {trouble.status}"
            return f"The mail server did not take the mail{answer}."
        case Trouble.REFUSED:
            return _REFUSALS.get(
                trouble.status or 0, f"The service answered with status {trouble.status}."
            )


_REFUSALS: Final = {
    401: "The service refused the key or token.",
    403: "The service refused the key or token.",
    404: "The service knows no such place. It may have been deleted.",
    410: "The service knows no such place. It may have been deleted.",
    429: "The service asks to be left in peace for a while.",
}
