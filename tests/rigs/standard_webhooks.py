"""Verifies messages by the public rules of Standard Webhooks, and shares nothing with our code.

Written from the specification, "Verifying webhook authenticity", for asymmetric signatures (`v1a`);
the specification's own Python library knows symmetric ones alone.
"""

from base64 import b64decode
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TOLERANCE_S = 300


def verify(headers: Mapping[str, str], body: bytes, public_key: bytes, *, at: float) -> bool:
    """Return whether the message is authentic and recent. Header names ignore case."""
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = lower["webhook-id"], lower["webhook-timestamp"]
    if abs(at - int(timestamp)) > TOLERANCE_S:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    return any(
        _is_by(public_key, b64decode(signature, validate=True), signed)
        for version, _, signature in (
            part.partition(",") for part in lower["webhook-signature"].split(" ")
        )
        if version == "v1a"
    )


def _is_by(public_key: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, signed)
    except InvalidSignature:
        return False
    return True
