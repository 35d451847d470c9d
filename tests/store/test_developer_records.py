"""Stored apps, keys, usage and claims."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from printreach.rules.apps.registration import AppIdHolder
from printreach.rules.detection.access import DetectionCaller, DetectionKey
from printreach.rules.detection.address_claims import AddressClaim
from printreach.rules.detection.usage import Billing, Calls, DayOfUse, Month, Switches
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import ADA, CONNECTION, DEMO, SECOND, digests, store_all

KEY = DetectionKey(key_id="k1", account_id="ada", name="Farm", created_at=NOON)
ADAS_APP = replace(
    DEMO,
    app_id="Adas",
    name="Ada's",
    owner_id="ada",
    logo_url="https://cdn.example/l.png",
    takes_other_logos=False,
    max_connections=5,
    max_connections_a_printer=1,
)
CLAIM = AddressClaim(network="8.8.8.8", account_id="ada", claimed_at=NOON, used_at=NOON)
MAY = Month(2026, 5)


async def store_key(store: Store, key: DetectionKey = KEY) -> None:
    async def put(records: Records) -> None:
        await records.detection_keys.add(key, key.key_id.encode().ljust(32))

    await store.write(put)


async def delete_ada(store: Store) -> None:
    await store.write(lambda records: records.accounts.delete("ada"))


@on_a_loop
async def test_an_app_is_found_as_it_was_registered_and_changed(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.apps.add(ADAS_APP))
        changed = replace(ADAS_APP, name="Other", max_connections=None, return_prefixes=("a://",))
        await store.write(lambda records: records.apps.put(changed))

        assert await store.read(lambda records: records.apps.get("Adas")) == changed
        assert await store.read(lambda records: records.apps.of_owner("ada")) == [changed]
        assert await store.read(lambda records: records.apps.all()) == [changed, DEMO]


@on_a_loop
async def test_a_removed_app_leaves_nothing_but_its_id(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.apps.add(ADAS_APP))
        await store.write(lambda records: records.apps.remove("Adas", NOON))

        assert await store.read(lambda records: records.apps.get("Adas")) is None
        assert await store.read(lambda records: records.apps.all()) == [DEMO]
        assert await store.read(lambda records: records.apps.holders("aDAs")) == [
            AppIdHolder(owner_id="ada", is_removed=True)
        ]
        assert await store.read(lambda records: records.apps.ids_of_owner("ada")) == 1


@on_a_loop
async def test_an_app_that_was_removed_can_be_added_again(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.apps.remove("demo", NOON))
        await store.write(lambda records: records.apps.add(DEMO))

        assert await store.read(lambda records: records.apps.get("demo")) == DEMO


@on_a_loop
async def test_connections_of_an_app_are_counted_while_they_live(
    database: DatabaseLocation,
) -> None:
    expiring = replace(CONNECTION, connection_id="c2", unique_id="app-c2", expires_at=NOON + SECOND)
    revoked = replace(CONNECTION, connection_id="c3", unique_id="app-c3", revoked_at=NOON)
    async with open_store(database) as store:
        await store_all(store)

        async def add(records: Records) -> None:
            await records.connections.add(expiring, digests("c2"))
            await records.connections.add(revoked, digests("c3"))

        await store.write(add)

        async def living(at_s: int) -> int:
            at = NOON + at_s * SECOND
            return await store.read(lambda records: records.connections.living_of_app("demo", at))

        assert [await living(0), await living(1)] == [2, 1]
        await store.write(lambda records: records.connections.revoke_all_of_app("demo", NOON))
        assert await living(0) == 0
        every = await store.read(lambda records: records.connections.of_app("demo"))
        assert [one.connection_id for one in every] == ["c1", "c2", "c3"]


async def caller(store: Store, key_id: str, network: str | None = None) -> DetectionCaller | None:
    digest = key_id.encode().ljust(32)
    return await store.read(lambda records: records.detection_keys.caller(digest, network, MAY))


@on_a_loop
async def test_a_caller_is_found_by_the_digest_of_the_key_and_by_nothing_near_it(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_key(store)

        assert await caller(store, "k1") == DetectionCaller(
            key=KEY, switches=None, claim=None, calls_so_far=0
        )
        assert await caller(store, "K1") is None


@on_a_loop
async def test_all_that_is_known_of_a_caller_is_found_in_one_look(
    database: DatabaseLocation,
) -> None:
    switches, bobs = Switches(free_only=False), replace(ADA, account_id="bob", email="b@b.org")
    async with open_store(database) as store:
        await store_all(store)
        await store_key(store)
        await store_key(store, replace(KEY, key_id="k2"))

        async def put(records: Records) -> None:
            await records.accounts.add(bobs)
            await records.detection_switches.put("ada", switches)
            await records.detection_claims.put(replace(CLAIM, account_id="bob"))
            for key_id, day, calls in (
                ("k1", date(2026, 5, 1), 2),
                ("k2", date(2026, 5, 31), 3),
                ("k1", date(2026, 4, 30), 100),
                ("k1", date(2026, 6, 1), 200),
            ):
                await records.detection_usage.add(key_id, day, Calls(all=calls))

        await store.write(put)
        there = replace(CLAIM, account_id="bob")
        assert await caller(store, "k1", "8.8.8.8") == DetectionCaller(
            key=KEY, switches=switches, claim=there, calls_so_far=5
        )
        elsewhere = await caller(store, "k1", "9.9.9.9")
        assert elsewhere is not None
        assert elsewhere.claim is None


@on_a_loop
async def test_a_disabled_key_keeps_the_time_and_use_never_goes_back(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_key(store)

        async def change(records: Records) -> None:
            for seconds in (5, 3):
                await records.detection_keys.note_use("k1", NOON + seconds * SECOND)
                await records.detection_keys.disable("k1", NOON + seconds * SECOND)

        await store.write(change)
        key = await store.read(lambda records: records.detection_keys.get("k1"))
        at = NOON + 5 * SECOND
        assert key == replace(KEY, last_used_at=at, disabled_at=at)


@on_a_loop
async def test_calls_of_a_day_add_up_and_outlive_their_key(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_key(store)

        async def use(records: Records) -> None:
            await records.detection_usage.add("k1", date(2026, 5, 1), Calls(all=2))
            await records.detection_usage.add("k1", date(2026, 5, 1), Calls(all=3, paid=1))
            await records.detection_usage.add("k1", date(2026, 5, 31), Calls(all=1))
            await records.detection_usage.add("k1", date(2026, 4, 30), Calls(all=100))
            await records.detection_usage.add("k1", date(2026, 6, 1), Calls(all=200))
            await records.detection_usage.add("unknown", date(2026, 5, 1), Calls(all=9))
            await records.detection_keys.forget("k1")

        await store.write(use)
        first = DayOfUse(
            account_id="ada", key_id="k1", day=date(2026, 5, 1), calls=Calls(all=5, paid=1)
        )
        usage = await store.read(lambda records: records.detection_usage.of_month("ada", MAY))
        assert usage == [first, replace(first, day=date(2026, 5, 31), calls=Calls(all=1))]
        months = await store.read(lambda records: records.detection_usage.months("ada"))
        assert months == [Month(2026, 6), MAY, Month(2026, 4)]


@on_a_loop
async def test_an_account_without_use_has_no_months(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        assert await store.read(lambda records: records.detection_usage.months("ada")) == []


@pytest.mark.parametrize("billing", Billing)
@on_a_loop
async def test_switches_are_kept_as_they_were_put(
    database: DatabaseLocation, billing: Billing
) -> None:
    switches = Switches(free_only=False, billing=billing)
    async with open_store(database) as store:
        await store_all(store)
        assert await store.read(lambda records: records.detection_switches.get("ada")) is None
        await store.write(lambda records: records.detection_switches.put("ada", Switches()))
        await store.write(lambda records: records.detection_switches.put("ada", switches))

        assert await store.read(lambda records: records.detection_switches.get("ada")) == switches


@on_a_loop
async def test_a_claim_is_kept_released_and_forgotten(database: DatabaseLocation) -> None:
    later = replace(CLAIM, used_at=NOON + timedelta(days=1))
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.detection_claims.put(CLAIM))
        await store.write(lambda records: records.detection_claims.put(later))
        await store.write(
            lambda records: records.detection_claims.put(
                replace(CLAIM, network="9.9.9.9", account_id="gone")
            )
        )

        assert await store.read(lambda records: records.detection_claims.all()) == [later]
        await store.write(lambda records: records.detection_claims.forget(later.used_at))
        assert await store.read(lambda records: records.detection_claims.get("8.8.8.8")) == later
        release = await store.write(lambda records: records.detection_claims.release("8.8.8.8"))
        again = await store.write(lambda records: records.detection_claims.release("8.8.8.8"))
        assert (release, again) == (True, False)


@on_a_loop
async def test_an_account_takes_its_keys_usage_switches_and_claims_along(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store_key(store)

        async def put(records: Records) -> None:
            await records.detection_usage.add("k1", date(2026, 5, 1), Calls(all=2))
            await records.detection_switches.put("ada", Switches())
            await records.detection_claims.put(CLAIM)

        await store.write(put)
        await delete_ada(store)

        assert await store.read(lambda records: records.detection_keys.get("k1")) is None
        assert await store.read(lambda records: records.detection_usage.of_month("ada", MAY)) == []
        assert await store.read(lambda records: records.detection_switches.get("ada")) is None
        assert await store.read(lambda records: records.detection_claims.all()) == []
        await store.write(lambda records: records.accounts.add(ADA))
