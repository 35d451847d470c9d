"""What is kept of the watch over prints: claims, looks, judgements, and whose they are."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from printreach.backends.sql.store import SqlRecords, SqlStore, open_store
from printreach.backends.sql.watching import LONGEST_WAIT
from printreach.ports import Records
from printreach.ports.watching import WatchedPrint
from printreach.rules.detection import DetectionContext, Sight, observe
from printreach.rules.detection_scene import Scene, View
from printreach.rules.snapshots import Snapshot
from printreach.rules.watch_memory import WatchMemory
from printreach.rules.watching import Judgement, LastLook, Look, Region, WatchPause, WatchSettings
from tests.backends.records import ADA, PRINTER, store_all
from tests.fakes.clock import NOON

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
EVE = replace(ADA, account_id="eve", email="eve@example.org")
SETTINGS = WatchSettings(
    warning_level=2,
    pauses=WatchPause(z_lift_mm=5),
    camera=1,
    masked=(Region(0.0, 0.0, 0.5, 0.25),),
    off_for_print="print-7",
    keeps_frames=True,
)


def look(number: int = 0, *, warned: bool = False, paused: bool = False) -> LastLook:
    """With a picture of its own."""
    seen = Look(
        at=NOON + number * SECOND,
        probability=0.25,
        score=40 + number,
        quality=6,
        view=View.CLEAR,
        warned=warned,
        paused=paused,
    )
    return LastLook(look=seen, evidence=((0.1, 0.2), (0.3, 0.4)), picture=f"picture-{number}")


def on_records(
    test: Callable[[SqlRecords], Awaitable[None]],
) -> Callable[[Path], None]:
    """The test runs in one unit of work, where Ada has a printer whose print is watched."""

    def run(database: Path) -> None:
        async def main() -> None:
            async with open_store(database) as store:
                await store_all(store)
                await store.write(_begin)
                await store.write(test)

        asyncio.run(main())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def _begin(records: Records) -> None:
    await records.watches.begin("p1", "ada", "a", NOON)


async def claim(
    records: Records, token: str = "t", after: timedelta = SECOND
) -> list[WatchedPrint]:
    at = NOON + after
    return await records.watches.claim(token, at, at + MINUTE, 10, falters=False)


async def relink(records: Records) -> None:
    """Ada gives her printer to Eve."""
    await records.accounts.add(EVE)
    await records.printers.remove("p1", NOON)
    await records.printers.link(replace(PRINTER, account_id="eve"))


# --- settings -----------------------------------------------------------------------------------


@on_records
async def test_what_nobody_chose_is_as_by_default(records: SqlRecords) -> None:
    assert await records.watch_settings.get("p1") == WatchSettings()


@on_records
async def test_what_was_chosen_is_kept_whole(records: SqlRecords) -> None:
    await records.watch_settings.put("p1", "ada", WatchSettings(enabled=False))
    await records.watch_settings.put("p1", "ada", SETTINGS)

    assert await records.watch_settings.get("p1") == SETTINGS
    assert [watched.settings for watched in await claim(records)] == [SETTINGS]


@on_records
async def test_nobody_chooses_for_a_printer_of_others(records: SqlRecords) -> None:
    await records.accounts.add(EVE)
    await records.watch_settings.put("p1", "eve", SETTINGS)

    assert await records.watch_settings.get("p1") == WatchSettings()


@on_records
async def test_a_print_is_due_at_once_when_something_is_chosen(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON + MINUTE)
    assert await claim(records) == []

    await records.watch_settings.put("p1", "ada", SETTINGS)

    assert len(await claim(records)) == 1


@on_records
async def test_what_is_chosen_during_a_look_takes_nobodys_claim(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watch_settings.put("p1", "ada", SETTINGS)

    assert await claim(records, "other") == []
    assert await records.watches.held(watched) == replace(watched, settings=SETTINGS)


# --- claims -------------------------------------------------------------------------------------


@on_records
async def test_a_print_is_claimed_once(records: SqlRecords) -> None:
    [watched] = await claim(records, "one")

    assert await claim(records, "other") == []
    assert (watched.printer_id, watched.account_id, watched.print_id) == ("p1", "ada", "a")
    assert watched.memory == WatchMemory()


@on_records
async def test_a_claim_that_lapsed_is_the_next_workers(records: SqlRecords) -> None:
    [late] = await claim(records, "late")
    [quick] = await claim(records, "quick", after=2 * MINUTE)

    assert await records.watches.held(late) is None
    await records.watches.release(late, WatchMemory(tries=9), NOON)
    await records.watches.keep(late, WatchMemory(tries=9))

    held = await records.watches.held(quick)
    assert held is not None
    assert held.memory.tries == 0


@on_records
async def test_what_is_remembered_of_a_print_is_kept_whole(records: SqlRecords) -> None:
    scene = Scene(grey=tuple(range(64)), digest=2**32 - 1)
    context, _ = observe(DetectionContext(), Sight(probability=0.3, scene=scene), NOON)
    memory = WatchMemory(context=context, history=(1, 2), warned_at=NOON, is_warned=True)
    [watched] = await claim(records)

    await records.watches.keep(watched, replace(memory, tries=1))
    await records.watches.release(watched, memory, NOON + MINUTE)

    assert await claim(records) == []
    [again] = await claim(records, after=MINUTE)
    assert again.memory == memory


@on_records
async def test_what_another_version_remembered_is_forgotten(records: SqlRecords) -> None:
    await records.connection.exec_driver_sql("UPDATE watches SET memory = '{\"context\": 1}'")

    [watched] = await claim(records)

    assert watched.memory == WatchMemory()


@on_records
async def test_where_nobody_can_tell_what_was_chosen_nobody_looks(records: SqlRecords) -> None:
    await records.watch_settings.put("p1", "ada", SETTINGS)
    await records.connection.exec_driver_sql("UPDATE watch_settings SET content = '[]'")

    assert not (await records.watch_settings.get("p1")).enabled


@on_records
async def test_prints_that_falter_are_claimed_apart(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON, falters=True)

    assert await claim(records) == []
    assert not await records.watches.has_due(NOON, falters=False)
    assert await records.watches.has_due(NOON, falters=True)
    assert len(await records.watches.claim("t", NOON, NOON + MINUTE, 10, falters=True)) == 1


@on_records
async def test_a_wrong_clock_puts_nothing_off_for_long(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON + LONGEST_WAIT * 2)

    assert await records.watches.has_due(NOON, falters=False)
    assert len(await claim(records)) == 1


@on_records
async def test_a_print_that_begins_again_is_watched_on(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(tries=2), NOON + MINUTE)
    await records.watches.begin("p1", "ada", "a", NOON)

    assert await claim(records) == []
    [again] = await claim(records, after=MINUTE)
    assert again.memory.tries == 2


@on_records
async def test_a_print_that_ended_is_claimed_by_nobody(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.end("p1", "a", NOON)

    assert await records.watches.held(watched) is None
    assert await claim(records, after=2 * MINUTE) == []


@on_records
async def test_a_print_that_was_given_up_too_early_goes_on(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.keep(watched, WatchMemory(tries=2))
    await records.watches.end("p1", "a", NOON)
    await records.watches.begin("p1", "ada", "a", NOON)

    assert await records.watches.held(watched) is None
    assert [again.memory.tries for again in await claim(records)] == [2]


@on_records
async def test_a_printer_prints_one_thing_at_a_time(records: SqlRecords) -> None:
    await records.watches.begin("p1", "ada", "b", NOON)

    assert [watched.print_id for watched in await claim(records)] == ["b"]


@on_records
async def test_a_print_that_goes_on_is_due_at_once(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.release(watched, WatchMemory(), NOON + MINUTE)

    await records.watches.resume("p1", "a", NOON + SECOND)

    [again] = await claim(records)
    assert again.resumed_at == NOON + SECOND


@on_records
async def test_a_print_that_goes_on_during_a_look_stays_claimed(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.resume("p1", "a", NOON)

    assert await claim(records, "other") == []
    held = await records.watches.held(watched)
    assert held is not None
    assert held.resumed_at == NOON


@on_records
async def test_printers_that_are_here_without_a_watch_are_known(records: SqlRecords) -> None:
    await records.printers.link(replace(PRINTER, printer_id="p2", public_key=b"2" * 32))
    await records.connection.exec_driver_sql(
        "UPDATE printers SET node_id = 'n', connected_at = '2026-05-01 12:00:00.000000'"
    )
    await records.connection.exec_driver_sql(
        "INSERT INTO nodes (node_id, alive_at) VALUES ('n', '2026-05-01 12:00:00.000000')"
    )

    here = await records.watches.unwatched(NOON - SECOND)

    assert [(one.printer_id, one.account_id, one.connected_at) for one in here] == [
        ("p2", "ada", NOON)
    ]
    assert await records.watches.unwatched(NOON) == []


# --- looks --------------------------------------------------------------------------------------


@on_records
async def test_looks_are_kept_in_their_order(records: SqlRecords) -> None:
    [watched] = await claim(records)
    for number in range(3):
        await records.watches.add_look(watched, look(number))

    assert list(await records.watches.looks("p1", "a")) == [look(n).look for n in range(3)]
    assert await records.watches.last("p1", "a") == look(2)
    assert await records.watches.looks("p1", "b") == []


@on_records
async def test_only_the_last_look_and_those_that_told_something_keep_their_pictures(
    records: SqlRecords,
) -> None:
    [watched] = await claim(records)
    spare = [
        await records.watches.add_look(watched, look(0)),
        await records.watches.add_look(watched, look(1, warned=True)),
        await records.watches.add_look(watched, look(2, paused=True)),
        await records.watches.add_look(watched, look(3)),
        await records.watches.add_look(watched, look(4)),
    ]

    assert spare == [[], ["picture-0"], [], [], ["picture-3"]]
    assert await records.watches.alarms("p1", "a") == [
        look(1, warned=True),
        look(2, paused=True),
    ]


@on_records
async def test_what_came_of_a_look_is_noted_with_it(records: SqlRecords) -> None:
    [watched] = await claim(records)
    for number in range(3):
        await records.watches.add_look(watched, look(number))
        await records.watches.mark(watched, NOON + number * SECOND, paused=number == 1)

    assert await records.watches.alarms("p1", "a") == [
        look(0, warned=True),
        look(1, paused=True),
        look(2, warned=True),
    ]


@on_records
async def test_old_looks_are_forgotten(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watches.add_look(watched, look(0))
    await records.watches.add_look(watched, look(5))
    await records.watches.forget(NOON + SECOND, NOON)

    assert [one.at for one in await records.watches.looks("p1", "a")] == [NOON + 5 * SECOND]
    assert await records.watches.held(watched) is not None


# --- judgements ---------------------------------------------------------------------------------


def judgement(print_id: str = "a", *, was_failure: bool = False, number: int = 0) -> Judgement:
    return Judgement(
        printer_id="p1",
        print_id=print_id,
        camera=None,
        at=NOON + number * SECOND,
        was_failure=was_failure,
        picture="p" * 32,
    )


@on_records
async def test_a_judgement_takes_the_place_of_an_earlier_one_of_that_print(
    records: SqlRecords,
) -> None:
    await records.watches.begin("p1", "ada", "b", NOON)
    await records.watches.judge(judgement())
    await records.watches.judge(judgement("b", number=2))
    await records.watches.judge(judgement(was_failure=True, number=1))

    assert list(await records.watches.judged("p1")) == [
        judgement("b", number=2),
        judgement(was_failure=True, number=1),
    ]


@on_records
async def test_a_print_that_nobody_watched_is_not_judged(records: SqlRecords) -> None:
    await records.watches.judge(judgement("never"))

    assert await records.watches.judged("p1") == []


@on_records
async def test_a_judged_picture_outlives_others(records: SqlRecords) -> None:
    for snapshot_id in ("p" * 32, "q" * 32):
        snapshot = Snapshot(
            snapshot_id=snapshot_id, account_id="ada", printer_id="p1", taken_at=NOON, size=9
        )
        await records.snapshots.add(snapshot)
    await records.watches.judge(judgement())

    assert await records.snapshots.outdated(NOON + MINUTE, 9) == ["q" * 32]
    assert await records.snapshots.beyond("p1", 0, 0) == ["q" * 32]

    await records.watches.forget(NOON, NOON + MINUTE)
    assert await records.watches.judged("p1") == []
    assert len(await records.snapshots.outdated(NOON + MINUTE, 9)) == 2


@on_records
async def test_pictures_of_judgements_can_be_let_go(records: SqlRecords) -> None:
    await records.watches.begin("p1", "ada", "b", NOON)
    await records.watches.judge(judgement())
    await records.watches.judge(replace(judgement("b", number=1), picture="q" * 32))

    assert await records.watches.let_pictures_go("p1", "a") == ["p" * 32]
    assert await records.watches.let_pictures_go("p1", None) == ["q" * 32]
    assert [one.picture for one in await records.watches.judged("p1")] == [None, None]


# --- whose it is --------------------------------------------------------------------------------


@on_records
async def test_the_next_owner_sees_nothing_of_the_former_one(records: SqlRecords) -> None:
    [watched] = await claim(records)
    await records.watch_settings.put("p1", "ada", SETTINGS)
    await records.watches.add_look(watched, look(0, warned=True))
    await records.watches.judge(judgement())

    await relink(records)

    assert await records.watch_settings.get("p1") == WatchSettings()
    assert await records.watches.held(watched) is None
    assert await claim(records, after=2 * MINUTE) == []
    assert await records.watches.looks("p1", "a") == []
    assert await records.watches.last("p1", "a") is None
    assert await records.watches.alarms("p1", "a") == []
    assert await records.watches.judged("p1") == []


@on_records
async def test_nothing_begins_for_who_had_the_printer_before(records: SqlRecords) -> None:
    await relink(records)
    await records.watches.begin("p1", "ada", "b", NOON)
    assert await claim(records) == []

    await records.watches.begin("p1", "eve", "b", NOON)
    assert [watched.account_id for watched in await claim(records)] == ["eve"]


@pytest.mark.parametrize("table", ["watch_settings", "watches", "watch_looks", "watch_judgements"])
def test_even_a_row_that_was_left_behind_is_nobody_elses(database: Path, table: str) -> None:
    """Whoever forgets to remove one shows it to nobody."""

    async def leave(records: SqlRecords) -> None:
        [watched] = await claim(records)
        await records.watch_settings.put("p1", "ada", SETTINGS)
        await records.watches.add_look(watched, look(0, warned=True))
        await records.watches.judge(judgement())
        await records.accounts.add(EVE)
        await records.connection.exec_driver_sql("UPDATE printers SET account_id = 'eve'")
        read = {
            "watch_settings": (await records.watch_settings.get("p1")) != WatchSettings(),
            "watches": (await records.watches.held(watched)) is not None,
            "watch_looks": bool(await records.watches.looks("p1", "a")),
            "watch_judgements": bool(await records.watches.judged("p1")),
        }
        assert not read[table]

    async def main(store: SqlStore) -> None:
        await store_all(store)
        await store.write(_begin)
        await store.write(leave)

    async def run() -> None:
        async with open_store(database) as store:
            await main(store)

    asyncio.run(run())
