"""Mails about accounts that wait for the mail server, as rows."""

from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Column, Integer, LargeBinary, String, Table, delete, func, insert, select

from printreach.store.columns import TableRecords, columns_for
from printreach.store.leases import Claim, LeasedTable
from printreach.store.tables import Instant, metadata

MAX_WAITING: Final = 10_000
"""Reached only if that many strangers sign up in two days without a mail server."""
LONGEST_WAIT: Final = timedelta(hours=4)
"""No backoff is longer: what is due later was stored by a clock that was ahead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingMail:
    """A queued mail about an account.

    sealed: all of it, since it may contain a link that signs a person in. due_at: once it is
    claimed, when its lease ends. until: when it is outdated, or its link expires. failures: tries
    so far.
    """

    mail_id: str
    sealed: bytes = field(repr=False)
    due_at: datetime
    until: datetime
    failures: int = 0


# No account is named: the recipient is sealed with the mail, and some mails outlive their account.
waiting_mails = Table(
    "waiting_mails",
    metadata,
    Column("mail_id", String(64), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("due_at", Instant, nullable=False, index=True),
    Column("until", Instant, nullable=False, index=True),
    Column("failures", Integer, nullable=False),
)
_MAIL = columns_for(WaitingMail, waiting_mails)
_mails = waiting_mails.c
_LEASES = LeasedTable(
    table=waiting_mails, key=(_mails.mail_id,), due_at=_mails.due_at, longest_wait=LONGEST_WAIT
)


class MailRecords(TableRecords):
    """Queued mails about accounts, each stored in the unit of work that it reports."""

    async def add(self, mail: WaitingMail) -> bool:
        """Add a mail; return whether the queue had room for it."""
        waiting = await self._connection.scalar(select(func.count()).select_from(waiting_mails))
        if waiting is not None and waiting >= MAX_WAITING:
            return False
        await self._connection.execute(insert(waiting_mails).values(**asdict(mail)))
        return True

    async def has_due(self, at: datetime) -> bool:
        """Return whether one may be claimed."""
        return await _LEASES.has_due(self._connection, at, _mails.until > at)

    async def claim(self, claim: Claim) -> list[WaitingMail]:
        """Claim mails whose time is not over, the longest due first.

        One that is due later than the longest backoff was put off by a clock that was ahead: it is
        due now.
        """
        await _LEASES.mend(self._connection, claim.at)
        due = _LEASES.due(claim, _mails.until > claim.at)
        claimed = await _LEASES.claim(self._connection, claim, due, *_MAIL)
        return [WaitingMail(**row) for row in claimed]

    async def release(self, claimed: WaitingMail, due_at: datetime, failures: int) -> None:
        """Release a mail; it is tried again then. Does nothing if the claim was lost."""
        key = (claimed.mail_id,)
        values = {"failures": failures}
        await _LEASES.release(self._connection, key, claimed.due_at, due_at, values)

    async def remove(self, mail_id: str) -> None:
        await self._connection.execute(delete(waiting_mails).where(_mails.mail_id == mail_id))

    async def forget_outdated(self, before: datetime) -> int:
        """Delete mails whose time was over before then; return how many."""
        return await self._changed(delete(waiting_mails).where(_mails.until <= before))
