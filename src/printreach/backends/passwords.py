"""Passwords, hashed with Argon2id at the parameters of RFC 9106, low memory."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from printreach.backends.common_passwords import is_common
from printreach.ports import TooBusy

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE: Final = 2
"""Hashes at the same time, 64 MiB each: a crowd that signs in waits, and eats no more memory."""
MOST_WAITING: Final = 200
"""About ten seconds of work; whoever comes then is asked to come back."""


class Argon2Passwords:
    """ports.Passwords. Hashing takes 64 MiB and some time, so it happens on a thread."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="passwords")
        self._nobodys_hash = ""
        self._waiting = 0

    async def hash(self, password: str) -> str:
        return await self._on_a_thread(self._hasher.hash, password)

    async def matches(self, password: str, password_hash: str) -> bool:
        if not password_hash:
            return await self._matches_nobody(password)
        return await self._on_a_thread(self._verify, password_hash, password)

    def is_common(self, password: str) -> bool:
        return is_common(password)

    async def _on_a_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._waiting >= MOST_WAITING:
            raise TooBusy(f"{MOST_WAITING} passwords wait to be hashed")
        self._waiting += 1
        try:
            call = partial(work, *args, **kwargs)
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        finally:
            self._waiting -= 1

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
