"""What a browser does with a push: it decrypts it, by RFC 8291 and RFC 8188.

Written from the RFCs with HMAC alone, so that it shares nothing with what encrypts.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def to_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def private_key(text: str) -> EllipticCurvePrivateKey:
    """A key as the RFCs write it."""
    return derive_private_key(int.from_bytes(from_base64url(text), "big"), SECP256R1())


def decrypt(body: bytes, key: EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """The content of a message of one record."""
    salt, record_bytes, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, ciphertext = body[21 : 21 + length], body[21 + length :]
    assert record_bytes >= len(ciphertext), "it is one record"
    receiver = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = key.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), sender))
    extracted = _hmac(auth, shared)
    secret = _hmac(extracted, b"WebPush: info\0" + receiver + sender + b"\x01")
    extracted = _hmac(salt, secret)
    content_key = _hmac(extracted, b"Content-Encoding: aes128gcm\0\x01")[:16]
    nonce = _hmac(extracted, b"Content-Encoding: nonce\0\x01")[:12]
    padded = AESGCM(content_key).decrypt(nonce, ciphertext, None).rstrip(b"\0")
    assert padded.endswith(b"\x02"), "it is the last record"
    return padded[:-1]


def token_parts(authorization: str) -> tuple[dict[str, Any], bytes, bytes, bytes]:
    """The claims of a VAPID header, what is signed, the signature, and the public key."""
    scheme, _, rest = authorization.partition(" ")
    assert scheme == "vapid"
    fields = dict(one.strip().split("=", 1) for one in rest.split(","))
    head, claims, signature = fields["t"].split(".")
    signed = f"{head}.{claims}".encode()
    return (
        json.loads(from_base64url(claims)),
        signed,
        from_base64url(signature),
        from_base64url(fields["k"]),
    )


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()
