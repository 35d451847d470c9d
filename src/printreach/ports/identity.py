"""The stored accounts, and how people sign in."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from printreach.rules.accounts import Account
from printreach.rules.invitations import Invitation
from printreach.rules.linking import LinkTries
from printreach.rules.mail_links import MailLink, MailPurpose
from printreach.rules.passkeys import Passkey
from printreach.rules.sessions import Session
from printreach.rules.steps import Step
from printreach.rules.totp import Totp


class TooBusy(Exception):
    """Too many wait already; the caller should come back later."""


class Passwords(Protocol):
    """Slow hashes of passwords; each call takes a tenth of a second.

    network: the caller's. Networks take turns, so that one with many callers does not make the
    others wait. Each call raises TooBusy if too many wait already.
    """

    async def hash(self, password: str, network: str) -> str:
        """Return what to store, including salt and parameters."""
        ...

    async def matches(self, password: str, password_hash: str, network: str) -> bool:
        """Return whether this is the password that was hashed.

        password_hash: empty if there is none; that takes as long, and is False.
        """
        ...

    def is_common(self, password: str) -> bool:
        """Return whether it is one of the most common passwords. password: in lower case."""
        ...


class AccountRecords(Protocol):
    """Accounts, identified by `rules.accounts.email_key`."""

    async def add(self, account: Account) -> None: ...
    async def get(self, account_id: str) -> Account | None: ...
    async def with_email(self, email: str) -> Account | None: ...
    async def all(self) -> list[Account]: ...
    async def has_operator(self) -> bool:
        """Return whether there is an operator. Until then the service is not set up."""
        ...

    async def set_supporter(
        self, account_id: str, *, granted: bool, until: datetime | None
    ) -> None: ...
    async def set_paid_until(self, account_id: str, until: datetime | None) -> None: ...
    async def set_password(self, account_id: str, password_hash: str) -> None: ...
    async def set_email(self, account_id: str, email: str) -> None: ...
    async def set_verified(self, account_id: str, at: datetime) -> None: ...
    async def set_blocked(self, account_id: str, at: datetime | None) -> None:
        """Set since when it is blocked; None unblocks it."""
        ...

    async def set_locked(self, account_id: str, at: datetime | None) -> None:
        """Set since when remote control is locked; None unlocks it."""
        ...

    async def forget_unverified(self, made_before: datetime) -> None:
        """Delete unconfirmed accounts, except blocked ones, whose owner could otherwise sign up
        again."""
        ...

    async def delete(self, account_id: str) -> None:
        """Delete the account and its printers.

        Its connections stay without owner; revoke them before.
        """
        ...

    async def link_tries(self, account_id: str) -> LinkTries: ...
    async def set_link_tries(self, account_id: str, tries: LinkTries) -> None: ...


class SessionRecords(Protocol):
    """Browsers that are signed in."""

    async def add(self, session: Session, token_digest: bytes) -> None: ...
    async def with_token(self, token_digest: bytes) -> Session | None: ...
    async def of_account(self, account_id: str) -> list[Session]:
        """Return sessions, the most recently used first; ended ones may be among them."""
        ...

    async def note(self, session_id: str, at: datetime, address: str, browser: str) -> None: ...
    async def end(self, account_id: str, session_id: str) -> None: ...
    async def end_all(self, account_id: str, *, exclude: str | None = None) -> None: ...
    async def forget(self, seen_before: datetime) -> None: ...


class StepRecords(Protocol):
    """Sign-ins that are not complete yet."""

    async def put(self, step: Step, token_digest: bytes, at: datetime) -> None:
        """Store a step; expired ones are deleted at the same time."""
        ...

    async def get(self, token_digest: bytes, at: datetime) -> Step | None: ...
    async def take(self, token_digest: bytes, at: datetime) -> Step | None:
        """Return the step and delete it, so that it can be used once."""
        ...

    async def drop(self, account_id: str) -> None:
        """Delete all steps of that account: earlier factors count no more."""
        ...


class MailLinkRecords(Protocol):
    """Links that were sent by mail."""

    async def put(self, link: MailLink, token_digest: bytes, at: datetime) -> None:
        """Store a link in place of the account's others of that purpose; delete expired ones."""
        ...

    async def get(self, token_digest: bytes, at: datetime) -> MailLink | None: ...
    async def drop(self, account_id: str, purposes: Sequence[MailPurpose]) -> None: ...


class SecondFactorRecords(Protocol):
    """Authenticator apps and recovery codes."""

    async def totp(self, account_id: str) -> Totp | None: ...
    async def set_totp(self, account_id: str, totp: Totp | None) -> None: ...
    async def recovery_codes(self, account_id: str) -> int:
        """Return how many recovery codes are left."""
        ...

    async def set_recovery_codes(self, account_id: str, digests: Sequence[bytes]) -> None: ...
    async def use_recovery_code(self, account_id: str, code_digest: bytes) -> bool:
        """Return whether it was one, and use it up."""
        ...


class PasskeyRecords(Protocol):
    """Passkeys."""

    async def add(self, passkey: Passkey) -> None: ...
    async def get(self, credential_id: bytes) -> Passkey | None: ...
    async def of_account(self, account_id: str) -> list[Passkey]: ...
    async def note_use(self, credential_id: bytes, sign_count: int, at: datetime) -> None: ...
    async def remove(self, account_id: str, credential_id: bytes) -> None: ...


class InvitationRecords(Protocol):
    """Invitations: links with which an account may be created."""

    async def add(self, invitation: Invitation, token_digest: bytes) -> None: ...
    async def with_token(self, token_digest: bytes) -> Invitation | None: ...
    async def remove(self, invitation_id: str) -> None: ...
    async def remove_setup(self) -> None: ...
    async def remove_all(self) -> None: ...


class TryRecords(Protocol):
    """The state of limits on tries: see `rules.rate_limits`."""

    async def busy_until(self, key: str) -> datetime | None: ...
    async def set_busy_until(self, key: str, until: datetime, at: datetime) -> None:
        """Store until when; entries whose instant is past are deleted at the same time."""
        ...

    async def forget(self, key: str) -> None: ...
