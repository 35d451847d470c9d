"""A recorded day of statuses, by a clock that only the test moves."""

import asyncio
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

import pytest

from printreach.agent.outbox import Outbox
from printreach.agent.print_tracker import PrintTracker
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import DetectorStatus
from printreach.printers.simulated.translate import view_of
from tests.agent.contexts import NOON_UNIX_S, tracker_environment
from tests.agent.record_day import DAY_S, replay
from tests.agent.snapshots import HandClock
from tests.fakes.printer import ScriptedPrinter

E = EventType


@dataclass
class Day:
    """An agent that looks at the printer, and starts anew as often as it is told."""

    folder: Path
    clock: HandClock = field(default_factory=lambda: HandClock(0.0))
    printer: ScriptedPrinter = field(default_factory=ScriptedPrinter)

    def __post_init__(self) -> None:
        self.start_agent()

    def start_agent(self) -> None:
        self.outbox = Outbox(self.folder, self.clock)
        self.prints = PrintTracker(
            self.printer,
            self.outbox,
            replace(tracker_environment(self.clock), unix_time=lambda: NOON_UNIX_S + self.clock()),
            detector=lambda _: DetectorStatus(),
        )

    def live(self, restart_every_s: int = DAY_S) -> list[PrintEvent]:
        """The events that were reported of the day."""
        next_restart = restart_every_s
        for second, status in replay():
            self.printer.view = view_of(status, "1")
            self.clock.at = float(second)
            if second >= next_restart:
                next_restart = second + restart_every_s
                asyncio.run(self.outbox.save())
                self.start_agent()
            self.prints.observe()
        asyncio.run(self.outbox.save())
        return self.outbox.batch(1000)


def by_print(events: list[PrintEvent]) -> list[tuple[object, list[EventType]]]:
    return [
        (
            next(iter(events_of_print)).file_name,
            [EventType(one.event_type) for one in events_of_print],
        )
        for events_of_print in (
            list(group) for _, group in groupby(events, lambda one: one.print_id)
        )
    ]


def milestones(events: list[PrintEvent]) -> list[tuple[object, list[EventType]]]:
    return [
        (name, [kind for kind in kinds if kind is not E.PROGRESS])
        for name, kinds in by_print(events)
    ]


DAY = [
    (
        "vase.gcode",
        [
            E.STARTED,
            E.FIRST_LAYER_COMPLETE,
            E.THIRD_LAYER_COMPLETE,
            E.COMPLETE,
            E.BED_COOLED_DOWN,
        ],
    ),
    (
        "bracket.gcode",
        [
            E.STARTED,
            E.FIRST_LAYER_COMPLETE,
            E.THIRD_LAYER_COMPLETE,
            E.PAUSED,
            E.RESUMED,
            E.FAILED,
            E.BED_COOLED_DOWN,
        ],
    ),
    (
        "sign.gcode",
        [
            E.STARTED,
            E.FIRST_LAYER_COMPLETE,
            E.THIRD_LAYER_COMPLETE,
            E.PAUSED,
            E.FILAMENT_CHANGE_REQUIRED,
            E.RESUMED,
            E.COMPLETE,
            E.BED_COOLED_DOWN,
        ],
    ),
    (
        "gear.gcode",
        [
            E.STARTED,
            E.FIRST_LAYER_COMPLETE,
            E.THIRD_LAYER_COMPLETE,
            E.FAILED,
            E.BED_COOLED_DOWN,
        ],
    ),
]


def test_a_day_is_told_as_it_was(tmp_path: Path) -> None:
    events = Day(tmp_path).live()

    assert milestones(events) == DAY
    of_the_vase = [one for one in events if one.file_name == "vase.gcode"]
    tenths = [one.progress for one in of_the_vase if one.event_type == E.PROGRESS]
    assert {tenth // 10 for tenth in tenths if isinstance(tenth, int)} == set(range(1, 10))
    hours = [one.duration_sec for one in events if one.event_type == E.PROGRESS]
    assert any(3600 <= one < 3610 for one in hours if isinstance(one, int))


@pytest.mark.slow
def test_an_agent_that_starts_anew_every_few_minutes_tells_the_same(tmp_path: Path) -> None:
    (tmp_path / "steady").mkdir()
    (tmp_path / "restless").mkdir()
    steady = Day(tmp_path / "steady").live()
    restless = Day(tmp_path / "restless").live(restart_every_s=397)

    assert milestones(restless) == DAY
    assert [(one.event_type, one.progress) for one in restless] == [
        (one.event_type, one.progress) for one in steady
    ]
