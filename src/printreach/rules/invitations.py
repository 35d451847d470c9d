"""Invitations: links that allow one account each, whatever the sign-up policy."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.rules.accounts import email_key

INVITATION_LIFETIME: Final = timedelta(days=7)


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
