"""Passwords, hashed with Argon2id at the parameters of RFC 9106, low memory."""

import asyncio
import gzip
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final, ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from printreach.limiters.fair_semaphore import FairSemaphore

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE: Final = 1
"""Hashes at the same time, 64 MiB each. One alone computes on four threads, so more of them would
take more memory and no less time."""
NICE: Final = 10
"""The nice value of the threads that hash. Threads that a hash starts inherit it. Source:
setpriority(2), "C library/kernel differences"."""
MAX_WAITING: Final = 200
"""About ten seconds of work, shared fairly by the networks that callers come from. A caller from a
network that has used its share must retry later."""


class Argon2Passwords:
    """ports.Passwords. Hashing takes 64 MiB and some time, so it happens on a thread."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
        self._threads = ThreadPoolExecutor(
            AT_ONCE, thread_name_prefix="passwords", initializer=_stand_back
        )
        self._nobodys_hash = ""
        self._slots = FairSemaphore(AT_ONCE, max_waiting=MAX_WAITING)

    async def hash(self, password: str, network: str) -> str:
        return await self._on_a_thread(network, self._hasher.hash, password)

    async def matches(self, password: str, password_hash: str, network: str) -> bool:
        if not password_hash:
            return await self._matches_nobody(password, network)
        return await self._on_a_thread(network, self._verify, password_hash, password)

    def is_common(self, password: str) -> bool:
        return is_common(password)

    async def _on_a_thread(
        self, network: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._slots.acquire(network)
        call = partial(work, *args, **kwargs)
        job = asyncio.get_running_loop().run_in_executor(self._threads, call)
        job.add_done_callback(partial(self._end, network))
        # A caller who leaves does not end the work on the thread, which keeps its slot until then.
        return await asyncio.shield(job)

    def _end(self, network: str, job: "asyncio.Future[Any]") -> None:
        self._slots.release(network)
        if not job.cancelled():
            job.exception()  # the caller may have left; then no one else retrieves it

    async def _matches_nobody(self, password: str, network: str) -> bool:
        """Take as long as for an existing account, so that the time does not reveal who has one."""
        if not self._nobodys_hash:
            self._nobodys_hash = await self.hash("nobody has this password", network)
        await self.matches(password, self._nobodys_hash, network)
        return False

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False


def _stand_back() -> None:
    """Lower the priority of this thread alone, where the system has one for each thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def is_common(password: str) -> bool:
    """Return whether the list of zxcvbn has it. password: in lower case, 8 characters or more."""
    return password in _common_passwords()


@cache
def _common_passwords() -> frozenset[str]:
    packed = (files(__package__) / "common_passwords" / "passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())
