"""The print history on a real store: written once, whatever the order, and read by page."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from printreach.contract.events import EventType, PrintEvent
from printreach.hub import prints as print_history
from printreach.hub.prints import KEPT_FOR, PrintHistory, PrintHistoryWriter, forget_old_prints
from printreach.hub.prints.fanout import Fanout
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.prints.history import Print, PrintResult
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World

START = int(NOON.timestamp())


def told(kind: EventType, print_id: str, after_s: int, **facts: object) -> PrintEvent:
    return PrintEvent(
        event_id=f"event-{print_id}-{kind:d}-{after_s}",
        event_type=kind,
        event_time_sec=START + after_s,
        print_id=print_id,
        file_name=f"{print_id}.gcode",
        **facts,  # type: ignore[arg-type]  # a test names the fields
    )


def whole(number: int, length_s: int = 600, **facts: object) -> list[PrintEvent]:
    """A print that begins when the one before has ended."""
    print_id, start = f"print-{number:03}", number * length_s
    end = told(EventType.COMPLETE, print_id, start + length_s, duration_sec=length_s, **facts)
    return [told(EventType.STARTED, print_id, start), end]


async def hear(world: World, events: Sequence[PrintEvent], printer_id: str = PRINTER_ID) -> None:
    """One after the other, as they come."""
    for event in events:
        await append(world, printer_id, event)
        await Fanout(world.core, [PrintHistoryWriter()]).fan_out_due()


async def append(world: World, printer_id: str, event: PrintEvent) -> None:
    at = world.clock.advance(timedelta(seconds=1))
    await world.store.write(lambda records: records.events.append(printer_id, [event], at))


async def history(world: World, account_id: str, printer_id: str | None = None) -> list[Print]:
    looked = PrintHistory(core=world.core)
    return [one async for one in looked.everything(account_id, printer_id)]


@on_a_loop
async def test_events_become_prints(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        await hear(world, [*whole(0), *whole(1), told(EventType.STARTED, "print-002", 1200)])

        found = await history(world, printer.account_id)
        assert [(one.print_id, one.result) for one in found] == [
            ("print-002", PrintResult.UNDER_WAY),
            ("print-001", PrintResult.COMPLETE),
            ("print-000", PrintResult.COMPLETE),
        ]
        assert {one.printer_name for one in found} == {"Workshop"}


@on_a_loop
async def test_events_out_of_order_make_the_same_history(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        events = [*whole(0), *whole(1), *whole(2)]
        await hear(world, events[::-1])

        found = await history(world, printer.account_id)
        assert [(one.print_id, one.result, one.start_is_known) for one in found] == [
            (f"print-00{number}", PrintResult.COMPLETE, True) for number in (2, 1, 0)
        ]


@on_a_loop
async def test_a_print_whose_end_nobody_heard_of_is_over_when_the_next_begins(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        started, ended = whole(0)
        await hear(world, [started, *whole(1)])
        first = (await history(world, printer.account_id))[-1]
        assert first.result is PrintResult.UNSEEN
        await hear(world, [ended])  # it was only late

        first = (await history(world, printer.account_id))[-1]
        assert first.result is PrintResult.COMPLETE


@on_a_loop
async def test_a_print_that_is_heard_of_late_is_not_under_way(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        await hear(world, [*whole(1), whole(0)[0]])

        first = (await history(world, printer.account_id))[-1]
        assert (first.print_id, first.result) == ("print-000", PrintResult.UNSEEN)


@on_a_loop
async def test_an_event_without_a_print_is_no_print(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        await hear(world, [told(EventType.ERROR, "", 0), told(EventType.BED_COOLED_DOWN, "p", 9)])

        assert await history(world, printer.account_id) == []


@on_a_loop
async def test_pages_follow_each_other_without_a_gap(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        same_start = [
            told(EventType.COMPLETE, f"same-{n}", 0, print_started_at_sec=START) for n in range(5)
        ]
        await hear(world, [*same_start, *whole(1), *whole(2)])
        looked = PrintHistory(core=world.core)
        found: list[str] = []
        before = None
        while True:
            page = await looked.page(printer.account_id, PRINTER_ID, before, size=2)
            found += [one.print_id for one in page.prints]
            before = page.older
            if before is None:
                break

        assert found == [one.print_id for one in await history(world, printer.account_id)]
        assert len(found) == len(set(found)) == 7


@on_a_loop
async def test_figures_count_by_month_and_way_of_ending(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        april = [
            told(EventType.COMPLETE, "april", -86_400, duration_sec=3600, filament_used_mg=500)
        ]
        long_ago = [told(EventType.COMPLETE, "old", -400 * 86_400)]
        failed = [told(EventType.FAILED, "failed", 60, error="jam", filament_used_mg=200)]
        await hear(world, [*april, *long_ago, *failed, *whole(1, filament_used_mg=1000)])

        looked = PrintHistory(core=world.core)
        months = await looked.months(printer.account_id, None)
        assert [(one.month, one.result, one.count, one.filament_mg) for one in months] == [
            (5, PrintResult.COMPLETE, 1, 1000),
            (5, PrintResult.FAILED, 1, 200),
            (4, PrintResult.COMPLETE, 1, 500),
        ]
        assert months[0].duration_s == 600


@on_a_loop
async def test_an_account_sees_nothing_of_anothers_prints(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.set_up()
        bob = await world.add_account(BOB)
        key = b"b" * 32
        bobs = await world.link_printer(BOB, key)
        # An agent may send what it likes, another printer's print id included.
        await hear(world, whole(0))
        await hear(world, [told(EventType.FAILED, "print-000", 10, error="x")], printer_id_of(key))

        mine = await history(world, ada.account_id)
        theirs = await history(world, bob.account_id)
        assert [(one.printer_id, one.result) for one in mine] == [
            (PRINTER_ID, PrintResult.COMPLETE)
        ]
        assert [one.printer_id for one in theirs] == [bobs.printer_id]
        assert await history(world, bob.account_id, PRINTER_ID) == []


@on_a_loop
async def test_history_stays_with_the_account_when_the_printer_moves_on(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.set_up()
        bob = await world.add_account(BOB)
        await hear(world, whole(0))
        await world.printers.remove(PRINTER_ID)
        await world.link_printer(BOB)
        await hear(world, whole(1))

        assert [one.print_id for one in await history(world, ada.account_id)] == ["print-000"]
        assert [one.print_id for one in await history(world, bob.account_id)] == ["print-001"]
        await world.accounts.delete(BOB)
        assert len(await history(world, ada.account_id)) == 1
        await world.accounts.delete("ada@example.org")
        assert await history(world, ada.account_id) == []


@pytest.mark.parametrize("name", ["x" * 500, "<script>alert(1)</script>", "=1+1", "\u202egpj.exe"])
def test_any_file_name_is_kept_as_it_is(open_world: OpenWorld, name: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with open_world() as world:
            printer = await world.set_up()
            event = PrintEvent(
                event_id="event-0001",
                event_type=1,
                event_time_sec=START,
                print_id="p",
                file_name=name,
            )
            await hear(world, [event])

            assert [one.file_name for one in await history(world, printer.account_id)] == [name]

    body()


@on_a_loop
async def test_a_printer_that_floods_forgets_its_own_oldest_prints_alone(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(print_history, "MAX_OF_A_PRINTER", 3)
    async with open_world() as world:
        printer = await world.set_up()
        other = await world.link_printer(key=b"o" * 32)
        await hear(world, whole(0), other.printer_id)
        await hear(world, [told(EventType.STARTED, f"flood-{n}", 600 + n) for n in range(8)])

        found = [one.print_id for one in await history(world, printer.account_id)]
        assert found == ["flood-7", "flood-6", "flood-5", "print-000"]


@on_a_loop
async def test_of_a_flood_in_one_second_as_many_are_kept(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(print_history, "MAX_OF_A_PRINTER", 3)
    async with open_world() as world:
        printer = await world.set_up()
        await hear(world, [told(EventType.STARTED, f"flood-{n}", 600) for n in range(8)])

        found = [one.print_id for one in await history(world, printer.account_id)]
        assert found == ["flood-7", "flood-6", "flood-5"]


@on_a_loop
async def test_prints_are_kept_for_five_years(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        await hear(world, whole(0))
        world.clock.advance(KEPT_FOR - timedelta(days=1))
        await forget_old_prints(world.core)
        before = len(await history(world, printer.account_id))
        world.clock.advance(timedelta(days=1))
        await forget_old_prints(world.core)

        assert before == 1
        assert await history(world, printer.account_id) == []
