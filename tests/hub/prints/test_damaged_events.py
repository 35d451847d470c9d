"""Events whose stored content can't be read are set aside, and hide no others."""

from pathlib import Path

import pytest
from sqlalchemy import update

from printreach.contract import codec
from printreach.store.tables import events
from tests.fakes.events import an_event, some_events
from tests.fakes.loop import on_a_loop
from tests.hub.prints.test_fanout import World, path, world_at

__all__ = ["path"]


async def break_content(world: World, event_id: str) -> None:
    await world.store.write(
        lambda records: records.connection.execute(
            update(events).where(events.c.event_id == event_id).values(content=b"{")
        )
    )


@on_a_loop
async def test_an_event_that_cannot_be_read_is_told_of_once_and_all_others_go_out(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(3))
        await world.append(an_event(4), printer_id="p2")
        await break_content(world, "event-0002")
        fanout = world.fanout()
        await fanout.fan_out_due()
        await world.append(an_event(5))
        await fanout.fan_out_due()

        assert await world.owed() == ["event-0001", "event-0003", "event-0004", "event-0005"]
        assert caplog.text.count("event event-0002 of printer p1 can't be read") == 1


@on_a_loop
async def test_very_many_that_cannot_be_read_hide_none_behind_them(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(450))
        await world.store.write(
            lambda records: records.connection.execute(
                update(events).where(events.c.seq < 450).values(content=b"{")
            )
        )
        await world.fanout().fan_out_due()

        assert await world.owed() == ["event-0450"]


@on_a_loop
async def test_the_next_start_tries_again_what_could_not_be_read(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(2))
        await break_content(world, "event-0001")
        await world.fanout().fan_out_due()
        await world.store.write(
            lambda records: records.connection.execute(
                update(events)
                .where(events.c.event_id == "event-0001")
                .values(content=codec.encode(an_event(1)))
            )
        )
        await world.fanout().fan_out_due()

        assert await world.owed() == ["event-0002", "event-0001"]
