"""Sessions: steps of a sign-in, how long a browser stays signed in, and browsers that are known.

Strangers can use up the attempts of any account whose address they know. A known device is a
browser that has signed in before, by a cookie that outlives the session. It has its own limiter, so
they can't lock the owner out of a browser that the owner uses.

The cookie is no credential: a thief gains only another ten attempts. It is authenticated with the
stored password hash, which nobody outside knows and which changes with the password. So it ends
with a new password, and nothing has to be stored.

Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from printreach.languages import _
from printreach.rules.accounts import Account
from printreach.rules.connections.credentials import TokenBytes, base32_text, new_record_id
from printreach.rules.own_paths import HOME

IDLE_TIME: Final = timedelta(days=30)
"""A browser that was not used for this long is signed out."""
LONGEST_TIME: Final = timedelta(days=365)
"""Every browser must sign in again after this, however often it was used."""
NOTE_EVERY: Final = timedelta(minutes=5)
"""The precision of `seen_at`: a write on every request would be too many."""
FRESH_TIME: Final = timedelta(minutes=10)
"""The time for which a sign-in proves the person's identity if there is no password to ask for."""
MAX_SESSIONS: Final = 50
"""The most sessions of one account; one more evicts the least recently used one."""
LONGEST_BROWSER: Final = 300
"""The most characters of a User-Agent that are stored."""
# The first match counts: each browser names those below it as well.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
_SYSTEMS: Final = (
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "a Mac"),
    ("Linux", "Linux"),
)

STEP_LIFETIME: Final = timedelta(minutes=10)
CONFIRMATION_LIFETIME: Final = timedelta(days=1)
"""The time for which the mail's link alone signs in the browser that signed up."""

DEVICE_LIFETIME: Final = timedelta(days=365)
"""Counted from the last sign-in."""
_MAC_BYTES: Final = 20
_TOKEN: Final = re.compile(r"([a-z2-7]{26})\.([a-z2-7]{26})\.([a-z2-7]{32})")


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One browser that is signed in.

    address: the caller's, at the last note. browser: its User-Agent.
    """

    session_id: str
    account_id: str
    started_at: datetime
    seen_at: datetime
    address: str
    browser: str


def is_live(session: Session, at: datetime) -> bool:
    """Whether the browser is still signed in; the last instant is excluded."""
    return at < ends_at(session)


def ends_at(session: Session) -> datetime:
    """Return when it ends by itself, unless it is used again before."""
    return min(session.seen_at + IDLE_TIME, session.started_at + LONGEST_TIME)


def is_note_due(session: Session, at: datetime) -> bool:
    """Whether it is time to write down that it was used. The clock may have been ahead."""
    return abs(at - session.seen_at) >= NOTE_EVERY


def is_fresh(session: Session, at: datetime) -> bool:
    """Whether the person proved who they are a moment ago. The clock may have been ahead."""
    return abs(at - session.started_at) < FRESH_TIME


def browser_in_words(user_agent: str) -> str:
    """Return a name such as `Firefox on Linux`; an unknown User-Agent is some browser."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), _("A browser"))
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return _("%(browser)s on %(system)s", browser=browser, system=system) if system else browser


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A browser, and the account that it signed in to last."""

    account_id: str
    device_id: str


def new_device_token(account: Account, token_bytes: TokenBytes) -> str:
    """Return the cookie of a browser that signs in now; empty for an account without a password."""
    if not account.password_hash:
        return ""
    device = Device(account_id=account.account_id, device_id=new_record_id(token_bytes))
    return f"{device.account_id}.{device.device_id}.{_mac(device, account)}"


def claimed_device(token: str) -> Device | None:
    """Return what a cookie claims, unchecked; None where it is no such cookie."""
    match = _TOKEN.fullmatch(token)
    return None if match is None else Device(account_id=match[1], device_id=match[2])


def device_of(token: str, account: Account | None) -> Device | None:
    """Return the device, where the cookie was made for that account and its present password."""
    claimed, match = claimed_device(token), _TOKEN.fullmatch(token)
    if claimed is None or match is None or account is None or not account.password_hash:
        return None
    if claimed.account_id != account.account_id:
        return None
    is_ours = hmac.compare_digest(match[3].encode(), _mac(claimed, account).encode())
    return claimed if is_ours else None


def _mac(device: Device, account: Account) -> str:
    message = f"printreach device {device.account_id} {device.device_id}".encode()
    mac = hmac.new(account.password_hash.encode(), message, hashlib.sha256).digest()
    return base32_text(mac[:_MAC_BYTES])
