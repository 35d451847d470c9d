"""Links in mails, and invitations: links that allow one account each, whatever the policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from printreach.rules.accounts import email_key

INVITATION_LIFETIME: Final = timedelta(days=7)


class MailPurpose(StrEnum):
    """The purpose of a link in a mail."""

    CONFIRM = "confirm"
    """Confirm the address of a new account."""
    RESET = "reset"
    """Choose another password."""
    CHANGE = "change"
    """Confirm the account's next address."""


LIFETIMES: Final[Mapping[MailPurpose, timedelta]] = MappingProxyType(
    {
        MailPurpose.CONFIRM: timedelta(days=1),
        MailPurpose.RESET: timedelta(hours=1),
        MailPurpose.CHANGE: timedelta(hours=1),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MailLink:
    """A link that was sent; it works once. next_path: a page of ours to go on to."""

    purpose: MailPurpose
    account_id: str
    email: str
    next_path: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Invitation:
    """An invitation, and what the account that is made with it will be.

    email: the only address it is good for; None: any. is_setup: the link in the
    log, which works only while the service has no operator.
    """

    invitation_id: str
    email: str | None
    is_admin: bool
    supporter: bool
    is_setup: bool
    expires_at: datetime | None

    def is_for(self, email: str) -> bool:
        """Whether an account of that address may be made with it."""
        return self.email is None or email_key(self.email) == email_key(email)


def is_good(invitation: Invitation, at: datetime) -> bool:
    """Whether an account may still be made with it."""
    return invitation.expires_at is None or at < invitation.expires_at
