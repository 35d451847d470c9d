"""Passwords are hashed so that only the right one matches."""

import asyncio
import os
import sys
import threading
from typing import Literal

import pytest
from argon2 import PasswordHasher

from printreach.backends.passwords import AT_ONCE, MAX_WAITING, NICE, Argon2Passwords
from printreach.limiters.fair_semaphore import TooBusy
from tests.fakes.loop import on_a_loop
from tests.requirements_of_tests import need

HERE = "192.0.2.1"
CHEAP = Argon2Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@on_a_loop
async def test_only_the_right_password_matches() -> None:
    stored = await CHEAP.hash("correct horse", HERE)

    assert await CHEAP.matches("correct horse", stored, HERE)
    assert not await CHEAP.matches("correct horsf", stored, HERE)


@on_a_loop
async def test_the_same_password_is_stored_differently_each_time() -> None:
    assert await CHEAP.hash("correct horse", HERE) != await CHEAP.hash("correct horse", HERE)


@pytest.mark.parametrize("stored", ["", "plain", "$argon2id$v=19$nonsense"])
def test_a_hash_that_cannot_be_read_matches_nothing(stored: str) -> None:
    @on_a_loop
    async def body() -> None:
        assert not await CHEAP.matches("", stored, HERE)

    body()


@pytest.mark.slow
@on_a_loop
async def test_in_service_the_hash_is_argon2id_with_64_mib() -> None:
    stored = await Argon2Passwords().hash("correct horse", HERE)

    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


@on_a_loop
async def test_a_crowd_waits_and_whoever_comes_to_a_crowd_is_sent_away() -> None:
    places = AT_ONCE + MAX_WAITING
    crowd = [asyncio.create_task(CHEAP.hash("correct horse", HERE)) for _ in range(places)]
    await asyncio.sleep(0)

    with pytest.raises(TooBusy):
        await CHEAP.hash("correct horse", HERE)

    assert len(set(await asyncio.gather(*crowd))) == places
    assert await CHEAP.hash("correct horse", HERE)


@on_a_loop
async def test_a_crowd_from_one_network_sends_nobody_of_another_away() -> None:
    passwords = Argon2Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    crowd = [
        asyncio.create_task(passwords.hash("correct horse", HERE))
        for _ in range(AT_ONCE + MAX_WAITING)
    ]
    await asyncio.sleep(0)

    stored = await passwords.hash("correct horse", "198.51.100.7")

    assert await passwords.matches("correct horse", stored, "198.51.100.7")
    results = await asyncio.gather(*crowd, return_exceptions=True)
    assert sum(isinstance(result, TooBusy) for result in results) == 1


@on_a_loop
async def test_an_account_without_password_takes_as_long_and_matches_nothing() -> None:
    slow = CountingHasher()
    passwords = Argon2Passwords(slow)
    await passwords.matches("first", "", HERE)
    slow.verified = 0

    assert not await passwords.matches("nobody has this password", "", HERE)
    assert slow.verified == 1


class CountingHasher(PasswordHasher):
    """verified: how often it compared."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
        self.verified += 1
        return super().verify(hash, password)


@on_a_loop
async def test_the_threads_that_hash_stand_back_behind_those_that_serve() -> None:
    """Else a crowd that signs up takes the processor from everybody who uses a printer."""
    need("a priority of each thread", sys.platform == "linux", "this test runs on Linux")
    seen: list[tuple[str, int]] = []

    class Watching(PasswordHasher):
        def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
            name = threading.current_thread().name
            seen.append((name, os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))
            return super().hash(password, salt=salt)

    mine = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    await Argon2Passwords(Watching(time_cost=1, memory_cost=8, parallelism=1)).hash("pw", HERE)

    assert [nice for _, nice in seen] == [NICE]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == mine
