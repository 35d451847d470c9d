"""The service's own Ed25519 key, which agents pin when they are linked.

Without it every linked agent refuses the service, so it is written once, durably, and a damaged one
stops the start instead of being replaced.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
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

from printreach.rules.connections.internal_grants import InternalKey
from printreach.rules.nodes import NodeKey
from printreach.store.key_files import KeyFileRefused, write_once

KEY_FILE = "service.key"


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """public: 32 bytes. sign: returns a signature of 64 bytes. internal: see internal_grants.

    nodes: with which nodes of the service know each other. nodes_tls: 32 bytes, of the private key
    of the certificate that they share.
    """

    public: bytes
    sign: Callable[[bytes], bytes]
    internal: InternalKey
    nodes: NodeKey
    nodes_tls: bytes = field(repr=False)


def load_or_make_service_key(data_dir: Path) -> ServiceKey:
    """Return the key in the data directory, created at the first start.

    Raises KeyFileRefused.
    """
    path = data_dir / KEY_FILE
    try:
        try:
            key = _load(path)
        except FileNotFoundError:
            _make(path)
            key = _load(path)  # another process was faster, and its key counts
    except OSError as error:
        raise KeyFileRefused(f"The key file {path} can't be used: {error.strerror}.") from error
    return ServiceKey(
        key.public_key().public_bytes_raw(),
        key.sign,
        InternalKey(_derived(key, b"printreach internal grants v1")),
        NodeKey(_derived(key, b"printreach node links v1")),
        _derived(key, b"printreach node certificate v1"),
    )


def _derived(key: Ed25519PrivateKey, purpose: bytes) -> bytes:
    """Derive a separate key for a purpose, so that none reveals anything about another."""
    derived = HKDF(SHA256(), length=32, salt=None, info=purpose)
    return derived.derive(key.private_bytes_raw())


def _load(path: Path) -> Ed25519PrivateKey:
    content = path.read_bytes()
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileRefused(
            f"The key file {path} is damaged: put it back from a copy. Without it every linked"
            " agent refuses this service."
        )
    return key


def _make(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    write_once(path, pem)
