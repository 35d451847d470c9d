"""Stored identities at providers of OpenID Connect."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.rules.accounts.oidc import Identity
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.store.records import ADA, store_all

ISSUER = "https://id.example"
MINE = Identity(
    identity_id="i1",
    account_id="ada",
    issuer=ISSUER,
    subject="1001",
    email="ada@id.example",
    created_at=NOON,
    used_at=None,
)


async def add(store: Store, identity: Identity) -> None:
    async def put(records: Records) -> None:
        await records.identities.add(identity)

    await store.write(put)


def test_a_person_is_found_by_provider_and_subject_alone(database: DatabaseLocation) -> None:
    async def main() -> None:
        async with open_store(database) as store:
            await store_all(store)
            await add(store, MINE)

            async def look(records: Records) -> list[Identity | None]:
                asked = [(ISSUER, "1001"), (ISSUER, "1002"), ("https://other.example", "1001")]
                return [await records.identities.with_subject(*one) for one in asked]

            assert await store.read(look) == [MINE, None, None]

    asyncio.run(main())


def test_one_person_at_a_provider_owns_one_account_at_most(database: DatabaseLocation) -> None:
    async def main() -> None:
        async with open_store(database) as store:
            await store_all(store)
            await add(store, MINE)
            with pytest.raises(Exception, match=r"(?i)unique"):
                await add(store, replace(MINE, identity_id="i2"))

    asyncio.run(main())


def test_use_is_noted_and_removing_takes_ones_own_alone(database: DatabaseLocation) -> None:
    async def main() -> None:
        later = NOON + timedelta(days=1)
        async with open_store(database) as store:
            await store_all(store)
            await add(store, MINE)

            async def change(records: Records) -> list[Identity]:
                await records.identities.note_use("i1", later)
                await records.identities.remove("eve", "i1")
                return await records.identities.of_account("ada")

            assert await store.write(change) == [replace(MINE, used_at=later)]
            await store.write(lambda records: records.identities.remove("ada", "i1"))
            left = await store.read(lambda records: records.identities.of_account("ada"))
            assert left == []

    asyncio.run(main())


def test_a_person_at_a_provider_goes_with_the_account(database: DatabaseLocation) -> None:
    async def main() -> None:
        async with open_store(database) as store:
            await store_all(store)
            await add(store, MINE)
            await store.write(lambda records: records.accounts.delete(ADA.account_id))
            found = await store.read(
                lambda records: records.identities.with_subject(ISSUER, "1001")
            )
            assert found is None

    asyncio.run(main())
