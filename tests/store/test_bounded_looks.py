"""What is looked for each hour costs by what is found, not by all that is kept."""

from pathlib import Path

import pytest
from sqlalchemy import Select, delete, select, text, update
from sqlalchemy.dialects import sqlite

from printreach.store import snapshots as pictures
from printreach.store.live_links import live_links
from printreach.store.notifications import _WAITING
from printreach.store.notify_tables import notify_messages
from printreach.store.prints import prints
from printreach.store.store import Records, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop


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


@pytest.mark.parametrize(("index", "statement"), looks(), ids=lambda value: value[:30])
@on_a_loop
async def test_no_look_reads_a_whole_table(database: Path, index: str, statement: str) -> None:
    async def explain(records: Records) -> list[str]:
        rows = await records.connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"))
        return [row.detail for row in rows]

    async with open_store(database) as store:
        plan = await store.read(explain)

    assert any(index in step for step in plan)
    # The list of owners has been made by steps of an index.
    assert {step for step in plan if step.startswith("SCAN")} <= {"SCAN owners"}
