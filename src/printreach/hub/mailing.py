"""Delivers the queued mails about accounts: claimed one by one, sent, and retried.

A mail may come twice after a crash, and is never lost in one. A mail that the mail server does not
accept before its link expires, or for a day, is given up; the log says so without its text.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from printreach.hub.account_mailer import SealedOutbox
from printreach.ports import Clock, Mailer
from printreach.ports.mail import WaitingMail
from printreach.ports.notifications import NotSent, Trouble
from printreach.rules.mails import next_mail_try
from printreach.store.store import Records, Store

LEASE: Final = timedelta(seconds=90)
"""Longer than one try can take. A worker that exceeds it has died."""

log = logging.getLogger(__name__)


@dataclass(kw_only=True, slots=True)
class MailDelivery:
    """One pass at a time: `send_due`."""

    store: Store
    clock: Clock
    mailer: Mailer
    outbox: SealedOutbox

    async def send_due(self) -> None:
        """Try each due mail, one after the other. Raises StoreUnavailable."""
        # A read does not wait for the writer, and most passes find nothing.
        if await self.store.read(lambda records: records.mails.next_due()) is None:
            return
        await self._give_up_what_is_over()
        while (waiting := await self._claim()) is not None:
            await self._try(waiting)

    async def _give_up_what_is_over(self) -> None:
        at = self.clock.now()
        given_up = await self.store.write(lambda records: records.mails.forget_over(at))
        if given_up:
            log.error("%d mails were not delivered in time and are given up", given_up)

    async def _claim(self) -> WaitingMail | None:
        at = self.clock.now()
        return await self.store.write(lambda records: records.mails.claim(at, at + LEASE))

    async def _try(self, waiting: WaitingMail) -> None:
        trouble = await self._hand_in(waiting)
        if trouble is None:
            await self.store.write(lambda records: records.mails.remove(waiting.mail_id))
        else:
            await self.store.write(lambda records: self._put_off(records, waiting))

    async def _put_off(self, records: Records, waiting: WaitingMail) -> None:
        failures = waiting.failures + 1
        due_at = next_mail_try(failures, self.clock.now())
        await records.mails.put_off(waiting.mail_id, due_at, failures)

    async def _hand_in(self, waiting: WaitingMail) -> NotSent | None:
        """Send the mail; None where nothing is left to do."""
        mail = self.outbox.open(waiting)
        if mail is None:
            log.error("a mail that waited can't be opened by any key, and is given up")
            return None
        try:
            trouble = await self.mailer.hand_in(mail)
        except Exception as error:  # noqa: BLE001  # a mail that can't be made must not come for ever
            log.error("a mail could not be handed in: %s", type(error).__name__)
            return None
        if trouble is not None and trouble.trouble is Trouble.NOBODY_THERE:
            log.warning("the mail server takes no mail for a recipient, who gets none")
            return None
        return trouble
