"""Linking an agent's printer to an account: the code that it shows, and attempts to enter it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

LINK_CODE_LIFETIME = timedelta(minutes=10)
WRONG_TRIES_ALLOWED = 10
LOCK_TIME = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkCode:
    """The code that an unlinked agent shows; valid for one use, before expires_at."""

    code: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedPrinter:
    """A printer that belongs to an account. is_blocked: an operator has blocked its owner.

    is_locked: its owner has locked remote control.
    """

    printer_id: str
    name: str
    account_id: str
    is_blocked: bool = False
    is_locked: bool = False

    @property
    def refuses_control(self) -> bool:
        """Whether remote control of it is refused."""
        return self.is_blocked or self.is_locked


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkOffer:
    """A code as stored, with the agent that it would link."""

    printer_id: str
    public_key: bytes
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkTries:
    """The wrong codes that an account entered recently."""

    wrong: int = 0
    last_wrong_at: datetime | None = None


NO_TRIES = LinkTries()


def is_locked(tries: LinkTries, at: datetime) -> bool:
    """True for 15 minutes after the tenth wrong try; a right code is refused then, too."""
    return tries.wrong >= WRONG_TRIES_ALLOWED and not _are_forgotten(tries, at)


def after_wrong_try(tries: LinkTries, at: datetime) -> LinkTries:
    """Count one more wrong try; counted from one again once the last is 15 minutes past."""
    wrong = 1 if _are_forgotten(tries, at) else tries.wrong + 1
    return replace(tries, wrong=wrong, last_wrong_at=at)


def _are_forgotten(tries: LinkTries, at: datetime) -> bool:
    return tries.last_wrong_at is None or at >= tries.last_wrong_at + LOCK_TIME
