"""Links that were sent by mail, and invitations, as rows."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from printreach.rules.accounts.mails import Invitation, MailLink, MailPurpose
from printreach.store.accounts.tables import invitations, mail_links
from printreach.store.columns import TableRecords, columns_for

_LINK = columns_for(MailLink, mail_links)
_INVITATION = columns_for(Invitation, invitations)


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
