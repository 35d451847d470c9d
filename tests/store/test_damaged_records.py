"""Damaged events are kept apart, and damaged choices count as not chosen; others are unharmed."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest
from msgspec import structs
from sqlalchemy import text, update

from printreach.rules.notifications import (
    DEFAULT_EVENTS,
    Allowance,
    DailyCount,
    NotifySettings,
    QuietHours,
    count,
    parse_local_time,
)
from printreach.rules.webhooks import DeliveryState, NewDelivery, Webhook
from printreach.store.prints.events import PendingEvents
from printreach.store.relay import SqlEventInbox
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import events
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.events import an_event, some_events
from tests.fakes.loop import on_a_loop
from tests.store.records import store_all

pytestmark = pytest.mark.sqlite

BROKEN = {
    "no JSON": b"{",
    "no text": b'{"EventId":"\xff"}',
    "nothing": b"",
    "of another shape": b'{"EventId":7}',
    "out of range": b'{"EventId":"event-0001","EventType":1,"EventTimeSec":-1}',
    "without end": b"[" * 100_000,
}


async def damage(store: Store, content: bytes = b"{", *event_ids: str) -> None:
    """Those events, or all."""

    async def change(records: Records) -> None:
        its = events.c.event_id.in_(event_ids) if event_ids else text("1")
        await records.connection.execute(update(events).where(its).values(content=content))

    await store.write(change)


async def awaiting(store: Store) -> PendingEvents:
    return await store.read(lambda records: records.events.awaiting_fan_out(100))


async def set_aside(store: Store, *seqs: int) -> frozenset[int]:
    return await store.write(lambda records: records.events.set_aside(seqs))


async def mark_all(store: Store) -> None:
    seqs = {one.seq: None for one in (await awaiting(store)).events}
    await store.write(lambda records: records.events.mark_fanned_out(seqs))


async def after(store: Store, event_id: str | None, at_most: int = 100) -> Sequence[str]:
    found = await store.read(lambda records: records.events.after("ada", event_id, at_most))
    return [one.event.event_id for one in found]


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_one_that_cannot_be_read_is_told_apart(database: Path, content: bytes) -> None:
    @on_a_loop
    async def test() -> None:
        async with open_store(database) as store:
            await store_all(store)
            await store.write(lambda records: records.events.append("p1", some_events(3), NOON))
            await damage(store, content, "event-0002")
            found = await awaiting(store)

            assert [one.event.event_id for one in found.events] == ["event-0001", "event-0003"]
            assert [one.event_id for one in found.damaged] == ["event-0002"]

    test()


@on_a_loop
async def test_one_whose_time_cannot_be_read_is_told_apart(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.events.append("p1", some_events(2), NOON))
        await store.write(
            lambda records: records.connection.execute(
                text("UPDATE events SET received_at = :wrong WHERE event_id = 'event-0001'"),
                {"wrong": "yesterday"},
            )
        )
        found = await awaiting(store)

        assert [one.event_id for one in found.damaged] == ["event-0001"]
        assert [one.received_at for one in found.events] == [NOON]


@on_a_loop
async def test_what_is_set_aside_is_kept_and_waits_no_more(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.events.append("p1", some_events(2), NOON))
        await damage(store, b"{", "event-0001")
        [damaged] = (await awaiting(store)).damaged

        assert await set_aside(store, damaged.seq) == {damaged.seq}
        assert await set_aside(store, damaged.seq) == frozenset()
        assert (await awaiting(store)).damaged == []
        counts = await store.read(lambda records: records.operating.counts(NOON))
        assert counts.damaged_events == 1


@on_a_loop
async def test_what_is_set_aside_changes_nobodys_place(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.events.append("p1", some_events(4), NOON))
        await damage(store, b"{", "event-0001", "event-0002")
        await set_aside(store, *(one.seq for one in (await awaiting(store)).damaged))
        await mark_all(store)

        assert await after(store, None) == ["event-0003", "event-0004"]
        assert await after(store, "event-0003") == ["event-0004"]
        assert await after(store, "event-0001") == ["event-0003", "event-0004"]
        assert not await store.read(lambda records: records.events.holds("ada", "event-0001"))


@on_a_loop
async def test_what_was_set_aside_is_tried_again(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.events.append("p1", some_events(2), NOON))
        await set_aside(store, *(one.seq for one in (await awaiting(store)).events))

        assert await store.write(lambda records: records.events.take_up_again()) == 2
        assert len((await awaiting(store)).events) == 2


@on_a_loop
async def test_readers_pass_over_what_was_damaged_later(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.events.append("p1", some_events(9), NOON))
        await mark_all(store)
        await damage(store, b"{", *(f"event-{number:04}" for number in (2, 3, 4, 9)))
        recent = await store.read(lambda records: records.events.recent("ada", 2))
        latest = await store.read(lambda records: records.events.latest("ada"))

        assert await after(store, "event-0001", 2) == ["event-0005", "event-0006"]
        assert await after(store, "event-0008", 2) == []
        assert [one.event.event_id for one in recent] == ["event-0008", "event-0007"]
        assert latest is not None
        assert latest.event.event_id == "event-0008"


@on_a_loop
async def test_an_event_that_cannot_be_written_takes_no_others_along(database: Path) -> None:
    half = structs.replace(an_event(1), file_name="\ud800")
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
        puts = [inbox.put("p1", [one]) for one in (half, an_event(2))]
        refused, taken = await asyncio.gather(*puts, return_exceptions=True)

        assert isinstance(refused, UnicodeEncodeError)
        assert taken is None
        found = (await awaiting(store)).events
        assert [one.event.event_id for one in found] == ["event-0002"]


WRONG = {"cut off": "[1,", "no list": "7", "no numbers": '[{"a": 1}]', "nothing": "null"}
TODAY = date(2026, 5, 1)
TEN = parse_local_time("22:00")
SIX = parse_local_time("06:00")
assert TEN is not None
assert SIX is not None
CHOSEN = NotifySettings(
    events=frozenset({1, 2}), quiet=QuietHours(begins=TEN, ends=SIX, trouble_passes=False)
)


async def overwrite(store: Store, statement: str, values: Mapping[str, object]) -> None:
    await store.write(lambda records: records.connection.execute(text(statement), values))


async def settings_of(store: Store) -> NotifySettings:
    return await store.read(lambda records: records.notifications.settings("ada"))


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_events_that_cannot_be_read_are_those_nobody_chose(database: Path, wrong: str) -> None:
    @on_a_loop
    async def test() -> None:
        async with open_store(database) as store:
            await store_all(store)
            await store.write(lambda records: records.notifications.put_settings("ada", CHOSEN))
            await store.write(
                lambda records: records.notifications.set_of_printer("ada", "p1", frozenset({3}))
            )
            for table in ("notify_settings", "notify_printers"):
                await overwrite(store, f"UPDATE {table} SET events = :wrong", {"wrong": wrong})
            settings = await settings_of(store)

            assert settings.events == DEFAULT_EVENTS
            assert settings.of_printers == {"p1": DEFAULT_EVENTS}
            assert settings.quiet == CHOSEN.quiet

    test()


@on_a_loop
async def test_quiet_hours_that_cannot_be_read_are_none(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.notifications.put_settings("ada", CHOSEN))
        await overwrite(store, "UPDATE notify_settings SET quiet_ends = :wrong", {"wrong": "6 am"})
        settings = await settings_of(store)

        assert settings.quiet is None
        assert settings.events == CHOSEN.events


@on_a_loop
async def test_a_day_that_cannot_be_read_is_not_today(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        counted = DailyCount(day=TODAY, messages=200, was_told=True)
        await store.write(lambda records: records.notifications.put_counted("ada", counted))
        whole = await store.read(lambda records: records.notifications.counted("ada"))
        await overwrite(store, "UPDATE notify_counts SET day = :wrong", {"wrong": "May Day"})
        damaged = await store.read(lambda records: records.notifications.counted("ada"))

        assert whole == counted
        assert count(damaged, TODAY, 1, 200)[1] is Allowance.SEND


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_filter_that_cannot_be_read_keeps_nothing_from_an_app(database: Path, wrong: str) -> None:
    @on_a_loop
    async def test() -> None:
        async with open_store(database) as store:
            await store_all(store)
            hook = Webhook(
                connection_id="c1", url="https://a.example/", event_filter=(1,), set_at=NOON
            )
            await store.write(lambda records: records.webhooks.put(hook))
            await overwrite(store, "UPDATE webhooks SET event_filter = :wrong", {"wrong": wrong})
            [found] = await store.read(lambda records: records.webhooks.of_printer("p1"))

            assert found.webhook.event_filter == ()

    test()


@on_a_loop
async def test_a_log_tells_of_what_it_cannot_name(database: Path) -> None:
    owed = NewDelivery(
        connection_id="c1", event_id="event-1", event_type=1, print_id="", at=NOON, body=b"{}"
    )
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.deliveries.add([owed], NOON))
        await overwrite(store, "UPDATE webhook_deliveries SET state = :other", {"other": "sold"})
        [logged] = await store.read(lambda records: records.deliveries.log_of_connection("c1", 9))

        assert logged.state is DeliveryState.DROPPED


@on_a_loop
async def test_an_account_takes_along_what_is_left_of_a_damaged_row(database: Path) -> None:
    owed = NewDelivery(
        connection_id="c1", event_id="event-1", event_type=1, print_id="", at=NOON, body=b"{"
    )
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.deliveries.add([owed], NOON))
        found = await store.read(
            lambda records: records.personal.rows("ada", "webhook_deliveries", None, 10)
        )

        assert [row["body"] for row in found.rows] == ["{"]
