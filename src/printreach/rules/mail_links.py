"""Links in mails: their purposes and lifetimes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final


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
