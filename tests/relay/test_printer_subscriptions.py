"""One recheck for all agents of a node, and notices to the subscribers of a printer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from printreach.ports import Notice, Topic
from printreach.relay.printer_subscriptions import RECHECK_S, PrinterSubscriptions
from tests.fakes.agents import MemoryAgents
from tests.fakes.hasty_loop import on_a_hasty_loop, settle
from tests.fakes.memory_bus import MemoryBus

MOMENT_S = 0.1


@dataclass
class Subscriber:
    """A subscriber that records its calls."""

    notices: list[Topic] = field(default_factory=list)
    rechecks: list[bool] = field(default_factory=list)
    locks: list[bool] = field(default_factory=list)
    account_id: str | None = ""

    def on_notice(self, topic: Topic) -> None:
        self.notices.append(topic)

    def on_recheck(self, is_linked: bool, *, refuses_control: bool) -> None:
        self.rechecks.append(is_linked)
        self.locks.append(refuses_control)


@dataclass
class Scene:
    agents: MemoryAgents
    bus: MemoryBus
    printer_subscriptions: PrinterSubscriptions

    def subscriber(self, printer_id: str, account_id: str | None = "") -> Subscriber:
        subscriber = Subscriber(account_id=account_id)
        self.printer_subscriptions.add(printer_id, subscriber)
        return subscriber


@asynccontextmanager
async def looking() -> AsyncIterator[Scene]:
    agents, bus = MemoryAgents(), MemoryBus()
    scene = Scene(agents, bus, PrinterSubscriptions(agents, bus))
    yield scene
    await scene.printer_subscriptions.close()


@on_a_hasty_loop
async def test_each_half_minute_the_store_is_asked_once_for_all() -> None:
    async with looking() as scene:
        scene.agents.link("mine")
        mine = [scene.subscriber("mine"), scene.subscriber("mine")]
        nobodys = [scene.subscriber(f"nobodys {number}") for number in range(100)]
        await asyncio.sleep(2 * RECHECK_S + MOMENT_S)

        assert scene.agents.looks == 2
        assert all(subscriber.rechecks == [True, True] for subscriber in mine)
        assert all(subscriber.rechecks == [False, False] for subscriber in nobodys)


@on_a_hasty_loop
async def test_a_notice_reaches_the_subscribers_of_its_printer_and_no_others() -> None:
    async with looking() as scene:
        both, other = [scene.subscriber("one"), scene.subscriber("one")], scene.subscriber("other")
        for topic in Topic:
            await scene.bus.publish(Notice(topic, "one"))
        await settle()

        assert all(
            set(subscriber.notices) == {Topic.PRINTER, Topic.DETECTOR} for subscriber in both
        )
        assert other.notices == []


@on_a_hasty_loop
async def test_a_notice_of_an_account_reaches_those_whose_printer_may_be_its() -> None:
    async with looking() as scene:
        hers = [scene.subscriber("one", "ada"), scene.subscriber("two", "ada")]
        unknown = scene.subscriber("three", None)
        others = [scene.subscriber("four", "ben"), scene.subscriber("ada", "")]
        await scene.bus.publish(Notice(Topic.ACCOUNT, "ada"))
        await settle()

        assert [one.notices for one in [*hers, unknown]] == [[Topic.ACCOUNT]] * 3
        assert [one.notices for one in others] == [[], []]


@on_a_hasty_loop
async def test_each_half_minute_a_lock_is_told_whose_notice_was_lost() -> None:
    async with looking() as scene:
        scene.agents.link("mine")
        subscriber = scene.subscriber("mine", "ada")
        for is_locked in (False, True, False):
            scene.agents.lock("mine", is_locked=is_locked)
            await asyncio.sleep(RECHECK_S + MOMENT_S)

        assert subscriber.locks == [False, True, False]


@on_a_hasty_loop
async def test_a_removed_subscriber_gets_nothing_and_is_forgotten() -> None:
    async with looking() as scene:
        left, stays = scene.subscriber("one"), scene.subscriber("one")
        scene.printer_subscriptions.remove("one", left)
        await scene.bus.publish(Notice(Topic.PRINTER, "one"))
        await asyncio.sleep(RECHECK_S + MOMENT_S)

        assert (left.notices, left.rechecks) == ([], [])
        assert (stays.notices, stays.rechecks) == ([Topic.PRINTER], [False])
        scene.printer_subscriptions.remove("one", stays)
        assert len(scene.printer_subscriptions) == 0


@on_a_hasty_loop
async def test_a_subscriber_that_was_never_added_may_be_removed() -> None:
    async with looking() as scene:
        scene.printer_subscriptions.remove("", Subscriber())

        assert len(scene.printer_subscriptions) == 0


@on_a_hasty_loop
async def test_while_the_store_is_away_no_subscriber_is_told_and_afterwards_all_are() -> None:
    async with looking() as scene:
        subscriber = scene.subscriber("one")
        scene.agents.is_broken = True
        await asyncio.sleep(RECHECK_S + MOMENT_S)
        assert subscriber.rechecks == []
        scene.agents.is_broken = False
        await asyncio.sleep(RECHECK_S)

        assert subscriber.rechecks == [False]


@on_a_hasty_loop
async def test_a_subscriber_added_while_the_store_is_asked_is_not_told_an_older_answer() -> None:
    class SlowAgents(MemoryAgents):
        async def linked_among(self, printer_ids: object) -> dict[str, bool]:
            await asyncio.sleep(1.0)
            return {}

    printer_subscriptions = PrinterSubscriptions(SlowAgents(), MemoryBus())
    await asyncio.sleep(RECHECK_S + MOMENT_S)
    late = Subscriber()
    printer_subscriptions.add("late", late)
    await asyncio.sleep(2.0)

    assert late.rechecks == []
    await printer_subscriptions.close()
