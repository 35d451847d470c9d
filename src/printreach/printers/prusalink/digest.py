"""HTTP Digest, as a client proves that it knows a password. Pure.

Source: RFC 7616, and RFC 2069 for Buddy's firmware, which asks without `qop`. PrusaLink 0.8.1 asks
for MD5-sess with `auth`.
"""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Self

MAX_CHALLENGE_BYTES = 4096
_FIELD = re.compile(r'([A-Za-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_HASHES = {"MD5": "md5", "SHA-256": "sha256"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A server's demand. algorithm: one that it may name, "" where it names none."""

    realm: str
    nonce: str
    algorithm: str = ""
    opaque: str | None = None
    has_qop: bool = False

    @classmethod
    def parse(cls, header: bytes) -> Self | None:
        """Parse a challenge; None for what is no Digest, or one that can't be answered here."""
        scheme, _, rest = header[:MAX_CHALLENGE_BYTES].decode("latin-1").partition(" ")
        if scheme.lower() != "digest":
            return None
        fields = {name.lower(): quoted or plain for name, quoted, plain in _FIELD.findall(rest)}
        qop = [word.strip() for word in fields.get("qop", "").split(",")]
        algorithm = fields.get("algorithm", "")
        if "nonce" not in fields or _hash_name(algorithm) is None:
            return None
        if "qop" in fields and "auth" not in qop:
            return None
        return cls(
            realm=fields.get("realm", ""),
            nonce=fields["nonce"],
            algorithm=algorithm,
            opaque=fields.get("opaque"),
            has_qop="qop" in fields,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    user: str
    password: str = field(repr=False)


def authorization(
    challenge: Challenge, account: Account, method: str, target: str, count: int, cnonce: str
) -> bytes:
    """Return the value of an Authorization header.

    target: as the request line has it. count: how often this nonce has been used, from 1.
    cnonce: unguessable.
    """
    nc = f"{count:08x}"
    secret = _digest(challenge, account.user, challenge.realm, account.password)
    if challenge.algorithm.lower().endswith("-sess"):
        secret = _digest(challenge, secret, challenge.nonce, cnonce)
    request = _digest(challenge, method, target)
    if challenge.has_qop:
        response = _digest(challenge, secret, challenge.nonce, nc, cnonce, "auth", request)
    else:
        response = _digest(challenge, secret, challenge.nonce, request)
    fields = [
        f'username="{_escaped(account.user)}"',
        *(
            f'{name}="{value}"'
            for name, value in (("realm", challenge.realm), ("nonce", challenge.nonce))
        ),
        f'uri="{target}"',
        f'response="{response}"',
    ]
    if challenge.algorithm:
        fields.append(f'algorithm="{challenge.algorithm}"')
    if challenge.opaque is not None:
        fields.append(f'opaque="{challenge.opaque}"')
    if challenge.has_qop:
        fields += ['qop="auth"', f'nc="{nc}"', f'cnonce="{cnonce}"']
    return f"Digest {', '.join(fields)}".encode()


def _digest(challenge: Challenge, *parts: str) -> str:
    name = _hash_name(challenge.algorithm) or "md5"
    return hashlib.new(name, ":".join(parts).encode()).hexdigest()


def _hash_name(algorithm: str) -> str | None:
    name = algorithm.upper().removesuffix("-SESS")
    return _HASHES.get(name or "MD5")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
