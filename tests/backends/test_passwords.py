"""Passwords are hashed so that only the right one matches."""

import pytest
from argon2 import PasswordHasher

from printreach.backends.passwords import Argon2Passwords
from tests.fakes.loop import on_a_loop

CHEAP = Argon2Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@on_a_loop
async def test_only_the_right_password_matches() -> None:
    stored = await CHEAP.hash("correct horse")

    assert await CHEAP.matches("correct horse", stored)
    assert not await CHEAP.matches("correct horsf", stored)


@on_a_loop
async def test_the_same_password_is_stored_differently_each_time() -> None:
    assert await CHEAP.hash("correct horse") != await CHEAP.hash("correct horse")


@pytest.mark.parametrize("stored", ["", "plain", "$argon2id$v=19$nonsense"])
def test_a_hash_that_cannot_be_read_matches_nothing(stored: str) -> None:
    @on_a_loop
    async def body() -> None:
        assert not await CHEAP.matches("", stored)

    body()


@pytest.mark.slow
@on_a_loop
async def test_in_service_the_hash_is_argon2id_with_64_mib() -> None:
    stored = await Argon2Passwords().hash("correct horse")

    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
