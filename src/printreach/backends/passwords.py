"""Passwords, hashed with Argon2id at the parameters of RFC 9106, low memory."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

AT_ONCE: Final = 2
"""Hashes at the same time, 64 MiB each: a crowd that signs in waits, and eats no more memory."""


class Argon2Passwords:
    """ports.Passwords. Hashing takes 64 MiB and some time, so it happens on a thread."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="passwords")
        self._nobodys_hash = ""

    async def hash(self, password: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._hasher.hash, password
        )

    async def matches(self, password: str, password_hash: str) -> bool:
        if not password_hash:
            return await self._matches_nobody(password)
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._verify, password_hash, password
        )

    async def _matches_nobody(self, password: str) -> bool:
        """Take as long as for somebody, so that time does not tell who has an account."""
        if not self._nobodys_hash:
            self._nobodys_hash = await self.hash("nobody has this password")
        await self.matches(password, self._nobodys_hash)
        return False

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False
