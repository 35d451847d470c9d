"""The service's own Ed25519 key: what agents pin when they are linked.

Losing it makes every linked agent refuse the service, so it is written once, durably, and a
damaged one stops the start instead of being replaced.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from printreach.backends.key_files import write_once
from printreach.rules.internal_grants import InternalKey

KEY_FILE = "service.key"


class ServiceKeyRefused(Exception):
    """The key can't be used; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """public: 32 bytes. sign: makes the 64 bytes of a signature. internal: see internal_grants."""

    public: bytes
    sign: Callable[[bytes], bytes]
    internal: InternalKey


def load_or_make_service_key(data_dir: Path) -> ServiceKey:
    """The key in the data directory, made at the first start. Raises ServiceKeyRefused."""
    path = data_dir / KEY_FILE
    try:
        try:
            key = _load(path)
        except FileNotFoundError:
            _make(path)
            key = _load(path)  # the one that is there: another process may have been faster
    except OSError as error:
        raise ServiceKeyRefused(f"The key file {path} can't be used: {error.strerror}.") from error
    return ServiceKey(
        key.public_key().public_bytes_raw(),
        key.sign,
        InternalKey(_derived(key, b"printreach internal grants v1")),
    )


def _derived(key: Ed25519PrivateKey, purpose: bytes) -> bytes:
    """A key of its own for each use, so that none says anything about another."""
    derived = HKDF(SHA256(), length=32, salt=None, info=purpose)
    return derived.derive(key.private_bytes_raw())


def _load(path: Path) -> Ed25519PrivateKey:
    content = path.read_bytes()
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ServiceKeyRefused(
            f"The key file {path} is damaged: put it back from a copy. Without it every linked"
            " agent refuses this service."
        )
    return key


def _make(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    write_once(path, pem)
