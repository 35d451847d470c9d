"""Delivers the queued mails about accounts, one after the other, and tries them again.

A mail may come twice after a crash, and is never lost in one. A mail that the mail server does not
accept before its link expires, or for a day, is not tried any more. It is given up once the clock
is to be trusted about that; the log says so without its text.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.leased_queue import LeasedQueue
from printreach.ports.notifications import Mailer, NotSent, SendFailure
from printreach.rules.accounts.mails import next_mail_try
from printreach.store.accounts.mails import WaitingMail
from printreach.store.leases import Claim
from printreach.store.store import Records

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class MailDelivery(LeasedQueue[WaitingMail]):
    """The queue of mails about accounts. lease: longer than one try can take."""

    item_name: ClassVar[str] = "mail"
    lease: ClassVar[timedelta] = timedelta(seconds=90)
    at_once: ClassVar[int] = 1
    batch: ClassVar[int] = 1
    stop_within_s: ClassVar[float] = 2.0

    mailer: Mailer
    outbox: SealedOutbox
    clock_history: ClockHistory

    def key(self, item: WaitingMail) -> str:
        return item.mail_id

    async def has_due(self, records: Records, at: datetime) -> bool:
        return await records.mails.has_due(at)

    async def claim(self, records: Records, claim: Claim) -> Sequence[WaitingMail]:
        return await records.mails.claim(claim)

    async def handle(self, item: WaitingMail) -> None:
        """Try once to hand the mail in."""
        trouble = await self._hand_in(item)
        if trouble is None:
            await self.core.store.write(lambda records: records.mails.remove(item.mail_id))
            return
        failures = item.failures + 1
        due_at = next_mail_try(failures, self.core.clock.now())
        await self.core.store.write(lambda records: records.mails.release(item, due_at, failures))

    async def forget_outdated(self) -> None:
        """Give up the mails whose time is over. Raises StoreUnavailable."""
        before = self.clock_history.confirmed_time(self.core.clock.now())
        if before is None:
            return
        given_up = await self.core.store.write(
            lambda records: records.mails.forget_outdated(before)
        )
        if given_up:
            log.error("%d e-mails could not be delivered in time and are given up", given_up)

    async def _hand_in(self, waiting: WaitingMail) -> NotSent | None:
        """Send the mail; None where nothing is left to do."""
        mail = self.outbox.open(waiting)
        if mail is None:
            log.error("a queued e-mail can't be opened by any key and is given up")
            return None
        try:
            trouble = await self.mailer.hand_in(mail)
        except Exception as error:  # noqa: BLE001  # a mail that can't be made must not come for ever
            log.error("an e-mail could not be handed to the mail server: %s", type(error).__name__)
            return None
        if trouble is not None and trouble.trouble is SendFailure.NOBODY_THERE:
            log.warning("the mail server refused a recipient, who gets no e-mail")
            return None
        return trouble
