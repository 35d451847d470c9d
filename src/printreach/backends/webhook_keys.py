"""The keys that sign webhooks: Ed25519, in a file of the data directory.

The file is read again whenever it has changed, so the command that rotates the keys does not have
to tell the running service. If it is lost, receivers fetch the new public key.
"""

import hashlib
import logging
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.contract.codec import BAD_JSON
from printreach.rules.webhooks.messages import KEY_OVERLAP, SigningKey
from printreach.store.key_files import KeyFileRefused, flush_folder

log = logging.getLogger(__name__)

KEYS_FILE: Final = "webhook-keys.json"


class WebhookKeysRefused(KeyFileRefused):
    """The webhook keys cannot be used; the message is a sentence."""


class _StoredKey(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """private_key: 32 bytes, in base64. not_after: None for the newest."""

    private_key: bytes
    not_after: datetime | None = None


class _KeyFile(msgspec.Struct, frozen=True, rename="pascal"):
    """The stored keys, newest first."""

    keys: tuple[_StoredKey, ...]


class FileWebhookKeys:
    """ports.WebhookKeys. Created by open_webhook_keys."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._keys: list[SigningKey] = []
        self._read()

    def signing(self, at: datetime) -> Sequence[SigningKey]:
        try:
            self._read()
        except (OSError, WebhookKeysRefused) as error:
            log.error(
                "the webhook keys can't be read; the previous ones still sign: %s",
                error,
            )
        return [key for key in self._keys if key.not_after is None or at < key.not_after]

    def _read(self) -> None:
        """Read the file again if it has changed. Raises OSError and WebhookKeysRefused."""
        facts = self._path.stat()
        version = (facts.st_mtime_ns, facts.st_ino)
        if version != self._version:
            self._keys = [_signing_key(stored) for stored in _load(self._path)]
            self._version = version


def open_webhook_keys(data_dir: Path) -> FileWebhookKeys:
    """Return the keys in the data directory; the first is created at the first start.

    Raises WebhookKeysRefused.
    """
    path = data_dir / KEYS_FILE
    try:
        if not path.exists():
            _write(path, [_new_key()], is_first=True)
        return FileWebhookKeys(path)
    except OSError as error:
        raise WebhookKeysRefused(
            f"The keys of webhooks in {path} can't be used: {error.strerror}."
        ) from error


def rotate_webhook_keys(data_dir: Path, at: datetime) -> Sequence[SigningKey]:
    """Sign with a new key from now on, and for a while with the former one; return those in force.

    Raises WebhookKeysRefused.
    """
    open_webhook_keys(data_dir)
    path = data_dir / KEYS_FILE
    try:
        keys = [_ending(one, at) for one in _load(path)]
        living = [key for key in keys if key.not_after is None or at < key.not_after]
        _write(path, [_new_key(), *living], is_first=False)
    except OSError as error:
        raise WebhookKeysRefused(
            f"The keys of webhooks in {path} can't be changed: {error.strerror}."
        ) from error
    return FileWebhookKeys(path).signing(at)


def _new_key() -> _StoredKey:
    return _StoredKey(private_key=Ed25519PrivateKey.generate().private_bytes_raw())


def _ending(key: _StoredKey, at: datetime) -> _StoredKey:
    if key.not_after is not None:
        return key
    return _StoredKey(private_key=key.private_key, not_after=at + KEY_OVERLAP)


def _signing_key(stored: _StoredKey) -> SigningKey:
    key = Ed25519PrivateKey.from_private_bytes(stored.private_key)
    public = key.public_key().public_bytes_raw()
    return SigningKey(
        key_id=hashlib.sha256(public).hexdigest()[:16],
        public=public,
        sign=key.sign,
        not_after=stored.not_after,
    )


def _load(path: Path) -> Sequence[_StoredKey]:
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_KeyFile)
        for one in stored.keys:
            _signing_key(one)
    except (*BAD_JSON, ValueError) as error:
        raise WebhookKeysRefused(
            f"The file {path} is damaged: put it back from a copy, or remove it and have new keys"
            " made at the next start."
        ) from error
    return stored.keys


def _write(path: Path, keys: Sequence[_StoredKey], *, is_first: bool) -> None:
    """Write the file as a whole or not at all; the first one never over another process's."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(_KeyFile(tuple(keys))))
            file.flush()
            os.fsync(file.fileno())
        if is_first:
            _link_unless_there(draft, path)
        else:
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    flush_folder(path.parent)


def _link_unless_there(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # the other process's keys are as good
