"""Accounts: who they are, and who counts as a supporter."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_EMAIL_LENGTH = 254
"""The longest address that mail servers carry: RFC 5321, 4.5.3.1.3, less the brackets."""


class SupporterPolicy(StrEnum):
    """Whom the operator counts as a supporter."""

    EVERYONE = "everyone"
    GRANTED = "granted"


class SignUpPolicy(StrEnum):
    """Who may make an account without the operator's command."""

    OPEN = "open"
    INVITED = "invited"
    CLOSED = "closed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """One person's account.

    password_hash: as the Passwords port made it; empty where there is no password.
    supporter_until: the first instant at which a grant is over; None means it has no end.
    paid_until: the same of what was paid for; None where nothing is.
    verified_at: when the address was shown to be theirs; nobody signs in before that.
    blocked_at: since when an operator keeps its owner out; None where nobody does.
    locked_at: since when remote control of its printers is locked; None where it isn't.
    """

    account_id: str
    email: str
    password_hash: str
    is_admin: bool
    supporter_granted: bool
    supporter_until: datetime | None
    created_at: datetime
    verified_at: datetime | None = None
    paid_until: datetime | None = None
    blocked_at: datetime | None = None
    locked_at: datetime | None = None

    @property
    def is_blocked(self) -> bool:
        """Nobody signs in to it, and nothing passes to its printers."""
        return self.blocked_at is not None

    @property
    def is_locked(self) -> bool:
        """Nobody controls its printers from afar until the owner unlocks it."""
        return self.locked_at is not None


def is_supporter(
    policy: SupporterPolicy,
    *,
    granted: bool,
    until: datetime | None,
    paid_until: datetime | None,
    at: datetime,
) -> bool:
    """Whether an account may have App Connections at that time: by a grant, or as it paid."""
    if policy is SupporterPolicy.EVERYONE:
        return True
    is_granted = granted and (until is None or at < until)
    return is_granted or (paid_until is not None and at < paid_until)


def may_connect_apps(policy: SupporterPolicy, account: Account, at: datetime) -> bool:
    """The same, of an account."""
    return is_supporter(
        policy,
        granted=account.supporter_granted,
        until=account.supporter_until,
        paid_until=account.paid_until,
        at=at,
    )


def read_email(typed: str) -> str | None:
    """The address as it is stored and shown; None where it cannot be one.

    Only a mail that arrives proves an address, so this asks for little.
    """
    email = unicodedata.normalize("NFC", typed.strip())
    name, _, host = email.rpartition("@")
    if not name or not host or host.startswith(".") or len(email) > MAX_EMAIL_LENGTH:
        return None
    return email if email.isprintable() and not any(map(str.isspace, email)) else None


def email_key(email: str) -> str:
    """By what addresses are told apart: the same for every spelling in case."""
    return unicodedata.normalize("NFC", email.casefold())
