"""Looks at prints: how long they are kept, whose they are, and the cost of the hourly queries."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import Select, delete, insert, select, text, update
from sqlalchemy.dialects import sqlite

from printreach.rules.prints.snapshots import Snapshot
from printreach.rules.watch.choices import Judgement, WatchSettings
from printreach.store.connections.live_links import live_links
from printreach.store.location import DatabaseLocation
from printreach.store.notifications import _WAITING
from printreach.store.notifications.tables import notify_messages
from printreach.store.prints import prints
from printreach.store.prints import snapshots as pictures
from printreach.store.store import Records, Store, open_store
from printreach.store.watch.looks import MAX_JUDGED, MAX_LOOKS
from printreach.store.watch.tables import watch_looks
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import store_all
from tests.store.watch.watch_records import (
    EVE,
    MINUTE,
    SECOND,
    SETTINGS,
    begin,
    claim,
    look,
    on_records,
    relink,
)

# --- looks --------------------------------------------------------------------------------------


@on_records
async def test_of_very_many_looks_the_telling_ones_are_shown(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.add_look(watched, look())
    many = MAX_LOOKS * 4
    odd = {many // 3: {"score": 99}, many // 2: {"score": 1, "warned": True}}
    [first] = (await records.connection.execute(select(watch_looks))).mappings().all()
    usual = {name: value for name, value in first.items() if name != "number"}
    await records.connection.execute(
        insert(watch_looks),
        [
            usual | {"at": NOON + number * SECOND, "warned": False} | odd.get(number, {})
            for number in range(1, many)
        ],
    )
    shown = await records.watches.looks("p1", "a")

    assert len(shown) < MAX_LOOKS * 1.1
    assert [one.at for one in shown] == sorted({one.at for one in shown})
    assert [shown[0].at, shown[-1].at] == [NOON, NOON + (many - 1) * SECOND]
    assert {NOON + number * SECOND for number in odd} <= {one.at for one in shown}


@on_records
async def test_of_a_look_that_is_damaged_the_rest_is_shown(records: Records) -> None:
    [watched] = await claim(records)
    await records.watches.add_look(watched, look())
    for damaged in (b"", b"{", b"\xff", b"[1]", b"[[1,null]]"):
        await records.connection.execute(
            update(watch_looks).values(evidence=damaged, view="of another version")
        )

        assert await records.watches.last("p1", "a") == replace(look(), evidence=())


@on_records
async def test_looks_are_kept_in_their_order(records: Records) -> None:
    [watched] = await claim(records)
    for number in range(3):
        await records.watches.add_look(watched, look(number))

    assert list(await records.watches.looks("p1", "a")) == [look(n).look for n in range(3)]
    assert await records.watches.last("p1", "a") == look(2)
    assert await records.watches.looks("p1", "b") == []


@on_records
async def test_only_the_last_look_and_those_that_told_something_keep_their_pictures(
    records: Records,
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
async def test_what_came_of_a_look_is_noted_with_it(records: Records) -> None:
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
async def test_old_looks_are_forgotten(records: Records) -> None:
    [watched] = await claim(records)
    for number in (0, 1, 5):
        await records.watches.add_look(watched, look(number))

    assert await records.watches.forget(NOON + 2 * SECOND, NOON, 1) == 1
    assert await records.watches.forget(NOON + 2 * SECOND, NOON, 9) == 1
    assert await records.watches.forget(NOON + 2 * SECOND, NOON, 9) == 0
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
    records: Records,
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
async def test_a_print_that_nobody_watched_is_not_judged(records: Records) -> None:
    await records.watches.judge(judgement("never"))

    assert await records.watches.judged("p1") == []


@on_records
async def test_a_judged_picture_outlives_others(records: Records) -> None:
    for snapshot_id in ("p" * 32, "q" * 32):
        snapshot = Snapshot(
            snapshot_id=snapshot_id, account_id="ada", printer_id="p1", taken_at=NOON, size=9
        )
        await records.snapshots.add(snapshot)
    await records.watches.judge(judgement())

    assert await records.snapshots.outdated(NOON + MINUTE, 9) == ["q" * 32]
    assert await records.snapshots.beyond("p1", 0, 0) == ["q" * 32]

    await records.watches.forget(NOON, NOON + MINUTE, 9)
    assert await records.watches.judged("p1") == []
    assert len(await records.snapshots.outdated(NOON + MINUTE, 9)) == 2


@on_records
async def test_pictures_of_judgements_can_be_let_go(records: Records) -> None:
    await records.watches.begin("p1", "ada", "b", NOON)
    await records.watches.judge(judgement())
    await records.watches.judge(replace(judgement("b", number=1), picture="q" * 32))

    assert await records.watches.let_pictures_go("p1", "a") == ["p" * 32]
    assert await records.watches.let_pictures_go("p1", None) == ["q" * 32]
    assert [one.picture for one in await records.watches.judged("p1")] == [None, None]


# --- whose it is --------------------------------------------------------------------------------


@on_records
async def test_the_next_owner_sees_nothing_of_the_former_one(records: Records) -> None:
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
async def test_nothing_begins_for_who_had_the_printer_before(records: Records) -> None:
    await relink(records)
    await records.watches.begin("p1", "ada", "b", NOON)
    assert await claim(records) == []

    await records.watches.begin("p1", "eve", "b", NOON)
    assert [watched.account_id for watched in await claim(records)] == ["eve"]


@pytest.mark.parametrize("table", ["watch_settings", "watches", "watch_looks", "watch_judgements"])
def test_even_a_row_that_was_left_behind_is_nobody_elses(
    database: DatabaseLocation, table: str
) -> None:
    """Whoever forgets to remove one shows it to nobody."""

    async def leave(records: Records) -> None:
        [watched] = await claim(records)
        await records.watch_settings.put("p1", "ada", SETTINGS)
        await records.watches.add_look(watched, look(0, warned=True))
        await records.watches.judge(judgement())
        await records.accounts.add(EVE)
        await records.connection.execute(text("UPDATE printers SET account_id = 'eve'"))
        read = {
            "watch_settings": (await records.watch_settings.get("p1")) != WatchSettings(),
            "watches": (await records.watches.held(watched)) is not None,
            "watch_looks": bool(await records.watches.looks("p1", "a")),
            "watch_judgements": bool(await records.watches.judged("p1")),
        }
        assert not read[table]

    async def main(store: Store) -> None:
        await store_all(store)
        await store.write(begin)
        await store.write(leave)

    async def run() -> None:
        async with open_store(database) as store:
            await main(store)

    asyncio.run(run())


@pytest.mark.slow
@on_records
async def test_the_oldest_answers_make_room(records: Records) -> None:
    for number in range(MAX_JUDGED + 2):
        at, print_id = NOON + number * SECOND, f"print-{number}"
        await records.watches.begin("p1", "ada", print_id, at)
        await records.watches.judge(
            Judgement(
                printer_id="p1",
                print_id=print_id,
                camera=None,
                at=at,
                was_failure=True,
                picture=f"picture-{number}",
            )
        )
    judged = await records.watches.judged("p1")

    assert [len(judged), judged[0].print_id, judged[-1].print_id] == [
        MAX_JUDGED,
        f"print-{MAX_JUDGED + 1}",
        "print-2",
    ]


def looks() -> list[tuple[str, str]]:
    """Statements as their records make them, and the index of each."""
    old_links = delete(live_links).where(
        (live_links.c.expires_at < NOON) | (live_links.c.ended_at < NOON)
    )
    old_prints = select(prints.c.number).where(prints.c.started_at < NOON).limit(9)
    of_printer = select(prints.c.number).where(
        prints.c.account_id == "a", prints.c.printer_id == "p", prints.c.started_at < NOON
    )
    owners: Select[tuple[str]] = select(pictures._OWNERS.c.account_id)
    of_gone = select(pictures.snapshots.c.snapshot_id).where(
        pictures.snapshots.c.account_id.in_(pictures._GONE)
    )
    old_pictures = select(pictures.snapshots.c.snapshot_id).where(
        pictures.snapshots.c.taken_at <= NOON, ~pictures._IS_LAST
    )
    put_off = update(notify_messages).values(due_at=NOON)
    put_off = put_off.where(
        notify_messages.c.target_id.in_(_WAITING), notify_messages.c.due_at > NOON
    )
    statements = [
        ("ix_notify_messages_target_id", put_off),
        ("ix_live_links_expires_at", old_links),
        ("ix_live_links_ended_at", old_links),
        ("ix_prints_started_at", old_prints),
        ("ix_prints_printer_id", of_printer),
        ("ix_snapshots_account_id", owners),
        ("ix_snapshots_account_id", of_gone),
        ("ix_snapshots_taken_at", old_pictures),
    ]
    shape = sqlite.dialect()
    return [
        (index, str(one.compile(dialect=shape, compile_kwargs={"literal_binds": True})))
        for index, one in statements
    ]


@pytest.mark.sqlite
@pytest.mark.parametrize(("index", "statement"), looks(), ids=lambda value: value[:30])
@on_a_loop
async def test_no_look_reads_a_whole_table(
    database: DatabaseLocation, index: str, statement: str
) -> None:
    async def explain(records: Records) -> list[str]:
        rows = await records.connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"))
        return [row.detail for row in rows]

    async with open_store(database) as store:
        plan = await store.read(explain)

    assert any(index in step for step in plan)
    # The list of owners has been made by steps of an index.
    assert {step for step in plan if step.startswith("SCAN")} <= {"SCAN owners"}
