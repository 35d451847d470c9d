"""Mails about accounts that wait for the mail server, as rows."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    String,
    Table,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.ports.mail import WaitingMail
from printreach.store.columns import columns_for
from printreach.store.tables import Instant, metadata

MOST_WAITING: Final = 10_000
"""Reached only if that many strangers sign up in a day without a mail server."""
LONGEST_WAIT: Final = timedelta(hours=4)
"""No backoff is longer: what is due later was stored by a clock that was ahead."""

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


class MailRecords:
    """Queued mails about accounts, each stored in the unit of work that it reports."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, mail: WaitingMail) -> bool:
        """Add a mail; return whether the queue had room for it."""
        waiting = await self._connection.scalar(select(func.count()).select_from(waiting_mails))
        if waiting is not None and waiting >= MOST_WAITING:
            return False
        await self._connection.execute(insert(waiting_mails).values(**asdict(mail)))
        return True

    async def next_due(self) -> datetime | None:
        """Return when one is to be tried next; None if none waits."""
        found = await self._connection.execute(
            select(_mails.due_at).order_by(_mails.due_at).limit(1)
        )
        return found.scalar_one_or_none()

    async def claim(self, at: datetime, until: datetime) -> WaitingMail | None:
        """Claim the mail that has been due longest, until then.

        One that is due later than the longest backoff was put off by a clock that was ahead: it is
        due now.
        """
        is_due = or_(_mails.due_at <= at, _mails.due_at > at + LONGEST_WAIT)
        found = await self._connection.execute(
            select(*_MAIL).where(is_due).order_by(_mails.due_at).limit(1)
        )
        row = found.mappings().first()
        if row is None:
            return None
        await self.put_off(row["mail_id"], until, row["failures"])
        return WaitingMail(**row)

    async def put_off(self, mail_id: str, due_at: datetime, failures: int) -> None:
        await self._connection.execute(
            update(waiting_mails)
            .where(_mails.mail_id == mail_id)
            .values(due_at=due_at, failures=failures)
        )

    async def remove(self, mail_id: str) -> None:
        await self._connection.execute(delete(waiting_mails).where(_mails.mail_id == mail_id))

    async def forget_over(self, at: datetime) -> int:
        """Delete mails whose time is over; return how many."""
        gone = await self._connection.execute(delete(waiting_mails).where(_mails.until <= at))
        return gone.rowcount
