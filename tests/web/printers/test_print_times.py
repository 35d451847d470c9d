"""How far a print has come: progress, start and expected end, the same on every page."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from printreach.contract.status import State, StatusResult
from printreach.web.printer_state import print_times
from tests.web.printers.conftest import Home, printing
from tests.web.watch.watching import PRINT, a_look, saw

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def told(
    *,
    progress: float = 60.0,
    printed_s: int = 300,
    left_s: int | None = 200,
    began_s: float = 0,
    state: State = State.PRINTING,
) -> StatusResult:
    """What a printer says of a short print. began_s: as its agent noted it, 0 for never."""
    said = printing(state=state)
    current = structs.replace(
        said.job_status.current_print,
        progress=progress,
        duration_sec=printed_s,
        time_left_sec=left_s,
    )
    service = structs.replace(
        said.service_status, most_recent_print_id_str=PRINT, print_start_time_sec=int(began_s)
    )
    job = structs.replace(said.job_status, current_print=current)
    return structs.replace(said, job_status=job, service_status=service)


def test_a_pause_does_not_move_the_start_of_a_print() -> None:
    began = NOON - timedelta(minutes=18)
    status = told(printed_s=300, began_s=began.timestamp())  # 13 of the 18 minutes it was paused

    times = print_times(status, NOON)

    assert times is not None
    assert times.started_at == began
    assert times.ready_at == NOON + timedelta(seconds=200)


@pytest.mark.parametrize("began_s", [0, NOON.timestamp() + 3_600])
def test_where_no_start_was_noted_the_time_printed_tells_it(began_s: float) -> None:
    times = print_times(told(printed_s=300, began_s=began_s), NOON)

    assert times is not None
    assert times.started_at == NOON - timedelta(seconds=300)


def test_a_paused_print_has_no_expected_end() -> None:
    times = print_times(told(state=State.PAUSED), NOON)

    assert times is not None
    assert times.ready_at is None


def test_times_that_no_print_takes_are_unknown() -> None:
    times = print_times(told(printed_s=10**12, left_s=10**12), NOON)

    assert times is not None
    assert (times.started_at, times.ready_at) == (None, None)


@pytest.mark.parametrize("state", [State.IDLE, State.COMPLETE, State.CANCELLED, State.ERROR])
def test_what_is_over_has_no_times(state: State) -> None:
    assert print_times(told(state=state), NOON) is None


@pytest.mark.parametrize(
    ("progress", "printed_s", "minutes_ago", "is_seen"),
    [
        (93.0, 334, 6, True),  # a demo's print, shorter than ten minutes
        (60.0, 300, 18, True),  # after a pause of 13 minutes
        (60.0, 300, 18, False),
        (3.0, 10, 0, True),
    ],
)
def test_the_bar_is_as_full_as_the_text_says(
    home: Home, progress: float, printed_s: int, minutes_ago: int, is_seen: bool
) -> None:
    now = home.world.clock.now()
    began = now - timedelta(minutes=minutes_ago)
    home.says(told(progress=progress, printed_s=printed_s, began_s=began.timestamp()))
    if is_seen:
        saw(home, a_look(began + timedelta(seconds=20)), a_look(now))

    page = home.get().text
    card = page[page.index('id="part-print"') :]
    assert f'<p class="huge" data-ages>{int(progress)}<small>' in page
    assert f'aria-valuenow="{int(progress)}"' in card
    assert f'class="filled" width="{progress}%"' in card
    assert re.findall(r'<svg width="([0-9.]+)%">', card) == [f"{progress}"] * is_seen
    assert f"{began.isoformat(timespec='minutes')[:16]}" in card
