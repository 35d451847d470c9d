"""Secrets that have to be used again, so a digest will not do: sealed with a key of the service.

Who has the database without the data directory's key reads none of them.
"""

from collections.abc import Callable
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES: Final = 12
_VERSION: Final = b"\x01"


class KeySealer:
    """ports.Sealer. key: 32 bytes. What is sealed: version, nonce, text and tag."""

    def __init__(self, key: bytes, token_bytes: Callable[[int], bytes]) -> None:
        self._cipher = AESGCM(key)
        self._token_bytes = token_bytes

    def seal(self, text: str, about: str) -> bytes:
        nonce = self._token_bytes(_NONCE_BYTES)
        return _VERSION + nonce + self._cipher.encrypt(nonce, text.encode(), about.encode())

    def unseal(self, sealed: bytes, about: str) -> str | None:
        head = len(_VERSION) + _NONCE_BYTES
        if not sealed.startswith(_VERSION) or len(sealed) <= head:
            return None
        nonce = sealed[len(_VERSION) : head]
        try:
            return self._cipher.decrypt(nonce, sealed[head:], about.encode()).decode()
        except InvalidTag:
            return None
