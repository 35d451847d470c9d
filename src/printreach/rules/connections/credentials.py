"""Makes secrets, and the digests by which they are stored and compared.

Randomness comes in as a function of the number of bytes, `secrets.token_bytes` in service.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from printreach.rules.connections import ConnectionKind

TokenBytes = Callable[[int], bytes]

LINK_CODE_ALPHABET: Final = "ACDEFGHJKMNPQRTUWXY34679"
"""At most one of each look-alike group (0/O, 1/I/L, 2/Z, 5/S, 8/B, U/V) is in it."""
LINK_CODE_LENGTH: Final = 8


class CredentialKind(Enum):
    """The purpose of a secret; part of its digest, so that no secret passes for another kind."""

    BASIC = b"basic"
    BEARER = b"bearer"
    COOKIE = b"cookie"
    OPEN_TICKET = b"open-ticket"
    APP_API_TOKEN = b"app-api-token"
    LINK_CODE = b"link-code"
    SESSION = b"session"
    SIGN_IN_STEP = b"sign-in-step"
    MAIL_LINK = b"mail-link"
    ACCESS_TOKEN = b"access-token"
    INVITATION = b"invitation"
    RECOVERY_CODE = b"recovery-code"
    PORTAL_BROWSER = b"portal-browser"
    PORTAL_FORM = b"portal-form"
    OIDC_STATE = b"oidc-state"
    OIDC_NONCE = b"oidc-nonce"
    OIDC_VERIFIER = b"oidc-verifier"
    DETECTION_KEY = b"detection-key"
    PUSH_ACT = b"push-act"
    MEMBER_INVITATION = b"member-invitation"


@dataclass(frozen=True, kw_only=True, slots=True)
class AppSecrets:
    """The secrets that an app is sent once, when its connection is made."""

    basic_user: str
    basic_password: str
    bearer_token: str
    app_api_token: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AppDigests:
    """The digests of an app's secrets, which are stored."""

    basic: bytes
    bearer: bytes
    app_api_token: bytes


def digest(kind: CredentialKind, value: bytes) -> bytes:
    """Return the 32 bytes that stand for a secret in the database; BASIC takes `user:password`.

    A fast hash is right here: the secrets are random with 128 bits and more, so there is no
    dictionary to try, and a slow one would be paid on every request. A link code is shorter, but
    it lives ten minutes and its tries are counted.
    """
    return hashlib.sha256(b"printreach:" + kind.value + b":" + value).digest()


def digest_of_authorization(value: bytes) -> bytes | None:
    """Return the digest of an `Authorization` value; None where it is neither Basic nor Bearer."""
    scheme, _, rest = value.strip().partition(b" ")
    credentials = rest.strip()
    match scheme.lower():
        case b"bearer" if credentials:
            return digest(CredentialKind.BEARER, credentials)
        case b"basic":
            return _digest_of_basic(credentials)
        case _:
            return None


def digest_of_service_api_key(value: bytes) -> list[bytes]:
    """Return the digests of a `service_api_key`: a bearer token, or base64 `user:password`.

    value: as sent, its percent-encoding undone.
    """
    candidates = [digest(CredentialKind.BEARER, value), _digest_of_basic(value)]
    return [candidate for candidate in candidates if candidate is not None]


def new_unique_id(kind: ConnectionKind, token_bytes: TokenBytes) -> str:
    """Return the first label of a printer host: kind and 160 random bits, a valid DNS label."""
    return f"{kind.value}-{base32_text(token_bytes(20))}"


def new_record_id(token_bytes: TokenBytes) -> str:
    """Return the id of an account, a connection or another row; 128 random bits, not a secret."""
    return base32_text(token_bytes(16))


def new_secret(token_bytes: TokenBytes) -> str:
    """160 random bits, in letters and digits alone: safe in a URL, a shell and a header."""
    return base32_text(token_bytes(20))


def new_session_token(token_bytes: TokenBytes) -> str:
    """256 random bits, in letters and digits alone: what a browser's cookie holds."""
    return base32_text(token_bytes(32))


def new_app_secrets(token_bytes: TokenBytes) -> AppSecrets:
    """Return a fresh set; the user name, too, is random."""
    return AppSecrets(
        basic_user=base32_text(token_bytes(10)),
        basic_password=new_secret(token_bytes),
        bearer_token=new_secret(token_bytes),
        app_api_token=new_secret(token_bytes),
    )


def digests_of(secrets: AppSecrets) -> AppDigests:
    """Return the digests that are stored."""
    pair = f"{secrets.basic_user}:{secrets.basic_password}"
    return AppDigests(
        basic=digest(CredentialKind.BASIC, pair.encode()),
        bearer=digest(CredentialKind.BEARER, secrets.bearer_token.encode()),
        app_api_token=digest(CredentialKind.APP_API_TOKEN, secrets.app_api_token.encode()),
    )


def new_link_code(token_bytes: TokenBytes) -> str:
    """Eight characters that are distinguishable on a small screen, about 37 random bits."""
    return random_letters(LINK_CODE_LENGTH, token_bytes)


def random_letters(length: int, token_bytes: TokenBytes) -> str:
    """Return that many letters of LINK_CODE_ALPHABET, each of them log2(24) = 4.58 random bits."""
    letters: list[str] = []
    # Bytes from 240 up are thrown away: 24 does not divide 256, and the first letters of the
    # alphabet must not be likelier than the last.
    fair_below = 256 - 256 % len(LINK_CODE_ALPHABET)
    while len(letters) < length:
        fair = [byte for byte in token_bytes(length) if byte < fair_below]
        letters += [LINK_CODE_ALPHABET[byte % len(LINK_CODE_ALPHABET)] for byte in fair]
    return "".join(letters[:length])


def parse_link_code(typed: str) -> str | None:
    """Return the code a person typed, whatever its case, blanks and hyphens.

    None if it is no code.
    """
    code = "".join(typed.split()).replace("-", "").upper()
    if len(code) != LINK_CODE_LENGTH or not set(code) <= set(LINK_CODE_ALPHABET):
        return None
    return code


def printer_id_of(public_key: bytes) -> str:
    """Return an agent's PrinterId: 32 characters, derived from its raw Ed25519 public key."""
    return base32_text(hashlib.sha256(public_key).digest()[:20])


def _digest_of_basic(encoded: bytes) -> bytes | None:
    try:
        # Some clients leave the padding out.
        decoded = base64.b64decode(encoded + b"=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        return None
    return digest(CredentialKind.BASIC, decoded) if b":" in decoded else None


def base32_text(data: bytes) -> str:
    """Write bytes in lower-case base32 (RFC 4648) without padding, 5 bits a character."""
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()
