"""Secrets that have to be used again, so that a digest will not do: sealed with a service key.

A copy of the database without the data directory's key reveals none of them. The keys have a file
of their own, so that they can be rotated without every agent being linked again.
"""

import base64
import secrets
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from printreach.store.key_files import KeyFileRefused, write_once

KEYS_FILE: Final = "sealing.keys"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_VERSION: Final = b"\x01"


class SealingKeysRefused(KeyFileRefused):
    """The sealing keys cannot be used; the message is a sentence."""


class KeySealer:
    """ports.Sealer. key: 32 bytes. older: keys that unseal what they sealed, and seal no more.

    Format: version, nonce, ciphertext and tag.
    """

    def __init__(
        self, key: bytes, token_bytes: Callable[[int], bytes], older: Sequence[bytes] = ()
    ) -> None:
        self._ciphers = [AESGCM(one) for one in (key, *older)]
        self._token_bytes = token_bytes

    def seal(self, text: str, about: str) -> bytes:
        nonce = self._token_bytes(_NONCE_BYTES)
        return _VERSION + nonce + self._ciphers[0].encrypt(nonce, text.encode(), about.encode())

    def unseal(self, sealed: bytes, about: str) -> str | None:
        opened = (_open(cipher, sealed, about) for cipher in self._ciphers)
        return next((text for text in opened if text is not None), None)

    def is_of_newest_key(self, sealed: bytes, about: str) -> bool:
        """Return whether it was sealed by the newest key; otherwise it is to be sealed again."""
        return _open(self._ciphers[0], sealed, about) is not None


class DataDirSealer:
    """A sealer with the keys of a data directory, which are read when they are first needed.

    Raises SealingKeysRefused then.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / KEYS_FILE

    def seal(self, text: str, about: str) -> bytes:
        return self.keys.seal(text, about)

    def unseal(self, sealed: bytes, about: str) -> str | None:
        return self.keys.unseal(sealed, about)

    def is_of_newest_key(self, sealed: bytes, about: str) -> bool:
        return self.keys.is_of_newest_key(sealed, about)

    @cached_property
    def keys(self) -> KeySealer:
        """Return the sealer of the key file, which is created if there is none."""
        try:
            if not self._path.exists():
                write_once(self._path, base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            newest, *older = _read_keys(self._path)
        except OSError as error:
            raise SealingKeysRefused(
                f"The key file {self._path} can't be used: {error.strerror}."
            ) from error
        return KeySealer(newest, secrets.token_bytes, older)


def _open(cipher: AESGCM, sealed: bytes, about: str) -> str | None:
    head = len(_VERSION) + _NONCE_BYTES
    if not sealed.startswith(_VERSION) or len(sealed) <= head:
        return None
    nonce = sealed[len(_VERSION) : head]
    try:
        return cipher.decrypt(nonce, sealed[head:], about.encode()).decode()
    except InvalidTag:
        return None


def _read_keys(path: Path) -> list[bytes]:
    """Parse the keys: one a line, newest first, at least one."""
    lines = path.read_bytes().split()
    try:
        keys = [base64.b64decode(line, validate=True) for line in lines]
    except ValueError:
        keys = []
    if not keys or any(len(key) != _KEY_BYTES for key in keys):
        raise SealingKeysRefused(
            f"The key file {path} is damaged: put it back from a copy. It holds a key of"
            f" {_KEY_BYTES} bytes in base64 on each line; without them no authenticator app signs"
            " anybody in."
        )
    return keys
