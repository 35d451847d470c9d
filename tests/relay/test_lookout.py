"""One look at the store for all agents of a node, and notices to those whom they concern."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from printreach.backends.bus_memory import MemoryBus
from printreach.ports import Notice, Topic
from printreach.relay.lookout import RECHECK_S, Lookout
from tests.fakes.agents import MemoryAgents
from tests.fakes.hasty_loop import on_a_hasty_loop, settle

MOMENT_S = 0.1


@dataclass
class Watcher:
    """Writes down what it hears."""

    notices: list[Topic] = field(default_factory=list)
    rechecks: list[bool] = field(default_factory=list)

    def on_notice(self, topic: Topic) -> None:
        self.notices.append(topic)

    def on_recheck(self, is_linked: bool) -> None:
        self.rechecks.append(is_linked)


@dataclass
class Scene:
    agents: MemoryAgents
    bus: MemoryBus
    lookout: Lookout

    def watcher(self, printer_id: str) -> Watcher:
        watcher = Watcher()
        self.lookout.add(printer_id, watcher)
        return watcher


@asynccontextmanager
async def looking() -> AsyncIterator[Scene]:
    agents, bus = MemoryAgents(), MemoryBus()
    scene = Scene(agents, bus, Lookout(agents, bus))
    yield scene
    await scene.lookout.close()


@on_a_hasty_loop
async def test_each_half_minute_the_store_is_asked_once_for_all() -> None:
    async with looking() as scene:
        scene.agents.link("mine")
        mine = [scene.watcher("mine"), scene.watcher("mine")]
        nobodys = [scene.watcher(f"nobodys {number}") for number in range(100)]
        await asyncio.sleep(2 * RECHECK_S + MOMENT_S)

        assert scene.agents.looks == 2
        assert all(watcher.rechecks == [True, True] for watcher in mine)
        assert all(watcher.rechecks == [False, False] for watcher in nobodys)


@on_a_hasty_loop
async def test_a_notice_reaches_those_whom_it_concerns_and_nobody_else() -> None:
    async with looking() as scene:
        both, other = [scene.watcher("one"), scene.watcher("one")], scene.watcher("other")
        for topic in Topic:
            await scene.bus.publish(Notice(topic, "one"))
        await settle()

        assert all(set(watcher.notices) == {Topic.PRINTER, Topic.DETECTOR} for watcher in both)
        assert other.notices == []


@on_a_hasty_loop
async def test_who_has_left_hears_nothing_and_is_forgotten() -> None:
    async with looking() as scene:
        left, stays = scene.watcher("one"), scene.watcher("one")
        scene.lookout.remove("one", left)
        await scene.bus.publish(Notice(Topic.PRINTER, "one"))
        await asyncio.sleep(RECHECK_S + MOMENT_S)

        assert (left.notices, left.rechecks) == ([], [])
        assert (stays.notices, stays.rechecks) == ([Topic.PRINTER], [False])
        scene.lookout.remove("one", stays)
        assert len(scene.lookout) == 0


@on_a_hasty_loop
async def test_who_never_came_may_leave() -> None:
    async with looking() as scene:
        scene.lookout.remove("", Watcher())

        assert len(scene.lookout) == 0


@on_a_hasty_loop
async def test_while_the_store_is_away_nobody_is_told_and_afterwards_everybody() -> None:
    async with looking() as scene:
        watcher = scene.watcher("one")
        scene.agents.is_broken = True
        await asyncio.sleep(RECHECK_S + MOMENT_S)
        assert watcher.rechecks == []
        scene.agents.is_broken = False
        await asyncio.sleep(RECHECK_S)

        assert watcher.rechecks == [False]


@on_a_hasty_loop
async def test_who_comes_while_the_store_is_asked_is_not_told_an_older_answer() -> None:
    class SlowAgents(MemoryAgents):
        async def linked_among(self, printer_ids: object) -> frozenset[str]:
            await asyncio.sleep(1.0)
            return frozenset()

    lookout = Lookout(SlowAgents(), MemoryBus())
    await asyncio.sleep(RECHECK_S + MOMENT_S)
    late = Watcher()
    lookout.add("late", late)
    await asyncio.sleep(2.0)

    assert late.rechecks == []
    await lookout.close()
