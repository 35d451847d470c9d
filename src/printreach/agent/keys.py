"""The agent's own key, which is its identity, and the services' keys it was linked with.

Losing `agent.key` makes a new agent, which has to be linked again. `service.json` says whom to
believe: a service that cannot sign with a key pinned there is not the one that was linked, no
matter which certificate its address shows.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from printreach.agent.data_dir import DataDirRefused, read_private, write_private
from printreach.contract.codec import BAD_JSON
from printreach.rules.connections.credentials import printer_id_of

KEY_FILE: Final = "agent.key"
PINS_FILE: Final = "service.json"
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64

# Says what the file is, to a person who opens it and to a later version of this code.
_KEY_HEADER: Final = b"printreach-agent-key-v1 "
_MAX_KEY_FILE_BYTES: Final = 128
_MAX_PINS_FILE_BYTES: Final = 64 * 1024


class AgentKey:
    """An Ed25519 key pair. The private half cannot be read back from here."""

    def __init__(self, private_key: Ed25519PrivateKey) -> None:
        self._private_key = private_key
        self.public_key = private_key.public_key().public_bytes_raw()
        self.printer_id = printer_id_of(self.public_key)

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._private_key.sign(message)

    def __repr__(self) -> str:
        return f"AgentKey(printer_id={self.printer_id!r})"


def load_or_make_key(data_dir: Path) -> AgentKey:
    """Return the agent's key; a first start makes one. The caller holds the folder's lock.

    Raises DataDirRefused when the file is not one of ours, or when others may open it: a key
    that others may have read is not replaced silently, since that would unlink the printer.
    """
    path = data_dir / KEY_FILE
    content = read_private(path, at_most=_MAX_KEY_FILE_BYTES)
    if content is not None:
        return AgentKey(_decode_key(content, path))
    key = Ed25519PrivateKey.generate()
    try:
        write_private(path, _encode_key(key), durable=True)
    except OSError as error:
        raise DataDirRefused(f"The key file {path} cannot be written: {error.strerror}.") from error
    return AgentKey(key)


def is_signed_by(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """True when the signature is the key's, over exactly this message; never raises."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class ServicePin:
    """The facts about one service that the agent learned at linking.

    public_keys: 32 bytes each; more than one while the service changes its key.
    printer_name: what the owner calls the printer there; known even while offline.
    """

    public_keys: tuple[bytes, ...]
    printer_name: str = ""


class ServicePins:
    """The pins by service URL, kept in `service.json`. One pin a service."""

    def __init__(self, path: Path, pins: Mapping[str, ServicePin]) -> None:
        self._path = path
        self._pins = dict(pins)

    @classmethod
    def load(cls, data_dir: Path) -> "ServicePins":
        """Read the file; none is no pins. Raises DataDirRefused when it is not one of ours."""
        path = data_dir / PINS_FILE
        content = read_private(path, at_most=_MAX_PINS_FILE_BYTES)
        return cls(path, {} if content is None else _decode_pins(content, path))

    def get(self, service_url: str) -> ServicePin | None:
        """Return the pin of a service, or None when the agent is not linked with it."""
        return self._pins.get(service_url)

    def put(self, service_url: str, pin: ServicePin) -> None:
        """Keep a pin, in place of an earlier one. Durable on return. Raises OSError."""
        self._write({**self._pins, service_url: pin})

    def drop(self, service_url: str) -> None:
        """Forget a service, because the printer was removed there. Raises OSError."""
        if service_url in self._pins:
            self._write({url: pin for url, pin in self._pins.items() if url != service_url})

    def _write(self, pins: dict[str, ServicePin]) -> None:
        write_private(self._path, _encode_pins(pins), durable=True)
        self._pins = pins


class _StoredPin(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A pin as the file has it; keys in base64, as msgspec writes bytes."""

    service_url: str
    public_keys: tuple[bytes, ...]
    printer_name: str = ""


class _StoredPins(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    services: tuple[_StoredPin, ...]


def _encode_key(key: Ed25519PrivateKey) -> bytes:
    return _KEY_HEADER + base64.b64encode(key.private_bytes_raw()) + b"\n"


def _decode_key(content: bytes, path: Path) -> Ed25519PrivateKey:
    try:
        secret = base64.b64decode(content.removeprefix(_KEY_HEADER).rstrip(b"\n"), validate=True)
        if not content.startswith(_KEY_HEADER):
            raise ValueError
        return Ed25519PrivateKey.from_private_bytes(secret)
    except (binascii.Error, ValueError):
        # The content is not repeated as the cause either: it may be most of a key.
        raise DataDirRefused(
            f"The key file {path} is damaged: put it back from a copy, or remove it and link the"
            " printer again."
        ) from None


def _encode_pins(pins: Mapping[str, ServicePin]) -> bytes:
    stored = tuple(
        _StoredPin(service_url=url, public_keys=pin.public_keys, printer_name=pin.printer_name)
        for url, pin in pins.items()
    )
    return msgspec.json.format(msgspec.json.encode(_StoredPins(services=stored))) + b"\n"


def _decode_pins(content: bytes, path: Path) -> dict[str, ServicePin]:
    try:
        stored = msgspec.json.decode(content, type=_StoredPins)
    except BAD_JSON as error:
        raise DataDirRefused(_damaged_pins(path)) from error
    keys = [key for pin in stored.services for key in pin.public_keys]
    if any(len(key) != KEY_BYTES for key in keys) or not all(
        pin.public_keys for pin in stored.services
    ):
        raise DataDirRefused(_damaged_pins(path))
    return {
        pin.service_url: ServicePin(public_keys=pin.public_keys, printer_name=pin.printer_name)
        for pin in stored.services
    }


def _damaged_pins(path: Path) -> str:
    return f"The file {path} is damaged: remove it and link the printer again."
