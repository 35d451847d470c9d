"""The detector status that the service pushes stands in the printer's status."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from printreach.agent.commands.api import CommandApi
from printreach.agent.commands.replay import ServiceClock
from printreach.agent.host_api_keys import HostApiKeys
from printreach.agent.outbox import Outbox
from printreach.agent.print_tracker import PrintTracker
from printreach.agent.printer import CommandedPrinter, LatestDetectorStatus
from printreach.agent.service_connection import CAPABILITIES
from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract import signin
from printreach.contract.status import DetectorStatus, State
from tests.agent.contexts import Agent, ServiceKey, tracker_environment
from tests.agent.snapshots import HandClock
from tests.agent.talks import Talk
from tests.fakes.printer import ScriptedPrinter

SAID = DetectorStatus(last_score=0.3, time_since_last_score_sec=1.0, interval_sec=20.0)


class Desk:
    """A printer that prints, and what its agent knows of it."""

    def __init__(self, folder: Path) -> None:
        self.clock = HandClock()
        self.latest = LatestDetectorStatus(self.clock)
        self.printer = ScriptedPrinter()
        self.prints = PrintTracker(
            self.printer,
            Outbox(folder, self.clock),
            tracker_environment(self.clock),
            detector=self.latest.of_print,
        )

    def begin_print(self) -> str:
        """The new print's id."""
        for state in (State.IDLE, State.PRINTING, State.COMPLETE, State.PRINTING):
            self.printer.be(state)
            self.prints.observe()
        return self.prints.service_status().most_recent_print_id_str

    @property
    def shown(self) -> DetectorStatus:
        return self.prints.service_status().detector


def test_nothing_is_shown_before_anything_was_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.begin_print()

    assert desk.shown == DetectorStatus()


def test_what_was_said_is_shown_with_its_age(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.latest.update(signin.Detector(print_id=desk.begin_print(), status=SAID))
    desk.clock.at += 90.0

    assert desk.shown == DetectorStatus(
        last_score=0.3, time_since_last_score_sec=91.0, interval_sec=20.0
    )


def test_the_next_print_begins_without_the_last_ones_scores(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.latest.update(signin.Detector(print_id=desk.begin_print(), status=SAID))
    desk.begin_print()

    assert desk.shown == DetectorStatus()


def test_what_is_said_of_an_unknown_print_is_shown_beside_none(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for print_id in ("", "another"):
        desk.latest.update(signin.Detector(print_id=print_id, status=SAID))

        assert desk.shown == DetectorStatus()


def test_the_uplink_asks_for_it() -> None:
    assert signin.DETECTOR_NEWS in CAPABILITIES


def test_the_service_is_heard_after_sign_in(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    news = LatestDetectorStatus(agent.clock)
    no_api = cast("CommandApi", None)  # sign-in has no use for it
    commanded = CommandedPrinter(
        api=no_api,
        clock=ServiceClock(agent.clock),
        detector=news,
        host_api_keys=HostApiKeys(ScriptedPrinter()),
        outbox=Outbox(tmp_path, agent.clock),
        temperatures=TemperatureRecorder(ScriptedPrinter(), agent.clock),
    )
    agent.context = replace(agent.context, commanded=commanded)
    talk = Talk(agent)
    talk.says(talk.challenge(ServiceKey()), talk.welcome())
    talk.says(signin.Detector(print_id="one", status=SAID))

    assert news.of_print("one") == SAID
