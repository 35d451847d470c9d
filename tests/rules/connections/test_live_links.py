"""The end of a Live Link, and the print as its page shows it then."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import State
from printreach.rules.connections.live_links import (
    LastFacts,
    LiveEnd,
    LiveLink,
    end_of,
    expiry,
    facts_at_end,
    problem_with_hours,
    shows_printer,
)
from printreach.rules.printers import Printer
from tests.fakes.clock import NOON

LINK = LiveLink(
    live_id="l1",
    short_id="s1",
    account_id="ada",
    printer_id="p1",
    connection_id=None,
    created_at=NOON,
    expires_at=expiry(NOON, 24),
    print_id="print-1",
)
PRINTER = Printer(
    printer_id="p1", account_id="ada", name="Workshop", public_key=b"k", linked_at=NOON
)


def event(kind: int, print_id: str = "print-1", **facts: object) -> PrintEvent:
    return PrintEvent(
        event_id="event-0001",
        event_type=kind,
        event_time_sec=int(NOON.timestamp()),
        print_id=print_id,
        **facts,  # type: ignore[arg-type]  # a test names the fields
    )


@pytest.mark.parametrize("hours", [1, 24, 17_520])
def test_a_link_lives_from_an_hour_to_two_years(hours: int) -> None:
    assert problem_with_hours(hours) is None


@pytest.mark.parametrize("hours", [0, -1, 17_521])
def test_a_link_lives_neither_shorter_nor_longer(hours: int) -> None:
    assert problem_with_hours(hours) is not None


def test_a_link_ends_when_its_time_is_over() -> None:
    assert end_of(LINK, LINK.expires_at - timedelta(seconds=1)) is None
    assert end_of(LINK, LINK.expires_at) is LiveEnd.TIME


def test_a_link_that_was_ended_says_why_for_good() -> None:
    ended = replace(LINK, ended_at=NOON, end=LiveEnd.OWNER)

    assert end_of(ended, LINK.expires_at) is LiveEnd.OWNER


def test_a_link_shows_no_printer_but_its_own() -> None:
    assert shows_printer(LINK, PRINTER)
    assert not shows_printer(LINK, None)
    assert not shows_printer(LINK, replace(PRINTER, account_id="bob"))
    relinked = replace(PRINTER, linked_at=NOON + timedelta(seconds=1))
    assert not shows_printer(LINK, relinked)


@pytest.mark.parametrize(
    ("told", "facts"),
    [
        (
            event(EventType.COMPLETE, file_name="vase.gcode", progress=99),
            LastFacts(state=State.COMPLETE, progress=100, file_name="vase.gcode"),
        ),
        (
            event(EventType.FAILED, error="cancelled", progress=40),
            LastFacts(state=State.CANCELLED, progress=40),
        ),
        (
            event(EventType.FAILED, error="thermal runaway"),
            LastFacts(state=State.ERROR),
        ),
        (event(EventType.STARTED, "print-2", file_name="secret.gcode"), LastFacts()),
    ],
)
def test_a_link_ends_with_its_print(told: PrintEvent, facts: LastFacts) -> None:
    assert facts_at_end(LINK, told) == facts


@pytest.mark.parametrize(
    "told",
    [
        event(EventType.PROGRESS),
        event(EventType.PAUSED),
        event(EventType.STARTED),
        event(EventType.COMPLETE, "print-0"),
        event(99),
    ],
)
def test_other_news_ends_no_link(told: PrintEvent) -> None:
    assert facts_at_end(LINK, told) is None


def test_a_link_that_goes_by_the_hour_outlives_the_print() -> None:
    assert facts_at_end(replace(LINK, print_id=""), event(EventType.COMPLETE)) is None


def test_a_print_that_began_before_the_link_was_made_and_is_told_late_ends_nothing() -> None:
    late = structs.replace(
        event(EventType.STARTED, "print-0"), event_time_sec=int(NOON.timestamp()) - 60
    )

    assert facts_at_end(LINK, late) is None
