"""Contract: what the watch over prints tells of this platform's prints."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from printreach.agent.outbox import Outbox
from printreach.agent.print_tracker import PrintTracker, TrackerEnvironment
from printreach.contract.commands import CommandStatus
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import UNDER_WAY, DetectorStatus, State
from printreach.rules.prints import transitions
from tests.printers.bench import Bench, on_the_bench, wall_clock

E = EventType
IN_ANY_NUMBER = {E.PROGRESS, E.FIRST_LAYER_COMPLETE, E.THIRD_LAYER_COMPLETE}
"""Their number depends on the speed of the rig's printer."""


@dataclass(frozen=True)
class ObservedEvents:
    """The events so far."""

    outbox: Outbox
    bench: Bench

    @property
    def events(self) -> list[PrintEvent]:
        return self.outbox.batch(1000)

    @property
    def milestones(self) -> list[EventType]:
        kinds = [EventType(event.event_type) for event in self.events]
        return [kind for kind in kinds if kind not in IN_ANY_NUMBER]

    async def until(self, kind: EventType) -> None:
        """Until an event of that type is the last milestone."""

        async def is_told() -> bool:
            return self.milestones[-1:] == [kind]

        await self.bench.until_true(lambda: f"{kind.name}; told: {self.milestones}", is_told)


@asynccontextmanager
async def watched(bench: Bench) -> AsyncIterator[ObservedEvents]:
    """An agent's watch over prints runs meanwhile; it has seen that nothing is printed."""
    loop = asyncio.get_running_loop()
    clock: Callable[[], float] = loop.time
    tracker_environment = TrackerEnvironment(
        steady_time=clock,
        unix_time=wall_clock(),
        service_time=lambda: None,
        token_bytes=os.urandom,
    )
    with TemporaryDirectory() as folder:
        outbox = Outbox(Path(folder), clock)
        prints = PrintTracker(
            bench.printer, outbox, tracker_environment, detector=lambda _: DetectorStatus()
        )
        prints.observe()
        watching = asyncio.create_task(prints.run())
        try:
            yield ObservedEvents(outbox, bench)
            assert not watching.done(), "the watch goes on, whatever the printer shows"
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


class EventContract:
    @on_the_bench
    async def test_a_print_that_is_paused_and_cancelled_is_told_in_its_order(
        self, bench: Bench
    ) -> None:
        async with watched(bench) as events:
            path = await bench.start_long()
            await events.until(E.STARTED)
            assert (await bench.calls.post("pause")).status == 200
            await events.until(E.PAUSED)
            assert (await bench.calls.post("resume")).status == 200
            await bench.until(State.PRINTING)
            await events.until(E.RESUMED)
            assert (await bench.calls.post("cancel")).status == 200
            await events.until(E.FAILED)

            assert events.milestones == [E.STARTED, E.PAUSED, E.RESUMED, E.FAILED]
            assert events.events[-1].error == "cancelled"
            assert len({event.print_id for event in events.events}) == 1
            assert {event.file_name for event in events.events} == {path.rpartition("/")[2]}

    @on_the_bench
    async def test_a_print_that_ends_is_told_as_complete(self, bench: Bench) -> None:
        async with watched(bench) as events:
            await bench.start(bench.rig.short_print())
            await events.until(E.COMPLETE)

            assert events.milestones == [E.STARTED, E.COMPLETE]
            assert events.events[-1].progress == 100

    @on_the_bench
    async def test_a_print_that_starts_is_told_without_the_figures_of_the_one_before(
        self, bench: Bench
    ) -> None:
        async with watched(bench) as events:
            await bench.start(bench.rig.short_print())
            await events.until(E.COMPLETE)
            path = await bench.start(bench.rig.long_print())
            await events.until(E.STARTED)
            _, started = (one for one in events.events if one.event_type == E.STARTED)

            assert started.file_name == path.rpartition("/")[2]
            assert isinstance(started.progress, int)
            assert started.progress < 50
            assert started.time_remaining_sec != 0

    @on_the_bench
    async def test_a_fault_is_told_once_with_its_words(self, bench: Bench) -> None:
        async with watched(bench) as events:
            await bench.start_long()
            await events.until(E.STARTED)
            await bench.rig.fail_print()
            job = await bench.until(State.ERROR)
            await events.until(E.FAILED)

            assert events.milestones == [E.STARTED, E.FAILED]
            assert events.events[-1].error == job["Error"]

    @on_the_bench
    async def test_a_print_that_is_gone_after_an_interruption_is_told_as_ended_once(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A print may outlast the interruption or not, depending on the platform."""
        monkeypatch.setattr(transitions, "GONE_AFTER_S", 1.0)
        async with watched(bench) as events:
            await bench.start_long()
            await events.until(E.STARTED)
            await bench.rig.disconnect()
            await bench.until_refused(CommandStatus.NOT_CONNECTED)
            await bench.rig.reconnect()
            await bench.until_true("a status again", lambda: _answers(bench))
            await asyncio.sleep(2.0)
            if bench.printer.view.job.state in UNDER_WAY:
                assert events.milestones == [E.STARTED]
            else:
                await events.until(E.FAILED)
                assert events.milestones == [E.STARTED, E.FAILED]
                assert events.events[0].print_id == events.events[-1].print_id
                assert events.events[-1].error


async def _answers(bench: Bench) -> bool:
    return (await bench.calls.get("status")).status == CommandStatus.OK
