"""Webhooks and their queues, as every store keeps them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import sqlite
from sqlalchemy.util import greenlet_spawn

from printreach.rules.webhooks import (
    LONGEST_DELAY,
    Attempted,
    DeliveryState,
    NewDelivery,
    Outcome,
    Webhook,
)
from printreach.store.leases import Claim
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, Store, open_store
from printreach.store.webhooks import Lease
from printreach.store.webhooks.deliveries import DUE
from tests.fakes.clock import NOON
from tests.store.records import CONNECTION, store_all

T = TypeVar("T")
Test = Callable[[Store], Awaitable[None]]

HOOK = Webhook(connection_id="c1", url="https://hook.example/", event_filter=(), set_at=NOON)
LATER = NOON + timedelta(seconds=30)
ANSWERED = Outcome(http_status=200, duration_ms=7)


def on(database: DatabaseLocation, test: Test) -> None:
    """Run a test on a store with two App Connections, c1 and c2, and a webhook on c1."""

    async def run() -> None:
        async with open_store(database) as store:
            await store_all(store)
            await store.write(_set_up)
            await test(store)

    asyncio.run(run())


def claim(token: str, at: datetime, until: datetime) -> Claim:
    return Claim(token=token, at=at, until=until, at_most=5)


async def _set_up(records: Records) -> None:
    second = replace(CONNECTION, connection_id="c2", unique_id="app-c2")
    await records.connections.add(second, None)
    await records.webhooks.put(HOOK)


def owed(
    event_id: str = "event-1", *, connection_id: str = "c1", event_type: int = 1, print_id: str = ""
) -> NewDelivery:
    return NewDelivery(
        connection_id=connection_id,
        event_id=event_id,
        event_type=event_type,
        print_id=print_id,
        at=NOON,
        body=b"{}",
    )


def test_a_webhook_is_found_as_it_was_put(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        hook = replace(HOOK, event_filter=(6, 99), failures=3, failing_since=NOON)
        await store.write(lambda records: records.webhooks.put(hook))

        assert await store.read(lambda records: records.webhooks.get("c1")) == hook
        assert await store.read(lambda records: records.webhooks.get("c2")) is None

    on(database, test)


def test_a_webhook_comes_with_its_connection(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        [found] = await store.read(lambda records: records.webhooks.of_printer("p1"))

        assert found.webhook == HOOK
        assert found.connection == CONNECTION
        assert await store.read(lambda records: records.webhooks.of_printer("p2")) == []

    on(database, test)


def test_health_of_a_webhook_that_was_set_anew_is_not_overwritten(
    database: DatabaseLocation,
) -> None:
    async def test(store: Store) -> None:
        anew = replace(HOOK, set_at=LATER)
        await store.write(lambda records: records.webhooks.put(anew))
        await store.write(lambda records: records.webhooks.note_health([replace(HOOK, failures=9)]))

        assert await store.read(lambda records: records.webhooks.get("c1")) == anew

    on(database, test)


def test_a_queue_is_claimed_by_one_worker_at_a_time(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda records: records.deliveries.add([owed()], NOON))

        first = await store.write(lambda r: r.deliveries.claim(claim("one", NOON, LATER)))
        second = await store.write(lambda r: r.deliveries.claim(claim("two", NOON, LATER)))
        after = await store.write(lambda r: r.deliveries.claim(claim("two", LATER, LATER)))

        assert first == [Lease(connection_id="c1", token="one")]
        assert second == []
        assert after == [Lease(connection_id="c1", token="two")]
        assert not await store.write(lambda r: r.deliveries.renew(first, LATER))
        assert await store.write(lambda r: r.deliveries.renew(after, LATER))

    on(database, test)


def test_a_lease_that_lasts_is_held_without_being_renewed(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda records: records.deliveries.add([owed()], NOON))
        held = await store.write(lambda r: r.deliveries.claim(claim("one", NOON, LATER)))
        other = Lease(connection_id="c1", token="two")
        later = LATER + (LATER - NOON)

        async def renew(if_before: datetime) -> frozenset[Lease]:
            return await store.write(
                lambda r: r.deliveries.renew([*held, other], later, if_before=if_before)
            )

        assert await renew(LATER) == set(held)
        assert await store.read(lambda r: r.deliveries.has_due(LATER))
        assert await renew(later) == set(held)
        assert not await store.read(lambda r: r.deliveries.has_due(LATER))

    on(database, test)


def test_a_queue_is_kept_if_something_of_it_is_due(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed()], NOON))
        [lease] = await store.write(lambda r: r.deliveries.claim(claim("one", NOON, LATER)))

        assert not await store.write(lambda r: r.deliveries.release(lease, NOON, even_if_due=False))
        assert await store.write(lambda r: r.deliveries.renew([lease], LATER))
        [due] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        await store.write(lambda r: r.deliveries.record([_done(due.delivery_id)]))
        assert await store.write(lambda r: r.deliveries.release(lease, NOON, even_if_due=False))
        assert not await store.write(lambda r: r.deliveries.renew([lease], LATER))

    on(database, test)


def test_an_event_is_owed_once_however_often_it_comes(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        for _ in range(2):
            await store.write(lambda records: records.deliveries.add([owed()], NOON))

        due = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        assert [one.event_id for one in due] == ["event-1"]

    on(database, test)


def test_what_comes_while_a_queue_is_claimed_is_found_when_it_is_released(
    database: DatabaseLocation,
) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed("event-1")], NOON))
        [lease] = await store.write(lambda r: r.deliveries.claim(claim("one", NOON, LATER)))
        [first] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        await store.write(lambda r: r.deliveries.add([owed("event-2")], NOON))
        await store.write(lambda r: r.deliveries.record([_done(first.delivery_id)]))
        await store.write(lambda r: r.deliveries.release(lease, NOON))

        assert await store.read(lambda r: r.deliveries.has_due(NOON))
        [second] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        assert second.event_id == "event-2"

    on(database, test)


def test_only_the_newest_progress_of_a_print_that_is_due_is_not_stale(
    database: DatabaseLocation,
) -> None:
    async def test(store: Store) -> None:
        news = [
            owed("event-1", event_type=6, print_id="a"),
            owed("event-2", event_type=6, print_id="b"),
            owed("event-3", event_type=2, print_id="a"),
            owed("event-4", event_type=6, print_id="a"),
        ]
        await store.write(lambda r: r.deliveries.add(news, NOON))
        await store.write(
            lambda r: r.deliveries.add([owed("event-5", event_type=6, print_id="b")], LATER)
        )

        due = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        assert [one.has_newer_progress for one in due] == [True, False, False, False]

    on(database, test)


def test_what_failed_is_due_again_at_its_time_and_in_the_log(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed()], NOON))
        [one] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        failed = Attempted(
            delivery_id=one.delivery_id,
            state=DeliveryState.QUEUED,
            attempts=1,
            at=NOON,
            outcome=Outcome(http_status=500, duration_ms=7),
            reason="The receiver answered 500.",
            due_at=LATER,
        )
        await store.write(lambda r: r.deliveries.record([failed]))

        assert await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[])) == []
        [again] = await store.read(lambda r: r.deliveries.due("c1", LATER, 9, exclude=[]))
        [logged] = await store.read(lambda r: r.deliveries.log_of_connection("c1", 9))
        assert again.attempts == 1
        assert (logged.http_status, logged.duration_ms, logged.due_at) == (500, 7, LATER)
        assert logged.error == "The receiver answered 500."

    on(database, test)


def test_what_ended_meanwhile_is_not_queued_again_by_a_late_outcome(
    database: DatabaseLocation,
) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed()], NOON))
        [one] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        await store.write(
            lambda r: r.deliveries.end_all("c1", DeliveryState.DROPPED, "Deleted.", NOON)
        )
        late = replace(_done(one.delivery_id), state=DeliveryState.QUEUED, due_at=LATER)
        await store.write(lambda r: r.deliveries.record([late]))

        [logged] = await store.read(lambda r: r.deliveries.log_of_connection("c1", 9))
        assert (logged.state, logged.error) == (DeliveryState.DROPPED, "Deleted.")

    on(database, test)


def test_a_webhook_that_is_deleted_leaves_its_log(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed()], NOON))
        await store.write(lambda r: r.webhooks.delete("c1"))

        assert await store.read(lambda r: r.webhooks.get("c1")) is None
        assert len(await store.read(lambda r: r.deliveries.log_of_connection("c1", 9))) == 1
        assert len(await store.read(lambda r: r.deliveries.log_of_app("demo", 9))) == 1
        assert await store.read(lambda r: r.deliveries.log_of_app("other", 9)) == []

    on(database, test)


def test_a_delivery_can_be_sent_again_as_if_it_were_new(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed()], NOON))
        [one] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        await store.write(lambda r: r.deliveries.record([_done(one.delivery_id)]))

        assert not await store.write(
            lambda r: r.deliveries.send_again("c2", one.delivery_id, LATER)
        )
        assert await store.write(lambda r: r.deliveries.send_again("c1", one.delivery_id, LATER))
        [again] = await store.read(lambda r: r.deliveries.due("c1", LATER, 9, exclude=[]))
        assert (again.delivery_id, again.attempts) == (one.delivery_id, 0)

    on(database, test)


def test_the_log_is_pruned_and_what_is_queued_is_not(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        await store.write(lambda r: r.deliveries.add([owed("event-1"), owed("event-2")], NOON))
        [one, _] = await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))
        await store.write(lambda r: r.deliveries.record([_done(one.delivery_id)]))

        assert await store.write(lambda r: r.deliveries.prune(NOON, 9)) == 0
        assert await store.write(lambda r: r.deliveries.prune(LATER, 9)) == 1
        [left] = await store.read(lambda r: r.deliveries.log_of_connection("c1", 9))
        assert left.event_id == "event-2"

    on(database, test)


def test_times_of_a_clock_that_was_a_year_ahead_are_mended(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        ahead = NOON + timedelta(days=365)
        await store.write(lambda r: r.deliveries.add([owed("event-1"), owed("event-2")], ahead))
        await store.write(lambda r: r.deliveries.claim(claim("dead", ahead, ahead)))
        await store.write(lambda r: r.deliveries.mend_times(NOON, 500))
        [lease] = await store.write(lambda r: r.deliveries.claim(claim("one", NOON, LATER)))
        await store.write(lambda r: r.deliveries.release(lease, NOON))

        assert len(await store.read(lambda r: r.deliveries.due("c1", NOON, 9, exclude=[]))) == 2

    on(database, test)


def test_times_are_mended_slice_by_slice_until_the_last(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        ahead = NOON + timedelta(hours=3)
        some = [replace(owed(f"event-{number}"), at=ahead) for number in range(7)]
        await store.write(lambda r: r.deliveries.add(some, ahead))
        first = await store.write(lambda r: r.deliveries.mend_times(NOON, 5))
        early = await store.read(lambda r: r.deliveries.has_due(NOON))
        second = await store.write(lambda r: r.deliveries.mend_times(NOON, 5))
        third = await store.write(lambda r: r.deliveries.mend_times(NOON, 5))

        assert (first, second, third) == (5, 2, 0)
        assert not early
        assert await store.read(lambda r: r.deliveries.has_due(NOON))

    on(database, test)


def test_very_many_webhooks_are_mended_in_one_statement(database: DatabaseLocation) -> None:
    """More than a statement has variables."""

    async def test(store: Store) -> None:
        names = [f"w{number}" for number in range(40_000)]
        await store.write(lambda r: r.deliveries._wake(names, NOON))

    on(database, test)


def test_times_within_the_schedule_are_left_alone(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        tomorrow = NOON + LONGEST_DELAY
        await store.write(lambda r: r.deliveries.add([owed()], tomorrow))
        await store.write(lambda r: r.deliveries.mend_times(NOON, 500))

        earlier = tomorrow - timedelta(microseconds=1)
        assert not await store.read(lambda r: r.deliveries.has_due(earlier))
        assert await store.read(lambda r: r.deliveries.has_due(tomorrow))

    on(database, test)


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("index", "statement"),
    [
        (
            "ix_webhook_deliveries_due_at (connection_id=? AND due_at<?)",
            "SELECT event_id FROM webhook_deliveries WHERE connection_id = 'c' AND due_at <= 'x'"
            " ORDER BY due_at, delivery_id LIMIT 16",
        ),
        (
            "ix_webhooks_next_at (next_at<?)",
            "SELECT connection_id FROM webhooks WHERE next_at <= 'x' ORDER BY next_at LIMIT 5",
        ),
        (
            "sqlite_autoindex_webhooks_1 (connection_id=?)",
            "UPDATE webhooks SET lease = 'x' WHERE next_at <= 'x' AND connection_id IN"
            " (SELECT connection_id FROM webhooks WHERE next_at <= 'x' ORDER BY next_at LIMIT 5)",
        ),
    ],
)
def test_looking_for_work_reads_the_beginning_of_an_index_and_sorts_nothing(
    database: DatabaseLocation, index: str, statement: str
) -> None:
    async def test(store: Store) -> None:
        async def explain(records: Records) -> str:
            rows = await records.connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"))
            return "\n".join(row.detail for row in rows)

        plan = await store.read(explain)
        assert index in plan
        assert "TEMP B-TREE" not in plan
        assert "SCAN" not in plan.replace("SCAN CONSTANT ROW", "")

    on(database, test)


@pytest.mark.sqlite
def test_stale_progress_is_found_by_its_print(database: DatabaseLocation) -> None:
    async def test(store: Store) -> None:
        due = DUE.compile(dialect=sqlite.dialect())

        async def explain(records: Records) -> list[str]:
            rows = await greenlet_spawn(
                records.connection.sync_connection.exec_driver_sql,
                f"EXPLAIN QUERY PLAN {due}",
                tuple("x" for _ in due.positiontup or ()),
            )
            return [row.detail for row in rows if "newer" in row.detail]

        plan = await store.read(explain)
        assert len(plan) == 2
        assert all("ix_webhook_deliveries_print_id" in line for line in plan), plan

    on(database, test)


def _done(delivery_id: int) -> Attempted:
    return Attempted(
        delivery_id=delivery_id,
        state=DeliveryState.DELIVERED,
        attempts=1,
        at=NOON,
        outcome=ANSWERED,
    )
