"""Mails about accounts that wait for the mail server, links in mails, and invitations, as rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Column, Integer, LargeBinary, String, Table, delete, func, insert, select

from printreach.rules.accounts.mails import Invitation, MailLink, MailPurpose
from printreach.store.accounts.tables import invitations, mail_links
from printreach.store.columns import TableRecords, columns_for
from printreach.store.leases import Claim, LeasedTable
from printreach.store.tables import Instant, metadata

MAX_WAITING: Final = 10_000
"""Reached only if that many strangers sign up in two days without a mail server."""
LONGEST_WAIT: Final = timedelta(hours=4)
"""No backoff is longer: what is due later was stored by a clock that was ahead."""

_LINK = columns_for(MailLink, mail_links)
_INVITATION = columns_for(Invitation, invitations)


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


class MailLinkRecords(TableRecords):
    """Links that were sent by mail."""

    async def put(self, link: MailLink, token_digest: bytes, at: datetime) -> None:
        """Store a link in place of the account's others of that purpose; delete expired ones."""
        await self._connection.execute(delete(mail_links).where(mail_links.c.expires_at <= at))
        await self.drop(link.account_id, [link.purpose])
        values = asdict(link) | {"purpose": link.purpose.value}
        await self._connection.execute(
            insert(mail_links).values(**values, token_digest=token_digest)
        )

    async def get(self, token_digest: bytes, at: datetime) -> MailLink | None:
        return await self._first(
            _link,
            select(*_LINK).where(
                mail_links.c.token_digest == token_digest, mail_links.c.expires_at > at
            ),
        )

    async def drop(self, account_id: str, purposes: Sequence[MailPurpose]) -> None:
        await self._connection.execute(
            delete(mail_links).where(
                mail_links.c.account_id == account_id,
                mail_links.c.purpose.in_([purpose.value for purpose in purposes]),
            )
        )


class InvitationRecords(TableRecords):
    """Invitations: links with which an account may be created."""

    async def add(self, invitation: Invitation, token_digest: bytes) -> None:
        await self._connection.execute(
            insert(invitations).values(**asdict(invitation), token_digest=token_digest)
        )

    async def with_token(self, token_digest: bytes) -> Invitation | None:
        return await self._first(
            Invitation, select(*_INVITATION).where(invitations.c.token_digest == token_digest)
        )

    async def remove(self, invitation_id: str) -> None:
        await self._connection.execute(
            delete(invitations).where(invitations.c.invitation_id == invitation_id)
        )

    async def remove_setup(self) -> None:
        await self._connection.execute(delete(invitations).where(invitations.c.is_setup))

    async def remove_all(self) -> None:
        await self._connection.execute(delete(invitations))


def _link(*, purpose: str, **row: Any) -> MailLink:
    return MailLink(**row, purpose=MailPurpose(purpose))
