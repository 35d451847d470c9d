"""Passkeys as they are stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.rules.safe_text import is_printable_name

MAX_PASSKEYS: Final = 20
LONGEST_NAME: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Passkey:
    """One passkey of an account.

    credential_id: the authenticator's name for it. public_key: in COSE form.
    sign_count: the highest that was seen; 0 where the authenticator does not count.
    """

    credential_id: bytes
    account_id: str
    public_key: bytes
    sign_count: int
    name: str
    created_at: datetime
    used_at: datetime | None


def parse_passkey_name(typed: str) -> str:
    """Parse a passkey's name; one without a name gets the default name."""
    name = " ".join(typed.split())
    return name[:LONGEST_NAME] if name and is_printable_name(name) else "Passkey"
