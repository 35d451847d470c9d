"""Agent and service lose their power at every step of an event's way: each is stored once."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.contract.events import EventType
from tests.rigs.kill_at import OF_THE_AGENT, OF_THE_SERVICE, Step
from tests.rigs.programs import Program
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.simulated import FAST, SimulatedPrinter, simulated_printer
from tests.rigs.stored_events import milestones, stored_events, wait_for_event
from tests.rigs.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.fault]

E = EventType
WHOLE = [E.STARTED, E.PAUSED, E.RESUMED, E.FAILED, E.BED_COOLED_DOWN]
# Warms its bed, and moves to and fro for long.
GCODE = "M140 S45\nG28\nM190 S45\n" + "G1 X10 F6000\nG1 X60\n" * 1000
DEATH_WITHIN_S = 60.0


@pytest.fixture
def printer(folder: Path, request: pytest.FixtureRequest) -> Iterator[SimulatedPrinter]:
    with simulated_printer(folder, f"for-{_slug(request)}") as running:
        running.put("part.gcode", GCODE)
        yield running


@pytest.fixture
def linked(
    relay: Service, printer: SimulatedPrinter, request: pytest.FixtureRequest
) -> Iterator[LinkedPrinter]:
    with relay.printer(_slug(request), printer.url, platform="simulated") as linked:
        linked.agent.wait_until_looked()
        yield linked


def _slug(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).partition("[")[2].rstrip("]").replace("_", "-").lower()


def dying(normal: Program, step: Step, kind: EventType) -> Program:
    """The same program, which kills itself at that step of the first event of that type."""
    root = Path(__file__).parents[2]
    words = [sys.executable, "-m", "tests.rigs.kill_at", step, str(int(kind)), *normal.words[1:]]
    return Program(f"{normal.name}-{step}", words, logs=normal.logs, env=normal.env, cwd=root)


def wait_until_dead(program: Program) -> None:
    wait_for("the power cut", lambda: not program.is_running, DEATH_WITHIN_S)


class Walk:
    """A print from its start to a cool bed, step by step, with a pause, a resume and a cancel."""

    def __init__(self, printer: SimulatedPrinter, service: Service, linked: LinkedPrinter) -> None:
        self._printer = printer
        self._service = service
        self._linked = linked

    def order(self, kind: EventType) -> None:
        """Do what this event tells of."""
        printer = self._printer
        match kind:
            case E.STARTED:
                printer.start("part.gcode")
            case E.PAUSED:
                printer.pause()
            case E.RESUMED:
                printer.resume()
            case E.FAILED:
                wait_for("a warm bed", lambda: printer.bed_c > 42, DEATH_WITHIN_S)
                printer.cancel()
            case _:
                printer.run_at(FAST)

    def wait(self, kind: EventType) -> None:
        wait_for_event(self._service, self._linked, kind)

    def go(self, kinds: list[EventType]) -> None:
        for kind in kinds:
            self.order(kind)
            self.wait(kind)


@pytest.mark.parametrize("kind", [E.STARTED, E.PAUSED, E.FAILED], ids=lambda kind: kind.name)
@pytest.mark.parametrize("step", OF_THE_AGENT)
def test_whatever_the_agent_was_doing_each_event_is_stored_once(
    relay: Service, linked: LinkedPrinter, printer: SimulatedPrinter, step: Step, kind: EventType
) -> None:
    walk, at = Walk(printer, relay, linked), WHOLE.index(kind)
    agent = linked.agent.program
    agent.stop()
    with dying(agent, step, kind) as doomed:
        walk.go(WHOLE[:at])
        walk.order(kind)
        wait_until_dead(doomed)
    agent.start()
    walk.wait(kind)
    walk.go(WHOLE[at + 1 :])
    events = stored_events(relay, linked)

    assert milestones(events) == WHOLE
    assert len({kept.event.print_id for kept in events}) == 1
    assert len({kept.event.event_id for kept in events}) == len(events)


@pytest.mark.parametrize("kind", [E.PAUSED], ids=lambda kind: kind.name)
@pytest.mark.parametrize("step", OF_THE_SERVICE)
def test_whatever_the_service_was_doing_each_event_is_stored_and_handed_out_once(
    relay: Service, linked: LinkedPrinter, printer: SimulatedPrinter, step: Step, kind: EventType
) -> None:
    walk, at = Walk(printer, relay, linked), WHOLE.index(kind)
    walk.go(WHOLE[:at])
    relay.program.stop()
    with dying(relay.program, step, kind) as doomed:
        walk.order(kind)
        wait_until_dead(doomed)
    relay.program.start()
    walk.wait(kind)
    walk.go(WHOLE[at + 1 :])
    events = stored_events(relay, linked)

    assert milestones(events) == WHOLE
    assert len({kept.event.print_id for kept in events}) == 1
    assert all(kept.is_handed_out for kept in events)


def test_a_print_that_ends_while_the_agent_is_off_is_told_as_what_it_became(
    relay: Service, folder: Path
) -> None:
    with (
        simulated_printer(folder, "left-alone") as printer,
        relay.printer("left-alone", printer.url, platform="simulated") as linked,
    ):
        linked.agent.wait_until_looked()
        printer.put("part.gcode", GCODE)
        walk = Walk(printer, relay, linked)
        walk.go([E.STARTED])
        linked.agent.program.kill()
        printer.cancel()
        linked.agent.program.start()
        walk.wait(E.FAILED)

        assert milestones(stored_events(relay, linked)) == [E.STARTED, E.FAILED]
