"""From a printer that changes to events that the service has, all through real sockets."""

from collections.abc import Iterator

import pytest

from printreach.contract.events import EventType
from tests.rigs.service import LinkedPrinter, Service, service_on_localhost
from tests.rigs.simulated import FAST, SimulatedPrinter, simulated_printer
from tests.rigs.stored_events import StoredEvent, milestones, stored_events, wait_for_event

pytestmark = pytest.mark.slow

E = EventType
# Warms its bed, and moves to and fro for about fifty seconds.
GCODE = "M140 S45\nG28\nM190 S45\n" + "G1 X10 F6000\nG1 X16\n" * 400 + "M140 S0\n"
BRISK = 5


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service_on_localhost(tmp_path_factory.mktemp("events")) as running:
        yield running


@pytest.fixture(scope="module")
def printer(
    service: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimulatedPrinter]:
    with simulated_printer(tmp_path_factory.mktemp("printer"), "events") as running:
        running.put("part.gcode", GCODE)
        yield running


@pytest.fixture(scope="module")
def linked(service: Service, printer: SimulatedPrinter) -> Iterator[LinkedPrinter]:
    with service.printer("events", printer.url, platform="simulated") as linked:
        linked.agent.wait_until_looked()
        yield linked


def since(service: Service, linked: LinkedPrinter, count: int) -> list[StoredEvent]:
    return stored_events(service, linked)[count:]


def test_a_print_is_told_from_its_start_until_its_bed_is_cool(
    service: Service, linked: LinkedPrinter, printer: SimulatedPrinter
) -> None:
    printer.run_at(1)
    printer.start("part.gcode")
    wait_for_event(service, linked, E.STARTED)
    wait_for_event(service, linked, E.PROGRESS)
    printer.pause()
    wait_for_event(service, linked, E.PAUSED)
    printer.resume()
    wait_for_event(service, linked, E.RESUMED)
    printer.run_at(BRISK)
    wait_for_event(service, linked, E.COMPLETE)
    printer.run_at(FAST)
    wait_for_event(service, linked, E.BED_COOLED_DOWN)
    events = stored_events(service, linked)

    assert milestones(events) == [E.STARTED, E.PAUSED, E.RESUMED, E.COMPLETE, E.BED_COOLED_DOWN]
    assert len({kept.event.print_id for kept in events}) == 1
    assert len({kept.event.event_id for kept in events}) == len(events)
    assert {kept.event.file_name for kept in events} == {"part.gcode"}
    # An agent that stood still for a tenth of the print passes over it.
    assert 1 <= len([kept for kept in events if kept.kind is E.PROGRESS]) <= 9


def test_a_print_that_is_cancelled_has_failed_as_cancelled(
    service: Service, linked: LinkedPrinter, printer: SimulatedPrinter
) -> None:
    before = stored_events(service, linked)
    printer.run_at(1)
    printer.start("part.gcode")
    wait_for_event(service, linked, E.STARTED, 2)
    printer.cancel()
    wait_for_event(service, linked, E.FAILED)
    events = since(service, linked, len(before))

    assert milestones(events) == [E.STARTED, E.FAILED]
    assert events[-1].event.error == "cancelled"
    assert events[0].event.print_id not in {kept.event.print_id for kept in before}
