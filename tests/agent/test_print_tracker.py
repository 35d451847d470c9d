"""The watch over prints: when it looks, what it keeps, and what it is told to be silent about."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from printreach.agent.outbox import Outbox
from printreach.agent.print_tracker import PrintTracker, TrackerEnvironment
from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.events import EventType
from printreach.contract.status import DetectorStatus, State
from printreach.contract.unset import UNSET
from tests.agent.contexts import NOON_UNIX_S
from tests.agent.snapshots import HandClock
from tests.fakes.printer import ScriptedPrinter
from tests.relay.waiting import until

E = EventType


class PushingPrinter(ScriptedPrinter):
    """Says when its view has changed."""

    def __init__(self) -> None:
        super().__init__()
        self.tell: Callable[[], None] = lambda: None

    def on_change(self, callback: Callable[[], None]) -> None:
        self.tell = callback

    def be(self, state: State) -> None:
        super().be(state)
        self.tell()


class Watch:
    """A watch over a printer."""

    def __init__(self, folder: Path, printer: ScriptedPrinter | None = None) -> None:
        self.folder = folder
        self.printer = printer or PushingPrinter()
        self.clock = HandClock()
        self.service_s: float | None = None
        self.start()

    def start(self) -> None:
        """Also anew, with what was written down."""
        self.outbox = Outbox(self.folder, self.clock)
        self.prints = PrintTracker(
            self.printer,
            self.outbox,
            TrackerEnvironment(
                steady_time=self.clock,
                unix_time=lambda: NOON_UNIX_S + self.clock(),
                service_time=lambda: self.service_s,
                token_bytes=os.urandom,
            ),
            detector=lambda _: DetectorStatus(),
        )

    def look(self, *states: State, seconds: float = 1.0) -> None:
        """Look at each, and write down what that tells."""
        for state in states:
            self.clock.at += seconds
            self.printer.be(state)
            self.prints.observe()
            asyncio.run(self.outbox.save())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.prints.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def see(self, *states: State) -> None:
        """Let the watch see each."""
        for state in states:
            self.printer.be(state)
            await until(partial(self._has_seen, state))

    def _has_seen(self, state: State) -> bool:
        return self.outbox.tracked.memory.state is state

    @property
    def events(self) -> list[EventType]:
        return [EventType(event.event_type) for event in self.outbox.batch(1000)]


@pytest.mark.slow
@pytest.mark.parametrize("printer", [ScriptedPrinter, PushingPrinter])
def test_a_printer_is_looked_at_whether_it_says_when_it_changes_or_not(
    tmp_path: Path, printer: type[ScriptedPrinter]
) -> None:
    async def body() -> None:
        watch = Watch(tmp_path, printer())
        async with watch.running():
            await watch.see(State.IDLE, State.PRINTING, State.COMPLETE)
            await until(lambda: len(watch.events) == 2)

        assert watch.events == [E.STARTED, E.COMPLETE]

    asyncio.run(body())


def test_a_print_that_shows_for_a_moment_only_is_told_of(tmp_path: Path) -> None:
    async def body() -> None:
        watch = Watch(tmp_path)
        async with watch.running():
            await watch.see(State.IDLE)
            watch.printer.be(State.WARMING_UP)
            watch.printer.be(State.CANCELLED)
            watch.printer.be(State.WARMING_UP)
            watch.printer.be(State.IDLE)
            watch.printer.be(State.CANCELLED)
            await until(lambda: len(watch.events) == 4)

        assert watch.events == [E.STARTED, E.FAILED] * 2

    asyncio.run(body())


def test_a_pause_that_was_ordered_silently_is_not_told_also_after_a_restart(
    tmp_path: Path,
) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE, State.PRINTING)
    watch.prints.expect_pause(Pause(suppress_notification=True))
    asyncio.run(watch.outbox.save())
    watch.start()
    watch.look(State.PAUSED, State.PRINTING)

    assert watch.events == [E.STARTED, E.RESUMED]


def test_an_event_has_the_services_time_once_that_is_known(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE, State.PRINTING)
    watch.service_s = 1_900_000_000.7
    watch.look(State.PAUSED)

    by_machine, by_service = watch.outbox.batch(2)
    assert by_machine.event_time_sec == NOON_UNIX_S + 102
    assert by_service.event_time_sec == 1_900_000_000


def test_trouble_with_the_printer_is_told_after_a_minute_of_a_print(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE, State.PRINTING)
    watch.printer.be_in_trouble(CommandStatus.NOT_CONNECTED)
    watch.prints.observe()
    watch.clock.at += 59
    watch.prints.observe()
    asyncio.run(watch.outbox.save())
    assert watch.events == [E.STARTED]

    watch.clock.at += 1
    watch.prints.observe()
    asyncio.run(watch.outbox.save())

    assert watch.events == [E.STARTED, E.ERROR]
    assert "not to be had" in str(watch.outbox.batch(2)[1].error)


def test_names_that_no_file_takes_break_nothing(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE)
    watch.printer.be(State.PRINTING)
    view = watch.printer.view
    current = structs.replace(view.job.current_print, file_name="a\ud800\x00.gcode")
    job = structs.replace(view.job, current_print=current, error="\udfff")
    watch.printer.view = replace(view, job=job)
    watch.prints.observe()
    asyncio.run(watch.outbox.save())

    assert watch.events == [E.STARTED, E.ERROR]
    assert Outbox(tmp_path, watch.clock).batch(10) == watch.outbox.batch(10)


def test_what_a_printer_that_rests_shows_wears_out_no_card(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE)
    before = [file.stat() for file in tmp_path.iterdir()]
    watch.look(*[State.IDLE] * 1000)

    assert [file.stat() for file in tmp_path.iterdir()] == before


def test_a_smart_pause_is_shown_beside_the_printer_and_in_the_status_until_it_goes_on(
    tmp_path: Path,
) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE, State.PRINTING)
    watch.prints.expect_pause(Pause(smart_pause=True))
    watch.look(State.PAUSED)
    shown = watch.prints.service_status().show_smart_pause_popup, watch.prints.smart_pause_popup()
    watch.prints.resume_ordered()
    at_once = watch.prints.smart_pause_popup()
    watch.look(State.PRINTING)

    assert at_once == ""
    assert shown[0] is True
    assert shown[1].startswith("The hotend is off and the bed is off.")
    assert watch.prints.service_status().show_smart_pause_popup is UNSET
    assert watch.prints.smart_pause_popup() == ""


def test_a_status_is_told_with_the_print_of_its_state_before_the_next_look(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.look(State.IDLE)
    before = watch.prints.service_status().most_recent_print_id_str
    watch.printer.be(State.PRINTING)

    assert watch.prints.service_status().most_recent_print_id_str != before
    asyncio.run(watch.outbox.save())
    assert watch.events == [E.STARTED]
