"""Secrets of authenticator apps lie in the database sealed, with keys beside it."""

import asyncio
import base64
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.rules.accounts.second_factors import Totp, code_of, step_at, step_of_code
from printreach.store.sealing import KEYS_FILE, SealingKeysRefused
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.store.records import ADA, store_all

pytestmark = pytest.mark.sqlite

EVE = replace(ADA, account_id="eve", email="eve@example.org")
SECRET = b"twenty secret bytes."
APP = Totp(secret=SECRET, confirmed_at=NOON, last_step=0)


async def add_app(store: Store) -> None:
    await store_all(store)

    async def put(records: Records) -> None:
        await records.second_factors.set_totp(ADA.account_id, APP)

    await store.write(put)


async def app_of(store: Store, account_id: str = ADA.account_id) -> Totp | None:
    return await store.read(lambda records: records.second_factors.totp(account_id))


def make(database: Path) -> None:
    """A database with Ada and her app."""

    async def main() -> None:
        async with open_store(database) as store:
            await add_app(store)

    asyncio.run(main())


def after_a_start(database: Path) -> Totp | None:
    """Ada's app, as the next start has it."""

    async def main() -> Totp | None:
        async with open_store(database) as store:
            return await app_of(store)

    return asyncio.run(main())


def lay_open(database: Path) -> None:
    """As versions of before had it."""
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE totp_apps SET secret = ?, is_sealed = 0", (SECRET,))
    connection.close()


def on_disk(database: Path) -> bytes:
    files = [file for file in database.parent.iterdir() if file.name != KEYS_FILE]
    return b"".join(file.read_bytes() for file in files)


def new_key(fill: bytes) -> str:
    return base64.b64encode(fill * 32).decode()


def test_a_secret_comes_back_and_lies_nowhere_as_it_is(database: Path) -> None:
    make(database)

    assert after_a_start(database) == APP
    for form in (SECRET, base64.b64encode(SECRET), base64.b32encode(SECRET)):
        assert form not in on_disk(database)


def test_only_this_user_can_read_the_keys(database: Path) -> None:
    make(database)

    assert stat.S_IMODE((database.parent / KEYS_FILE).stat().st_mode) == 0o600


def test_a_secret_that_lay_open_is_sealed_by_the_next_start_and_leaves_no_trace(
    database: Path,
) -> None:
    make(database)
    lay_open(database)
    assert SECRET in on_disk(database)

    assert after_a_start(database) == APP
    assert SECRET not in on_disk(database)


def test_a_new_key_seals_what_the_old_one_did_and_then_does_without_it(database: Path) -> None:
    make(database)
    keys = database.parent / KEYS_FILE
    keys.write_text(new_key(b"n") + "\n" + keys.read_text())

    assert after_a_start(database) == APP
    keys.write_text(new_key(b"n") + "\n")
    assert after_a_start(database) == APP


def test_a_sealed_secret_opens_in_its_own_accounts_row_alone(database: Path) -> None:
    make(database)

    async def main() -> Totp | None:
        async with open_store(database) as store:
            await store.write(lambda records: records.accounts.add(EVE))
            with sqlite3.connect(database) as connection:
                connection.execute("UPDATE totp_apps SET account_id = 'eve'")
            connection.close()
            return await app_of(store, "eve")

    moved = asyncio.run(main())
    assert moved is not None
    assert moved.secret is None


def test_without_its_key_an_app_still_stands_and_no_code_is_right(database: Path) -> None:
    make(database)
    (database.parent / KEYS_FILE).write_text(new_key(b"x"))

    left = after_a_start(database)

    assert left is not None
    assert left.confirmed_at == NOON
    for secret in (SECRET, b""):
        assert step_of_code(left, code_of(secret, step_at(NOON)), NOON) is None


@pytest.mark.parametrize("content", ["", "\n", "not base64!", "c2hvcnQ=", "\u00e9"])
def test_damaged_keys_stop_the_start_with_a_sentence(database: Path, content: str) -> None:
    make(database)
    (database.parent / KEYS_FILE).write_text(content)

    with pytest.raises(SealingKeysRefused, match=r"sealing\.keys is damaged: put it back"):
        after_a_start(database)


def test_a_service_without_secrets_needs_no_keys(database: Path) -> None:
    after_a_start(database)

    assert not (database.parent / KEYS_FILE).exists()
