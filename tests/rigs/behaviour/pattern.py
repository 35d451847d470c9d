"""Bytes of any length that differ at every block, so that a lost or swapped piece shows."""

import hashlib
import random
from collections.abc import Iterator

BLOCK = 64 * 1024
_FILL = random.Random(8765).randbytes(BLOCK - 8)


def blocks(size: int) -> Iterator[bytes]:
    """The pattern's first size bytes, in blocks that begin with their own number."""
    for number in range(-(-size // BLOCK)):
        block = number.to_bytes(8, "big") + _FILL
        yield block[: size - number * BLOCK]


def pattern(size: int) -> bytes:
    """The same in one piece."""
    return b"".join(blocks(size))


def digest(size: int) -> str:
    """SHA-256 of the pattern's first size bytes."""
    return hashed(blocks(size))


def hashed(pieces: Iterator[bytes]) -> str:
    """SHA-256 of these pieces together."""
    total = hashlib.sha256()
    for piece in pieces:
        total.update(piece)
    return total.hexdigest()
