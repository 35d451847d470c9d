"""Contexts of the failure-detection API, as they are kept."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from printreach.rules.detection import DetectionContext, Suspicion
from printreach.rules.detection.access import DetectionKey
from printreach.rules.detection.appearance import Appearance
from printreach.rules.detection.contexts import StoredContext
from printreach.rules.detection.scene import SceneMemory
from printreach.store.detection.contexts import detection_contexts, remembered
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import ADA, store_all

SECOND = timedelta(seconds=1)
KEY = DetectionKey(key_id="k1", account_id="ada", name="Farm", created_at=NOON)
FULL = DetectionContext(
    warning_level=1,
    pause_level=5,
    appearance=Appearance(
        first=(-2.5, 0.25), oddest=((-2.25, 0.5), (-7.0, 7.0)), mean=-1.5, risen=-0.75
    ),
    score=18,
    doubted=Appearance(first=(0.5,), mean=0.5),
    seen=SceneMemory(
        background=(bytes(range(256)),),
        doubted=(bytes(range(255, -1, -1)),),
        digest=2**32 - 1,
        repeats=2,
    ),
    last_at=NOON + timedelta(microseconds=7),
    warning=Suspicion(lasting_s=12.5, frames=2, is_above=True),
)
KEPT = StoredContext(
    context_id="c1",
    key_id="k1",
    account_id="ada",
    created_at=NOON,
    used_at=NOON,
    version=0,
    remembered=FULL,
)


async def store_contexts(store: Store, *kept: StoredContext, at_most: int = 100) -> None:
    async def put(records: Records) -> None:
        for one in kept:
            await records.detection_contexts.add(one, at_most)

    await store.write(put)


async def set_up(store: Store) -> None:
    """Ada with a key, and Bob with one."""
    await store_all(store)

    async def put(records: Records) -> None:
        await records.accounts.add(replace(ADA, account_id="bob", email="bob@example.org"))
        for key in (KEY, replace(KEY, key_id="k2", account_id="bob")):
            await records.detection_keys.add(key, key.key_id.encode().ljust(32))

    await store.write(put)


async def advance(store: Store, kept: StoredContext) -> bool:
    return await store.write(lambda records: records.detection_contexts.advance(kept))


async def kept_of(store: Store, *context_ids: str) -> Sequence[str]:
    """Which of these are there."""

    async def look(records: Records) -> list[str]:
        found = [await records.detection_contexts.get(one) for one in context_ids]
        return [one.context_id for one in found if one is not None]

    return await store.read(look)


@on_a_loop
async def test_a_context_is_found_as_it_was_kept(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await set_up(store)
        await store_contexts(store, KEPT)

        assert await store.read(lambda records: records.detection_contexts.get("c1")) == KEPT
        assert await store.read(lambda records: records.detection_contexts.get("c2")) is None


@on_a_loop
async def test_only_the_version_that_follows_is_stored(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await set_up(store)
        await store_contexts(store, KEPT)
        following = replace(
            KEPT, version=1, used_at=NOON + SECOND, remembered=replace(FULL, score=99)
        )
        for late in (KEPT, replace(following, version=2), replace(following, context_id="c2")):
            assert not await advance(store, late)

        assert await advance(store, following)
        assert not await advance(store, following)
        assert await store.read(lambda records: records.detection_contexts.get("c1")) == following


@on_a_loop
async def test_what_rested_longest_makes_room_within_its_account(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await set_up(store)
        bobs = replace(KEPT, context_id="bobs", account_id="bob", key_id="k2")
        old, rested = (replace(KEPT, context_id=name) for name in ("old", "rested"))
        await store_contexts(store, bobs, old)
        await store_contexts(store, replace(rested, used_at=NOON + SECOND))
        used = replace(old, version=1, used_at=NOON + 2 * SECOND)
        assert await advance(store, used)
        await store_contexts(store, replace(KEPT, used_at=NOON + 3 * SECOND), at_most=2)

        assert await kept_of(store, "bobs", "old", "rested", "c1") == ["bobs", "old", "c1"]


@on_a_loop
async def test_old_contexts_are_forgotten(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await set_up(store)
        await store_contexts(store, KEPT, replace(KEPT, context_id="c2", created_at=NOON + SECOND))
        await store.write(lambda records: records.detection_contexts.forget(NOON + SECOND))

        assert await kept_of(store, "c1", "c2") == ["c2"]


@on_a_loop
async def test_a_context_goes_with_its_key_and_its_account(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await set_up(store)
        bobs = replace(KEPT, context_id="bobs", account_id="bob", key_id="k2")
        await store_contexts(store, KEPT, bobs)
        await store.write(lambda records: records.detection_keys.forget("k1"))
        assert await kept_of(store, "c1", "bobs") == ["bobs"]
        await store.write(lambda records: records.accounts.delete("bob"))

        assert await kept_of(store, "c1", "bobs") == []


@on_a_loop
async def test_what_another_version_remembered_begins_anew_at_its_levels(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await set_up(store)
        await store_contexts(store, KEPT)
        await store.write(
            lambda records: records.connection.execute(
                update(detection_contexts).values(
                    remembered=b'{"warning_level":1,"pause_level":5,"mean":"a word","more":[]}'
                )
            )
        )
        kept = await store.read(lambda records: records.detection_contexts.get("c1"))

        assert kept is not None
        assert kept.remembered == DetectionContext(warning_level=1, pause_level=5)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"warning_level":9}',
        b'{"warning_level":"high"}',
        b'{"warning_level":9,"mean":"a word"}',
        b'{"seen":{"background":["AAE="]}}',
    ],
)
def test_a_print_of_which_nothing_can_be_read_begins_anew(damaged: bytes) -> None:
    assert remembered(damaged) == DetectionContext()


def test_what_an_earlier_version_knew_of_the_view_is_forgotten_and_the_rest_kept() -> None:
    earlier = (
        b'{"warning_level": 2, "score": 7,'
        b' "seen": {"scene": {"grey": [1, 2], "digest": 3}, "repeats": 2}}'
    )

    context = remembered(earlier)

    assert (context.warning_level, context.score) == (2, 7)
    assert context.seen is not None
    assert context.seen.background == ()
