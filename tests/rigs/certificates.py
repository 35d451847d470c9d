"""A certificate authority for one test run, made in memory and kept in a folder."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LIFETIME = dt.timedelta(days=2)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject: str, issuer: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
    )


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> Path:
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    path.chmod(0o600)
    return path


def _write_certificate(path: Path, certificate: x509.Certificate) -> Path:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path


def _names(names: list[str]) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([_general_name(name) for name in names])


def self_signed(folder: Path, *names: str) -> tuple[Path, Path]:
    """A certificate that vouches for itself, as a printer's web server has: (chain, key)."""
    key = ec.generate_private_key(ec.SECP256R1())
    built = _builder(names[0], names[0], key.public_key()).add_extension(
        _names(list(names)), critical=False
    )
    certificate = built.sign(key, hashes.SHA256())
    return (
        _write_certificate(folder / "self-signed.pem", certificate),
        _write_key(folder / "self-signed.key", key),
    )


class Authority:
    """A root of its own: issue() signs server certificates, root is what clients trust."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._title = "Printreach test authority"
        certificate = (
            _builder(self._title, self._title, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.root = _write_certificate(folder / "root.pem", certificate)

    def issue(self, *names: str) -> tuple[Path, Path]:
        """A server certificate for these names, wildcards included: (chain, key)."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(names[0], self._title, key.public_key())
            .add_extension(_names(list(names)), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        stem = names[0].replace("*", "wildcard")
        return (
            _write_certificate(self._folder / f"{stem}.pem", certificate),
            _write_key(self._folder / f"{stem}.key", key),
        )
