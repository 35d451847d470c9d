"""Members of printers and invitations for them, as rows.

A row counts only while its account owns the printer and is not blocked.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, update

from printreach.rules.printers.members import Member, MemberInvitation, Role
from printreach.store.columns import TableRecords, columns_for, insert
from printreach.store.notifications.tables import notify_printers
from printreach.store.printers import member_invitations
from printreach.store.printers import printer_members as members
from printreach.store.tables import accounts, is_active_owners, printers

_MEMBER = columns_for(Member, members)
_INVITATION = columns_for(MemberInvitation, member_invitations)


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedMember:
    """A member with the address of their account."""

    member: Member
    email: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberOfPrinter:
    """A member with the address of their account, and the name of the printer."""

    member: Member
    email: str
    printer_name: str


class MemberRecords(TableRecords):
    """Members of printers, and invitations for them."""

    async def get(self, printer_id: str, person_id: str) -> Member | None:
        return await self._first(
            _member,
            select(*_MEMBER).where(
                members.c.printer_id == printer_id,
                members.c.person_id == person_id,
                is_active_owners(members),
            ),
        )

    async def of_printer(self, printer_id: str, account_id: str) -> Sequence[NamedMember]:
        """Return the members that this owner let in, by address."""
        return await self._all(
            _named,
            select(*_MEMBER, accounts.c.email)
            .join_from(members, accounts, accounts.c.account_id == members.c.person_id)
            .where(members.c.printer_id == printer_id, members.c.account_id == account_id)
            .order_by(accounts.c.email_key),
        )

    async def of_owner(self, account_id: str) -> Sequence[MemberOfPrinter]:
        """Return the members of all printers of this owner, by printer and address."""
        return await self._all(
            _of_printer,
            select(*_MEMBER, accounts.c.email, printers.c.name)
            .join_from(members, accounts, accounts.c.account_id == members.c.person_id)
            .join(printers, printers.c.printer_id == members.c.printer_id)
            .where(
                members.c.account_id == account_id,
                printers.c.account_id == account_id,
                printers.c.removed_at.is_(None),
            )
            .order_by(printers.c.name, printers.c.printer_id, accounts.c.email_key),
        )

    async def with_choice_of_events(self, printer_id: str, account_id: str) -> Sequence[str]:
        """Return the ids of the members of this owner's printer who chose to be notified."""
        found = await self._connection.scalars(
            select(members.c.person_id)
            .join(
                notify_printers,
                (notify_printers.c.account_id == members.c.person_id)
                & (notify_printers.c.printer_id == members.c.printer_id),
            )
            .where(
                members.c.printer_id == printer_id,
                members.c.account_id == account_id,
                is_active_owners(members),
            )
            .order_by(members.c.person_id)
        )
        return found.all()

    async def put(self, member: Member) -> None:
        """Store a member, in place of the same person's earlier row."""
        values = asdict(member)
        await self._connection.execute(
            insert(members)
            .values(**values)
            .on_conflict_do_update(index_elements=["printer_id", "person_id"], set_=values)
        )

    async def note_visit(self, printer_id: str, person_id: str, at: datetime) -> None:
        await self._connection.execute(
            update(members).where(_is_of(printer_id, person_id)).values(seen_at=at)
        )

    async def remove(self, printer_id: str, person_id: str) -> bool:
        """Delete a member; return whether there was one."""
        return bool(await self._changed(delete(members).where(_is_of(printer_id, person_id))))

    async def count(self, printer_id: str) -> int:
        found = await self._connection.scalar(
            select(func.count()).select_from(members).where(members.c.printer_id == printer_id)
        )
        return found or 0

    async def add_invitation(self, invitation: MemberInvitation, token_digest: bytes) -> None:
        """Store an invitation; delete those that are over."""
        over = member_invitations.c.expires_at <= invitation.created_at
        used_up = member_invitations.c.uses_left <= 0
        await self._connection.execute(delete(member_invitations).where(over | used_up))
        await self._connection.execute(
            insert(member_invitations).values(**asdict(invitation), token_digest=token_digest)
        )

    async def invitation(self, token_digest: bytes, at: datetime) -> MemberInvitation | None:
        """Return the invitation while it is open and its account owns the printer."""
        return await self._first(
            _invitation,
            select(*_INVITATION).where(
                member_invitations.c.token_digest == token_digest,
                *_open(at),
                is_active_owners(member_invitations),
            ),
        )

    async def invitations(
        self, printer_id: str, account_id: str, at: datetime
    ) -> Sequence[MemberInvitation]:
        """Return the owner's open invitations for a printer, newest first."""
        return await self._all(
            _invitation,
            select(*_INVITATION)
            .where(
                member_invitations.c.printer_id == printer_id,
                member_invitations.c.account_id == account_id,
                *_open(at),
            )
            .order_by(member_invitations.c.created_at.desc(), member_invitations.c.invitation_id),
        )

    async def use_invitation(self, invitation_id: str) -> None:
        """Count one person that it let in."""
        await self._connection.execute(
            update(member_invitations)
            .where(member_invitations.c.invitation_id == invitation_id)
            .values(uses_left=member_invitations.c.uses_left - 1)
        )

    async def remove_invitation(self, invitation_id: str, account_id: str) -> bool:
        """Delete an invitation of that owner; return whether there was one."""
        is_own = member_invitations.c.account_id == account_id
        is_it = member_invitations.c.invitation_id == invitation_id
        return bool(await self._changed(delete(member_invitations).where(is_it, is_own)))


def _open(at: datetime) -> Sequence[ColumnElement[bool]]:
    return member_invitations.c.uses_left > 0, member_invitations.c.expires_at > at


def _is_of(printer_id: str, person_id: str) -> ColumnElement[bool]:
    return (members.c.printer_id == printer_id) & (members.c.person_id == person_id)


def _member(*, role: str, **row: Any) -> Member:
    return Member(**row, role=Role(role))


def _named(*, email: str, **row: Any) -> NamedMember:
    return NamedMember(member=_member(**row), email=email)


def _of_printer(*, email: str, name: str, **row: Any) -> MemberOfPrinter:
    return MemberOfPrinter(member=_member(**row), email=email, printer_name=name)


def _invitation(*, role: str, **row: Any) -> MemberInvitation:
    return MemberInvitation(**row, role=Role(role))
