"""A print, as its events describe it in any order."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.events import PrintEvent
from printreach.rules.prints.history import (
    Print,
    PrintResult,
    ReceivedEvent,
    concerns_print,
    counted_duration_s,
    counted_progress,
    observe,
)
from tests.fakes.clock import NOON

START = int(NOON.timestamp())


def event(kind: int, after_s: int, **facts: object) -> PrintEvent:
    return PrintEvent(
        event_id=f"event-{kind:04}-{after_s}",
        event_type=kind,
        event_time_sec=START + after_s,
        print_id="print-1",
        **facts,  # type: ignore[arg-type]  # a test names the fields
    )


def received(told: PrintEvent, snapshot_id: str | None = None) -> ReceivedEvent:
    return ReceivedEvent(
        account_id="ada",
        printer_id="p1",
        printer_name="Workshop",
        event=told,
        received_at=NOON + timedelta(hours=1),
        snapshot_id=snapshot_id,
    )


def seen(*events: PrintEvent) -> Print:
    known: Print | None = None
    for told in events:
        known = observe(known, received(told))
    assert known is not None
    return known


STARTED = event(1, 0, file_name="vase.gcode")
HALF = event(6, 600, progress=50, filament_used_mm=2000, duration_sec=600)
PAUSED = event(4, 700, error="Out of filament", progress=52)
RESUMED = event(5, 800)
COMPLETE = event(2, 1200, duration_sec=1150, filament_used_mm=4100, filament_used_mg=12_000)
CANCELLED = event(3, 900, error="cancelled", progress=60, duration_sec=880)
FAILED = event(3, 900, error="Thermal runaway", progress=60)


def test_a_print_from_start_to_end() -> None:
    done = seen(STARTED, HALF, PAUSED, RESUMED, COMPLETE)

    assert done == Print(
        account_id="ada",
        printer_id="p1",
        print_id="print-1",
        printer_name="Workshop",
        file_name="vase.gcode",
        started_at=NOON,
        start_is_known=True,
        heard_at=NOON + timedelta(seconds=1200),
        ended_at=NOON + timedelta(seconds=1200),
        duration_s=1150,
        progress=52,
        result=PrintResult.COMPLETE,
        filament_mm=4100,
        filament_mg=12_000,
    )
    assert counted_progress(done) == 100


def test_a_print_under_way_has_no_end() -> None:
    running = seen(STARTED, HALF)

    assert running.result is PrintResult.UNDER_WAY
    assert running.ended_at is None
    assert counted_duration_s(running) is None
    assert counted_progress(running) == 50


@pytest.mark.parametrize(
    ("end", "result", "error"),
    [
        (CANCELLED, PrintResult.CANCELLED, ""),
        (FAILED, PrintResult.FAILED, "Thermal runaway"),
        (COMPLETE, PrintResult.COMPLETE, ""),
    ],
)
def test_a_print_ends_in_one_of_three_ways(
    end: PrintEvent, result: PrintResult, error: str
) -> None:
    ended = seen(STARTED, HALF, end)

    assert (ended.result, ended.error) == (result, error)


def test_a_print_whose_start_was_never_seen_began_as_long_ago_as_it_lasts() -> None:
    joined = seen(HALF)

    assert (joined.started_at, joined.start_is_known) == (NOON, False)
    assert joined.file_name == ""


def test_the_agent_knows_better_when_a_print_began() -> None:
    told = event(6, 600, duration_sec=10, print_started_at_sec=START - 60)

    assert seen(told).started_at == NOON - timedelta(seconds=60)
    assert seen(told).start_is_known
    assert seen(HALF, told).started_at == NOON - timedelta(seconds=60)


def test_a_start_after_its_own_event_is_not_believed() -> None:
    told = event(6, 600, duration_sec=600, print_started_at_sec=START + 86_400)

    assert seen(told).started_at == NOON


def test_a_clock_that_is_years_ahead_is_not_believed() -> None:
    told = event(2, 10 * 365 * 86_400)

    assert seen(told).ended_at == NOON + timedelta(hours=1)


def test_the_longest_duration_leads_to_no_time_before_1970() -> None:
    assert seen(event(6, 0, duration_sec=2**31 - 1)).started_at.year == 1970


def test_a_picture_of_the_end_belongs_to_the_print() -> None:
    known = observe(observe(None, received(STARTED, "first")), received(COMPLETE, "last"))

    assert known.snapshot_id == "last"


@pytest.mark.parametrize("kind", [13, 15, 16])
def test_what_is_no_part_of_a_print_tells_nothing_of_it(kind: int) -> None:
    assert not concerns_print(event(kind, 0))
    assert not concerns_print(replace_print_id(STARTED))
    assert concerns_print(STARTED)


def replace_print_id(told: PrintEvent) -> PrintEvent:
    return PrintEvent(
        event_id=told.event_id, event_type=told.event_type, event_time_sec=told.event_time_sec
    )


EVENTS = [STARTED, HALF, PAUSED, RESUMED, COMPLETE, FAILED, CANCELLED]


@given(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=12), st.randoms())
def test_neither_order_nor_repetition_matters(told: list[PrintEvent], random: object) -> None:
    shuffled = list(told)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands out a Random

    assert seen(*shuffled, *told[: len(told) // 2]) == seen(*told)


def test_how_long_a_print_took_is_what_the_printer_says() -> None:
    ended = seen(STARTED, COMPLETE)

    assert counted_duration_s(ended) == 1150
    assert counted_duration_s(replace(ended, duration_s=None)) == 1200
    assert counted_duration_s(replace(ended, duration_s=None, start_is_known=False)) is None
