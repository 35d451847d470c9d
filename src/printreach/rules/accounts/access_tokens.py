"""Access tokens for a person's own programs, each limited to its scopes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from printreach.languages import N_
from printreach.rules.safe_text import is_printable_name

MAX_TOKENS: Final = 50
"""Of an account."""
USE_NOTED_EVERY: Final = timedelta(minutes=1)
"""The precision with which the last use of a token is recorded; each record is a write."""
_LONGEST_NAME: Final = 60
PREFIX: Final = "prt_"
"""Identifies the token to people, and to programs that search for leaked secrets."""


class Scope(StrEnum):
    """The uses that a token allows."""

    READ_EVENTS = "events:read"


SCOPES_IN_WORDS: Final = {Scope.READ_EVENTS: N_("Read the events of all your printers")}


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessToken:
    """A token as stored, without its digest."""

    token_id: str
    account_id: str
    name: str
    scopes: frozenset[str]
    created_at: datetime
    used_at: datetime | None = None


def parse_token_name(typed: str) -> str | None:
    """Return what a person calls it; None where it is no name."""
    name = " ".join(typed.split())
    return name if is_printable_name(name) and 1 <= len(name) <= _LONGEST_NAME else None


def parse_scopes(typed: list[str]) -> frozenset[str] | None:
    """Return what was ticked; None where that is nothing, or nothing that there is."""
    chosen = frozenset(typed)
    return chosen if chosen and chosen <= {scope.value for scope in Scope} else None


def use_is_worth_a_note(token: AccessToken, at: datetime) -> bool:
    """Whether the time of its last use is to be written down."""
    return token.used_at is None or abs(at - token.used_at) >= USE_NOTED_EVERY
