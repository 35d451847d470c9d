"""The steps of a sign-in."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from printreach.rules.own_paths import HOME

STEP_LIFETIME: Final = timedelta(minutes=10)
CONFIRMATION_LIFETIME: Final = timedelta(days=1)
"""The time for which the mail's link alone signs in the browser that signed up."""


class NextStep(StrEnum):
    """The next step of a sign-in."""

    CODE = "code"
    """The password was right; a one-time code or a recovery code makes it complete."""
    PASSKEY = "passkey"
    """Somebody wants to sign in with a passkey."""
    NEW_PASSKEY = "new-passkey"
    """A signed-in person adds a passkey."""
    PASSKEY_PROOF = "passkey-proof"
    """A signed-in person reauthenticates with a passkey."""
    PROVIDER = "provider"
    """Somebody was sent to a provider to sign in there."""
    NEW_IDENTITY = "new-identity"
    """A signed-in person was sent to a provider, to sign in by it from then on."""
    RESET = "reset"
    """A password was forgotten in this browser, which was going somewhere."""
    CONFIRMATION = "confirmation"
    """The account was made in this browser; the link in the mail makes it complete."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One browser's sign-in under way.

    account_id: None where it is not known yet. challenge: what an authenticator has to sign, or
    the digest of the link that completes it. next_path: a page of ours to go on to.
    """

    awaits: NextStep
    account_id: str | None
    expires_at: datetime
    challenge: bytes = b""
    next_path: str = HOME
