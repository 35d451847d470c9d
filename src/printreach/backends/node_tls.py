"""TLS between nodes: one certificate, which every node makes of the service's key and trusts alone.

It is the same on each node to the byte, so there is nothing to hand out or to renew: whoever shows
it has the key.
"""

import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import (
    BasicConstraints,
    CertificateBuilder,
    DNSName,
    Name,
    NameAttribute,
    SubjectAlternativeName,
)
from cryptography.x509.oid import NameOID

_NAME: Final = "nodes.printreach.internal"
_BEGINS: Final = datetime(2020, 1, 1, tzinfo=UTC)
_ENDS: Final = datetime(2120, 1, 1, tzinfo=UTC)


class NodeTls(NamedTuple):
    """The contexts of both ends of a link."""

    dialling: ssl.SSLContext
    answering: ssl.SSLContext


def node_tls(secret: bytes) -> NodeTls:
    """secret: 32 bytes, the same on every node."""
    key = Ed25519PrivateKey.from_private_bytes(secret)
    certificate = _certificate(key)
    # Python reads keys from files alone; only this user can read it, and it is gone at once.
    with tempfile.NamedTemporaryFile() as file:
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        Path(file.name).write_bytes(pem + certificate)
        answering = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        answering.minimum_version = ssl.TLSVersion.TLSv1_3
        answering.load_cert_chain(file.name)
    dialling = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    dialling.minimum_version = ssl.TLSVersion.TLSv1_3
    # The one certificate is that of every node, whatever its address.
    dialling.check_hostname = False
    dialling.load_verify_locations(cadata=certificate.decode())
    return NodeTls(dialling, answering)


def _certificate(key: Ed25519PrivateKey) -> bytes:
    """Return the certificate as PEM; the same of the same key, since Ed25519 uses no chance."""
    name = Name([NameAttribute(NameOID.COMMON_NAME, _NAME)])
    builder = (
        CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(_BEGINS)
        .not_valid_after(_ENDS)
        .add_extension(BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(SubjectAlternativeName([DNSName(_NAME)]), critical=False)
    )
    return builder.sign(key, None).public_bytes(Encoding.PEM)
