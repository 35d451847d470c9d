"""The watch over prints: the settings, and the claims of workers."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select, text, update

from printreach.rules.detection import DetectionContext, ImageAssessment, observe
from printreach.rules.detection.scene import Scene
from printreach.rules.turns import TurnRule
from printreach.rules.watch.choices import WatchSettings
from printreach.rules.watch.memory import WatchMemory
from printreach.store.leases import Claim
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records
from printreach.store.watch import LONGEST_WAIT, MAX_ENDED
from printreach.store.watch.tables import watches
from tests.fakes.clock import NOON
from tests.store.records import PRINTER
from tests.store.watch.watch_records import EVE, MINUTE, SECOND, SETTINGS, claim, on_records


async def come_here(records: Records) -> None:
    """The agents of all printers are connected, since noon."""
    await records.connection.execute(
        text("UPDATE printers SET node_id = 'n', connected_at = '2026-05-01 12:00:00.000000'")
    )
    await records.connection.execute(
        text("INSERT INTO nodes (node_id, alive_at) VALUES ('n', '2026-05-01 12:00:00.000000')")
    )


# --- settings -----------------------------------------------------------------------------------


@on_records
async def test_what_nobody_chose_is_as_by_default(records: Records) -> None:
    assert await records.watch_settings.get("p1") == WatchSettings()


@on_records
async def test_what_was_chosen_is_kept_whole(records: Records) -> None:
    await records.watch_settings.put("p1", "ada", WatchSettings(enabled=False))
    await records.watch_settings.put("p1", "ada", SETTINGS)

    assert await records.watch_settings.get("p1") == SETTINGS
    assert [watched.settings for watched in await claim(records)] == [SETTINGS]


@on_records
async def test_nobody_chooses_for_a_printer_of_others(records: Records) -> None:
    await records.accounts.add(EVE)
    await records.watch_settings.put("p1", "eve", SETTINGS)

    assert await records.watch_settings.get("p1") == WatchSettings()


@on_records
async def test_a_print_is_due_at_once_when_something_is_chosen(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON + MINUTE)
    assert await claim(records) == []

    await records.watch_settings.put("p1", "ada", SETTINGS)

    assert len(await claim(records)) == 1


@on_records
async def test_what_is_chosen_during_a_look_takes_nobodys_claim(records: Records) -> None:
    [watched] = await claim(records)
    await records.watch_settings.put("p1", "ada", SETTINGS)

    assert await claim(records, "other") == []
    assert await records.watches.held(watched) == replace(watched, settings=SETTINGS)


# --- claims -------------------------------------------------------------------------------------


@on_records
async def test_a_print_is_claimed_once(records: Records) -> None:
    [watched] = await claim(records, "one")

    assert await claim(records, "other") == []
    assert (watched.printer_id, watched.account_id, watched.print_id) == ("p1", "ada", "a")
    assert watched.memory == WatchMemory()


@on_records
async def test_a_claim_that_lapsed_is_the_next_workers(records: Records) -> None:
    [late] = await claim(records, "late")
    [quick] = await claim(records, "quick", after=2 * MINUTE)

    assert await records.watches.held(late) is None
    await records.watches.release(late, WatchMemory(tries=9), NOON)
    await records.watches.keep(late, WatchMemory(tries=9))

    held = await records.watches.held(quick)
    assert held is not None
    assert held.memory.tries == 0


@on_records
async def test_what_is_remembered_of_a_print_is_kept_whole(records: Records) -> None:
    scene = Scene(grey=tuple(range(256)), digest=2**32 - 1)
    context, _ = observe(DetectionContext(), ImageAssessment(probability=0.3, scene=scene), NOON)
    memory = WatchMemory(context=context, history=(1, 2), warned_at=NOON, is_warned=True)
    [watched] = await claim(records)

    await records.watches.keep(watched, replace(memory, tries=1))
    await records.watches.release(watched, memory, NOON + MINUTE)

    assert await claim(records) == []
    [again] = await claim(records, after=MINUTE)
    assert again.memory == memory


DAMAGED = {
    "another version's": b'{"context": 1}',
    "no text": b'{"tries": "\xff"}',
    "a time without zone": b'{"looked_at": "2026-05-01T12:00:00"}',
    "an order's time without zone": b'{"ordering_at": "2026-05-01T12:00:00"}',
    "a context's time without zone": b'{"context": {"last_at": "2026-05-01T12:00:00"}}',
    "a mean that none can have": b'{"context": {"mean": -1e308}}',
    "without end": b"[" * 100_000,
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_what_cannot_be_read_of_a_memory_is_forgotten(
    database: DatabaseLocation, content: bytes
) -> None:
    @on_records
    async def test(records: Records) -> None:
        await records.connection.execute(update(watches).values(memory=content))
        [watched] = await claim(records)

        assert watched.memory == WatchMemory()

    test(database)


@on_records
async def test_where_nobody_can_tell_what_was_chosen_nobody_looks(records: Records) -> None:
    await records.watch_settings.put("p1", "ada", SETTINGS)
    await records.connection.execute(text("UPDATE watch_settings SET content = '[]'"))

    assert not (await records.watch_settings.get("p1")).enabled


@on_records
async def test_prints_that_falter_are_claimed_apart(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON, degraded=True)

    assert await claim(records) == []
    assert not await records.watches.has_due(NOON, degraded=False)
    assert await records.watches.has_due(NOON, degraded=True)
    wanted = Claim(token="t", at=NOON, until=NOON + MINUTE, at_most=10)
    faltering = await records.watches.claim(wanted, TurnRule(of_account=10), degraded=True)
    assert len(faltering) == 1


@on_records
async def test_a_wrong_clock_puts_nothing_off_for_long(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON + LONGEST_WAIT * 2)

    assert await records.watches.has_due(NOON, degraded=False)
    assert len(await claim(records)) == 1


@on_records
async def test_a_print_that_begins_again_is_watched_on(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(tries=2), NOON + MINUTE)
    await records.watches.begin("p1", "ada", "a", NOON)

    assert await claim(records) == []
    [again] = await claim(records, after=MINUTE)
    assert again.memory.tries == 2


@on_records
async def test_a_print_that_ended_is_claimed_by_nobody(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.end("p1", "a", NOON)

    assert await records.watches.held(watched) is None
    assert await claim(records, after=2 * MINUTE) == []


@on_records
async def test_a_print_that_was_given_up_too_early_goes_on(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.keep(watched, WatchMemory(tries=2))
    await records.watches.end("p1", "a", NOON)
    await records.watches.begin("p1", "ada", "a", NOON)

    assert await records.watches.held(watched) is None
    assert [again.memory.tries for again in await claim(records)] == [2]


@on_records
async def test_a_printer_prints_one_thing_at_a_time(records: Records) -> None:
    await records.watches.begin("p1", "ada", "b", NOON)

    assert [watched.print_id for watched in await claim(records)] == ["b"]


@on_records
async def test_a_print_that_goes_on_is_due_at_once(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON + MINUTE)

    await records.watches.resume("p1", "a", NOON + SECOND)

    [again] = await claim(records)
    assert again.resumed_at == NOON + SECOND


@on_records
async def test_a_print_that_goes_on_during_a_look_stays_claimed(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.resume("p1", "a", NOON)

    assert await claim(records, "other") == []
    held = await records.watches.held(watched)
    assert held is not None
    assert held.resumed_at == NOON


@on_records
async def test_printers_that_are_here_without_a_watch_are_known(records: Records) -> None:
    await records.printers.link(replace(PRINTER, printer_id="p2", public_key=b"2" * 32))
    await come_here(records)

    here = await records.watches.unwatched(NOON - SECOND)

    assert [(one.printer_id, one.account_id, one.connected_at) for one in here] == [
        ("p2", "ada", NOON)
    ]
    assert await records.watches.unwatched(NOON) == []


@pytest.mark.slow
@on_records
async def test_an_agent_that_makes_up_prints_fills_no_disk(records: Records) -> None:
    for number in range(MAX_ENDED + 3):
        await records.watches.begin("p1", "ada", f"made-up-{number}", NOON + number * SECOND)
    kept = await records.connection.scalar(select(func.count()).select_from(watches))
    [watched] = await claim(records, after=MINUTE * 60)

    assert kept == MAX_ENDED + 1
    assert watched.print_id == f"made-up-{MAX_ENDED + 2}"


@on_records
async def test_prints_of_a_blocked_account_wait_until_it_is_let_in(records: Records) -> None:
    [watched] = await claim(records)
    await records.accounts.set_blocked("ada", NOON)

    assert await records.watches.held(watched) is None
    assert await claim(records, after=2 * MINUTE) == []
    assert not await records.watches.has_due(NOON + 2 * MINUTE, degraded=False)

    await records.accounts.set_blocked("ada", None)

    assert len(await claim(records, after=2 * MINUTE)) == 1


@on_records
async def test_printers_of_a_blocked_account_are_not_asked(records: Records) -> None:
    await records.watches.end("p1", "a", NOON)
    await come_here(records)
    before = await records.watches.unwatched(NOON - SECOND)
    await records.accounts.set_blocked("ada", NOON)

    assert [len(before), await records.watches.unwatched(NOON - SECOND)] == [1, []]
