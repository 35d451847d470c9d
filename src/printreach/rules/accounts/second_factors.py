"""One-time codes of an authenticator app (RFC 6238), recovery codes for its loss, and passkeys."""

import hashlib
import hmac
import struct
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

from printreach.rules.connections.credentials import (
    LINK_CODE_ALPHABET,
    TokenBytes,
    base32_text,
    random_letters,
)
from printreach.rules.safe_text import is_printable_name

SECRET_BYTES: Final = 20
"""The length of the hash, as RFC 4226, 4, asks."""
STEP_SECONDS: Final = 30
DIGITS: Final = 6
STEPS_OFF: Final = 1
"""Clocks of phones are off, and typing takes time: the code before and the one after count."""
WAITS_FOR: Final = timedelta(minutes=10)
"""The time for which a new secret is shown and waits for its first code. A person who finds the
browser later could lock the owner out with it."""
RECOVERY_CODES: Final = 10
RECOVERY_CODE_LENGTH: Final = 20
"""Of 24 letters: 91 random bits, which can't be guessed even with a stolen database."""
OLD_RECOVERY_CODE_LENGTH: Final = 12
"""Codes that were made before keep working until they are replaced."""

MAX_PASSKEYS: Final = 20
LONGEST_NAME: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Totp:
    """An account's authenticator app.

    secret: None where it can't be read any more; then no code is right.
    confirmed_at: None until a first code proved that the app has the secret.
    last_step: of the last code that was used; it and those before it work no more. Before any was
    used, the one before the first that counts.
    """

    secret: bytes | None
    confirmed_at: datetime | None
    last_step: int


def new_totp(secret: bytes, at: datetime) -> Totp:
    """Return a new app that waits for its first code."""
    return Totp(secret=secret, confirmed_at=None, last_step=step_at(at) - STEPS_OFF - 1)


def is_waiting(totp: Totp, at: datetime) -> bool:
    """Whether its first code may still come."""
    made_at = totp.last_step + STEPS_OFF + 1
    return totp.confirmed_at is None and step_at(at - WAITS_FOR) < made_at


def step_at(at: datetime) -> int:
    """Return the number of the code that is good at that time."""
    return int(at.timestamp()) // STEP_SECONDS


def code_of(secret: bytes, step: int) -> str:
    """Return the code of that number, by RFC 4226, 5.3."""
    mac = hmac.new(secret, struct.pack(">Q", step), hashlib.sha1).digest()
    offset = mac[-1] & 0x0F
    (number,) = struct.unpack_from(">I", mac, offset)
    return f"{(number & 0x7FFFFFFF) % 10**DIGITS:0{DIGITS}}"


def step_of_code(totp: Totp, typed: str, at: datetime) -> int | None:
    """Return the number of the code that was typed; None where it is wrong or was used before."""
    if totp.secret is None:
        return None
    code = "".join(typed.split())
    now = step_at(at)
    good = [
        step
        for step in range(now - STEPS_OFF, now + STEPS_OFF + 1)
        if hmac.compare_digest(code_of(totp.secret, step).encode(), code.encode())
    ]
    return next((step for step in good if step > totp.last_step), None)


def secret_in_words(secret: bytes) -> str:
    """Format the secret as people type it into an app."""
    return base32_text(secret).upper()


def key_uri(secret: bytes, email: str, service: str) -> str:
    """Return what a QR code for an authenticator app holds."""
    label = quote(f"{service}:{email}", safe="")
    issuer = quote(service, safe="")
    return f"otpauth://totp/{label}?secret={secret_in_words(secret)}&issuer={issuer}"


def new_recovery_codes(token_bytes: TokenBytes) -> list[str]:
    """Ten, each good for one sign-in without the app."""
    return [random_letters(RECOVERY_CODE_LENGTH, token_bytes) for _ in range(RECOVERY_CODES)]


def parse_recovery_code(typed: str) -> str | None:
    """The code a person typed, whatever its case, blanks and hyphens; None if it is no code."""
    code = "".join(typed.split()).replace("-", "").upper()
    is_long_enough = len(code) in (RECOVERY_CODE_LENGTH, OLD_RECOVERY_CODE_LENGTH)
    return code if is_long_enough and set(code) <= set(LINK_CODE_ALPHABET) else None


def spaced(code: str) -> str:
    """Return a recovery code as it is shown: in fours."""
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))


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
