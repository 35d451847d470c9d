"""The key by which push services recognise this service (VAPID, RFC 8292), in the data directory.

Browsers subscribe with its public half. If it is lost, each of them has to be added again.
"""

from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from printreach.store.key_files import KeyFileRefused, write_once

KEY_FILE: Final = "push.key"


def load_or_make_push_key(data_dir: Path) -> EllipticCurvePrivateKey:
    """Return the key in the data directory, created at the first start. Raises KeyFileRefused."""
    path = data_dir / KEY_FILE
    try:
        if not path.exists():
            write_once(path, _new_key())
        return _load(path)
    except OSError as error:
        raise KeyFileRefused(f"The key file {path} can't be used: {error.strerror}.") from error


def _new_key() -> bytes:
    return generate_private_key(SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )


def _load(path: Path) -> EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise KeyFileRefused(
            f"The key file {path} is damaged: put it back from a copy. Without it no browser is"
            " notified before it was added again."
        )
    return key
