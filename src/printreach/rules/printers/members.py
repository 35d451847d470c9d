"""Members: people whom a printer's owner has let in to it, to watch it or to control it too."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

INVITATION_LIFETIME: Final = timedelta(days=7)
MAX_MEMBERS: Final = 20
"""Of one printer. Invitations that are open count as many as they let in."""
USES: Final = (1, 5, 10)
"""How many people a link may let in; one that is sent by mail lets in one."""
SEEN_EVERY: Final = timedelta(minutes=1)
"""A member's last visit is stored this often."""


class Role(StrEnum):
    """What somebody may do with a printer; each may do what those before it may."""

    WATCH = "watch"
    """See its state, cameras, temperatures and history."""
    CONTROL = "control"
    """Also control prints, heat, move, upload files and print them."""
    OWNER = "owner"

    def includes(self, needed: "Role") -> bool:
        """Return whether this role may do what the other one may."""
        return _ORDER.index(self) >= _ORDER.index(needed)


_ORDER: Final = (Role.WATCH, Role.CONTROL, Role.OWNER)
ROLES_OF_MEMBERS: Final = (Role.WATCH, Role.CONTROL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A person who was let in. account_id: of the printer's owner. seen_at: their last visit."""

    printer_id: str
    account_id: str
    person_id: str
    role: Role
    since: datetime
    seen_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberInvitation:
    """A link that lets people in, each by an account of their own.

    account_id: of the owner. email: the only address it is good for; None: any. uses_left: how
    many more people it lets in.
    """

    invitation_id: str
    printer_id: str
    account_id: str
    role: Role
    email: str | None
    uses_left: int
    created_at: datetime
    expires_at: datetime

    def is_open(self, at: datetime) -> bool:
        return self.uses_left > 0 and at < self.expires_at


def parse_role(text: str) -> Role | None:
    """Return the role that a form names; None where it is none that can be given."""
    return next((role for role in ROLES_OF_MEMBERS if role.value == text), None)


def has_room(members: int, promised: int, more: int) -> bool:
    """Return whether a printer may have more members. promised: uses left of open invitations."""
    return members + promised + more <= MAX_MEMBERS


def is_visit_stored(member: Member, at: datetime) -> bool:
    """Return whether a visit of now is stored well enough by the last one."""
    return member.seen_at is not None and abs(at - member.seen_at) < SEEN_EVERY
