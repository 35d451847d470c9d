"""What was chosen and can't be read back counts as not chosen, and stops nothing."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import text

from printreach.rules.notifications import (
    DEFAULT_EVENTS,
    Allowance,
    Counted,
    NotifySettings,
    QuietHours,
    count,
    parse_local_time,
)
from printreach.rules.webhooks import DeliveryState, NewDelivery, Webhook
from printreach.store.store import Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import store_all

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
        counted = Counted(day=TODAY, messages=200, was_told=True)
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
