"""Keys of the failure-detection API: shown once, stored as digests, disabled for good."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.rules.connections.credentials import CredentialKind, TokenBytes, digest, new_secret

KEY_PREFIX: Final = "prk_"
"""Identifies the key to people, and to programs that search for leaked secrets."""
MAX_KEYS: Final = 20
"""The most working keys of one account."""
MAX_DISABLED_KEYS: Final = 50
"""The most disabled keys of one account; beyond it the oldest are deleted."""
MAX_KEY_NAME_LENGTH: Final = 60
DEFAULT_KEY_NAME: Final = "API key"


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionKey:
    """A key as its account knows it. last_used_at: of the last call that was answered."""

    key_id: str
    account_id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None = None
    disabled_at: datetime | None = None

    @property
    def is_disabled(self) -> bool:
        """Whether it is disabled, which is final."""
        return self.disabled_at is not None


def new_api_key(token_bytes: TokenBytes) -> str:
    """Return a fresh key with 160 random bits; only its `digest_of_api_key` is stored."""
    return KEY_PREFIX + new_secret(token_bytes)


def digest_of_api_key(api_key: str) -> bytes:
    """Return the digest by which a key is looked up; any text is allowed."""
    return digest(CredentialKind.DETECTION_KEY, api_key.encode("utf-8", "surrogateescape"))


def parse_key_name(typed: str) -> str | None:
    """Return the name as it is stored; None where it cannot be one.

    Nothing typed names it by default.
    """
    name = " ".join(typed.split()) or DEFAULT_KEY_NAME
    return name if len(name) <= MAX_KEY_NAME_LENGTH and name.isprintable() else None
