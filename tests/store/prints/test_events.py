"""Events are kept once, handed out once, and found again in the order in which they were."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract.events import PrintEvent
from printreach.ports import StoreUnavailable
from printreach.store.location import DatabaseLocation
from printreach.store.prints.events import Arrival, StoredEvent
from printreach.store.relay import SqlEventInbox
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.events import an_event, some_events
from tests.fakes.loop import on_a_loop
from tests.store.records import ADA, PRINTER, store_all

SECOND = replace(PRINTER, printer_id="p2", public_key=b"2" * 32)


async def append(store: Store, *events: PrintEvent, printer_id: str = "p1") -> None:
    await store.write(lambda records: records.events.append(printer_id, events, NOON))


async def awaiting(store: Store, *, except_printers: tuple[str, ...] = ()) -> Sequence[StoredEvent]:
    found = await store.read(
        lambda records: records.events.awaiting_fan_out(100, except_printers=except_printers)
    )
    return found.events


async def mark(store: Store, *seqs: int, picture: str | None = None) -> frozenset[int]:
    pictures = dict.fromkeys(seqs, picture)
    return await store.write(lambda records: records.events.mark_fanned_out(pictures))


async def after(store: Store, event_id: str | None, account: str = "ada") -> list[str]:
    found = await store.read(lambda records: records.events.after(account, event_id, 100))
    return [stored.event.event_id for stored in found]


def ids(stored: Sequence[StoredEvent]) -> list[str]:
    return [one.event.event_id for one in stored]


@on_a_loop
async def test_an_event_is_kept_as_it_came_with_whose_it_is(database: DatabaseLocation) -> None:
    event = an_event(kind=77)
    async with open_store(database) as store:
        await store_all(store)
        await append(store, event)

        (stored,) = await awaiting(store)
        assert stored.event == event
        assert (stored.account_id, stored.printer_id) == ("ada", "p1")
        assert (stored.received_at, stored.snapshot_id) == (NOON, None)


@on_a_loop
async def test_a_repeat_changes_nothing_also_after_it_was_handed_out(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, an_event(), an_event(2), an_event())
        first, _ = await awaiting(store)
        await mark(store, first.seq)
        await append(store, an_event(1, kind=9))

        assert ids(await awaiting(store)) == ["event-0002"]


@on_a_loop
async def test_two_printers_may_have_the_same_id(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.printers.link(SECOND))
        await append(store, an_event())
        await append(store, an_event(), printer_id="p2")

        assert [one.printer_id for one in await awaiting(store)] == ["p1", "p2"]


@on_a_loop
async def test_events_of_a_printer_that_belongs_to_nobody_are_dropped(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.printers.remove("p1", NOON))
        await append(store, an_event())
        await append(store, an_event(2), printer_id="never seen")

        assert await awaiting(store) == []


@on_a_loop
async def test_an_event_stays_with_the_account_it_happened_in(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, an_event())
        await store.write(lambda records: records.printers.remove("p1", NOON))

        (stored,) = await awaiting(store)
        assert stored.account_id == "ada"


@on_a_loop
async def test_an_account_that_is_deleted_takes_its_events_along(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, an_event())
        await store.write(lambda records: records.accounts.delete(ADA.account_id))

        assert await awaiting(store) == []


@on_a_loop
async def test_one_is_marked_once_and_with_its_picture(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, an_event())
        (stored,) = await awaiting(store)

        assert await mark(store, stored.seq, picture="shot") == {stored.seq}
        assert await mark(store, stored.seq, picture="another") == frozenset()
        latest = await store.read(lambda records: records.events.latest("ada"))
        assert latest is not None
        assert latest.snapshot_id == "shot"


@on_a_loop
async def test_printers_that_are_busy_hold_nobody_up(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await store.write(lambda records: records.printers.link(SECOND))
        await append(store, *some_events(500))
        await append(store, an_event(501), printer_id="p2")

        assert ids(await awaiting(store, except_printers=("p1",))) == ["event-0501"]


@on_a_loop
async def test_a_reader_goes_on_in_the_order_in_which_events_were_handed_out(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, *some_events(3))
        one, two, three = await awaiting(store)
        await mark(store, two.seq)
        assert await after(store, None) == ["event-0002"]

        await mark(store, one.seq, three.seq)

        assert await after(store, "event-0002") == ["event-0001", "event-0003"]
        assert await after(store, "event-0003") == []
        assert await after(store, None) == ["event-0002", "event-0001", "event-0003"]


@on_a_loop
async def test_nobody_reads_or_resumes_from_anothers_events(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, *some_events(2))
        await mark(store, *(one.seq for one in await awaiting(store)))

        assert await after(store, None, "bob") == []
        assert await after(store, "event-0001", "bob") == []
        assert await store.read(lambda records: records.events.latest("bob")) is None


@on_a_loop
async def test_an_id_that_is_not_kept_any_more_means_from_the_oldest(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        await append(store, an_event(2))
        await mark(store, *(one.seq for one in await awaiting(store)))

        assert await after(store, "event-0001") == ["event-0002"]


@on_a_loop
async def test_only_what_is_old_and_was_handed_out_is_forgotten(database: DatabaseLocation) -> None:
    later = NOON + timedelta(days=1)
    async with open_store(database) as store:
        await store_all(store)
        await append(store, *some_events(3))
        done, last, waits = await awaiting(store)
        await mark(store, done.seq, last.seq)

        assert await store.write(lambda records: records.events.prune(NOON, 10)) == 0
        assert await store.write(lambda records: records.events.prune(later, 10)) == 1
        assert ids(await awaiting(store)) == [waits.event.event_id]


@on_a_loop
async def test_a_reader_goes_on_from_an_accounts_last_event_however_old_it_is(
    database: DatabaseLocation,
) -> None:
    later = NOON + timedelta(days=30)
    async with open_store(database) as store:
        await store_all(store)
        await append(store, *some_events(2))
        await mark(store, *(one.seq for one in await awaiting(store)))
        while await store.write(lambda records: records.events.prune(later, 10)):
            pass

        assert await after(store, None) == ["event-0002"]
        assert await store.read(lambda records: records.events.holds("ada", "event-0002"))
        assert not await store.read(lambda records: records.events.holds("ada", "event-0001"))


@pytest.mark.slow
@on_a_loop
async def test_events_of_many_agents_are_stored_together(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
        await asyncio.gather(*(inbox.put("p1", [event]) for event in some_events(500)))

        found = await store.read(lambda records: records.events.awaiting_fan_out(1000))
        assert len(found.events) == 500


@pytest.mark.slow
@on_a_loop
async def test_whoever_puts_into_a_store_that_is_closed_hears_of_it(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
    with pytest.raises(StoreUnavailable):
        await inbox.put("p1", [an_event()])


@on_a_loop
async def test_a_putter_that_left_takes_no_other_along(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
        first, gone, last = (
            asyncio.create_task(inbox.put("p1", [event])) for event in some_events(3)
        )
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(first, last)

        assert {"event-0001", "event-0003"} <= set(ids(await awaiting(store)))


@on_a_loop
async def test_what_is_appended_in_a_unit_that_fails_was_never_there(
    database: DatabaseLocation,
) -> None:
    async def work(records: Records) -> None:
        await records.events.append_all([Arrival(printer_id="p1", event=an_event())], NOON)
        raise ValueError("no")

    async with open_store(database) as store:
        await store_all(store)
        with pytest.raises(ValueError, match="no"):
            await store.write(work)

        assert await awaiting(store) == []
