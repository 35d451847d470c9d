"""Places where people are told: sealed, claimed, and gone with their account."""

import base64
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from printreach.rules.notifications import (
    DESTINATION_TURNS,
    DESTINATIONS_AT_ONCE,
    Destination,
    NewMessage,
    NotifySettings,
)
from printreach.store.leases import Claim
from printreach.store.location import DatabaseLocation, data_dir_of
from printreach.store.sealing import KEYS_FILE, DataDirSealer
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import ADA, SECOND, store_all

URL = "ntfys://tk_secret@ntfy.sh/topic"
LEASE = timedelta(minutes=10)


def destination(name: str, sealed: bytes = b"") -> Destination:
    return Destination(
        destination_id=name,
        account_id=ADA.account_id,
        channel="ntfy",
        label="a place",
        sealed=sealed,
        created_at=NOON,
    )


def message(due_in: timedelta = timedelta(0)) -> NewMessage:
    return NewMessage(title="t", text="t", made_at=NOON, due_at=NOON + due_in)


async def with_places(store: Store, *names: str) -> None:
    async def add(records: Records) -> None:
        for name in names:
            await records.notifications.add_destination(destination(name))
            await records.notifications.queue([name], message())

    await store_all(store)
    await store.write(add)


async def claim(
    store: Store, after: timedelta, room: int = DESTINATIONS_AT_ONCE
) -> list[Destination]:
    at = NOON + after
    wanted = Claim(token="t", at=at, until=at + LEASE, at_most=room)
    return await store.write(lambda records: records.notifications.claim(wanted))


async def claimed(store: Store, after: timedelta, room: int = DESTINATIONS_AT_ONCE) -> list[str]:
    return [one.destination_id for one in await claim(store, after, room)]


@on_a_loop
async def test_a_place_is_claimed_once_until_its_lease_is_over(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await with_places(store, "a", "b")

        assert sorted(await claimed(store, SECOND)) == ["a", "b"]
        assert await claimed(store, LEASE) == []
        assert sorted(await claimed(store, LEASE + SECOND)) == ["a", "b"]


@on_a_loop
async def test_an_account_has_so_many_places_claimed_at_once(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await with_places(store, *"abcdef")

        assert len(await claimed(store, SECOND)) == DESTINATION_TURNS.of_account
        assert await claimed(store, SECOND) == []


@on_a_loop
async def test_in_the_last_of_the_room_an_account_has_one_place_claimed(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await with_places(store, "a", "b")

        assert len(await claimed(store, SECOND, room=5)) == 1
        assert await claimed(store, SECOND, room=4) == []


@on_a_loop
async def test_a_claim_is_kept_by_who_renews_it(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await with_places(store, "a")
        [first] = await claim(store, SECOND)
        until = NOON + 2 * LEASE
        kept = await store.write(lambda records: records.notifications.renew(first, until))
        lost = await store.write(lambda records: records.notifications.renew(first, until))

        assert kept == replace(first, leased_until=until)
        assert lost is None
        assert await claimed(store, LEASE + 2 * SECOND) == []
        assert await claimed(store, 2 * LEASE) == ["a"]


@on_a_loop
async def test_a_place_in_trouble_is_left_in_peace_whatever_is_queued_for_it(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await with_places(store, "a")
        [first] = await claim(store, SECOND)

        async def let_go(records: Records) -> None:
            await records.notifications.release(
                first, not_before=NOON + LEASE, sent_at=None, failures=1, trouble="No."
            )
            await records.notifications.queue(["a"], message())

        await store.write(let_go)

        assert await claimed(store, LEASE - SECOND) == []
        assert await claimed(store, LEASE) == ["a"]


@on_a_loop
async def test_what_waits_for_quiet_hours_holds_up_nothing_that_is_due(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await with_places(store, "a")

        async def queue(records: Records) -> int:
            await records.notifications.queue(["a"], message(timedelta(hours=8)))
            return len(await records.notifications.due_messages("a", NOON, 10))

        assert await store.write(queue) == 1


@on_a_loop
async def test_a_message_has_a_number_that_none_had_before(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await with_places(store, "a")

        async def put_another(records: Records) -> tuple[int, int]:
            [first] = await records.notifications.due_messages("a", NOON, 10)
            await records.notifications.drop_messages([first.message_id])
            await records.notifications.queue(["a"], message())
            [second] = await records.notifications.due_messages("a", NOON, 10)
            return first.message_id, second.message_id

        first, second = await store.write(put_another)

        assert first != second


@on_a_loop
async def test_with_the_account_goes_all_that_was_chosen(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await with_places(store, "a")

        async def delete(records: Records) -> list[Destination]:
            await records.notifications.put_settings(ADA.account_id, NotifySettings(zone="UTC"))
            await records.accounts.delete(ADA.account_id)
            return await records.notifications.destinations(ADA.account_id)

        assert await store.write(delete) == []


@on_a_loop
async def test_a_new_key_seals_the_addresses_that_the_old_one_did(
    database: DatabaseLocation,
) -> None:
    data_dir = data_dir_of(database)
    keys = data_dir / KEYS_FILE
    sealed = DataDirSealer(data_dir).seal(URL, "a")
    async with open_store(database) as store:
        await store_all(store)
        await store.write(
            lambda records: records.notifications.add_destination(destination("a", sealed))
        )
    new = base64.b64encode(b"n" * 32).decode() + "\n"
    keys.write_text(new + keys.read_text())
    async with open_store(database):
        pass  # a start
    keys.write_text(new)
    async with open_store(database) as store:
        found = await store.read(lambda records: records.notifications.destination("a"))

    assert found is not None
    assert DataDirSealer(data_dir).unseal(found.sealed, "a") == URL


@pytest.mark.sqlite
@on_a_loop
async def test_who_is_busy_is_read_off_the_places_that_are_claimed(
    database: DatabaseLocation,
) -> None:
    async def explain(records: Records) -> str:
        rows = await records.connection.execute(
            text(
                "EXPLAIN QUERY PLAN SELECT target_id, account_id, failures, way"
                " FROM notify_targets WHERE leased_until > 'x'"
            )
        )
        return "\n".join(row.detail for row in rows)

    async with open_store(database) as store:
        assert "INDEX ix_notify_targets_leased_until" in await store.read(explain)
