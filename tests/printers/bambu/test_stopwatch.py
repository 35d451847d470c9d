"""The elapsed and the remaining time of a print."""

from pathlib import Path

from printreach.contract.status import State
from printreach.printers.bambu.stopwatch import ClockFile, Stopwatch, observe

PRINT = {"task_id": "7", "gcode_state": "RUNNING", "mc_remaining_time": 10}
UNIX = 1_800_000_000.0


def after(*looks: tuple[float, State, dict[str, object]]) -> Stopwatch:
    stopwatch = Stopwatch()
    for now, state, report in looks:
        stopwatch = observe(stopwatch, report, state, now)
    return stopwatch


def test_time_is_counted_from_the_warm_up_on() -> None:
    stopwatch = after((100.0, State.WARMING_UP, PRINT), (130.0, State.PRINTING, PRINT))

    assert stopwatch.duration_s(160.0) == 60


def test_a_pause_does_not_count() -> None:
    stopwatch = after(
        (0.0, State.PRINTING, PRINT), (10.0, State.PAUSED, PRINT), (50.0, State.PRINTING, PRINT)
    )

    assert stopwatch.duration_s(55.0) == 15


def test_the_end_stops_it_and_the_next_print_begins_at_nothing() -> None:
    ended = after((0.0, State.PRINTING, PRINT), (30.0, State.COMPLETE, PRINT))
    again = observe(ended, PRINT, State.WARMING_UP, 90.0)

    assert ended.duration_s(80.0) == 30
    assert again.duration_s(95.0) == 5


def test_another_job_is_another_print_even_if_its_start_was_missed() -> None:
    stopwatch = after(
        (0.0, State.PRINTING, PRINT), (50.0, State.PRINTING, {**PRINT, "task_id": "8"})
    )

    assert stopwatch.duration_s(60.0) == 10


def test_the_minutes_left_run_down_by_the_second() -> None:
    stopwatch = after((0.0, State.PRINTING, PRINT))

    assert (stopwatch.left_s(0.0), stopwatch.left_s(20.0)) == (600, 580)
    assert stopwatch.left_s(500.0) == 541  # no further than a minute ahead of the printer


def test_the_minutes_left_stand_still_in_a_pause() -> None:
    paused = {**PRINT, "gcode_state": "PAUSE"}
    stopwatch = after((0.0, State.PRINTING, PRINT), (10.0, State.PAUSED, paused))

    assert stopwatch.left_s(50.0) == 600


def test_the_minutes_of_the_print_before_are_not_told_of_the_next() -> None:
    stopwatch = after((0.0, State.WARMING_UP, {**PRINT, "gcode_state": "PREPARE"}))

    assert stopwatch.left_s(0.0) is None


def test_a_restart_of_the_agent_goes_on_counting(tmp_path: Path) -> None:
    stopwatch = after((0.0, State.PRINTING, PRINT))
    ClockFile(tmp_path).save(stopwatch, 100.0, UNIX)

    loaded = ClockFile(tmp_path).load(PRINT, UNIX + 20.0)

    assert observe(loaded, PRINT, State.PRINTING, 5.0).duration_s(5.0) == 120


def test_a_restart_into_another_print_begins_anew(tmp_path: Path) -> None:
    ClockFile(tmp_path).save(after((0.0, State.PRINTING, PRINT)), 100.0, UNIX)

    assert ClockFile(tmp_path).load({**PRINT, "task_id": "8"}, UNIX) == Stopwatch()


def test_a_damaged_file_costs_the_duration_and_nothing_else(tmp_path: Path) -> None:
    for text in ("", "{", "null", '{"Job": 3}', '{"Job": "7", "CountedSec": "x"}'):
        (tmp_path / "bambu-print.json").write_text(text)

        assert ClockFile(tmp_path).load(PRINT, UNIX) == Stopwatch()
