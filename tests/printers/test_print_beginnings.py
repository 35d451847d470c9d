"""The beginning of a print or pause on each platform, and platforms with an id instead."""

from itertools import pairwise

import pytest

from printreach.contract.status import State
from printreach.printers.bambu.stopwatch import print_report as seen_on_bambu
from printreach.printers.duet.known_state import KnownState as DuetState
from printreach.printers.duet.known_state import print_report as seen_on_duet
from printreach.printers.duet.known_state import with_model
from printreach.printers.moonraker.status import KnownState as KlipperState
from printreach.printers.moonraker.status import print_report as seen_on_klipper
from printreach.printers.moonraker.status import steps_to
from printreach.printers.octoprint.pause_plan import print_report as seen_on_octoprint
from printreach.printers.octoprint.translate import KnownState as OctoPrintState
from printreach.printers.octoprint.translate import with_current
from printreach.printers.print_progress import SAME_MOMENT_S, PrintReport
from tests.printers.duet.recordings import model
from tests.printers.moonraker.recordings import pushed as pushed_by_moonraker
from tests.printers.octoprint.recordings import pushed as pushed_by_octoprint


def seen_in_octoprint_recording() -> list[PrintReport]:
    known, seen = OctoPrintState(), []
    for message in pushed_by_octoprint():
        if (current := message.get("current")) is not None:
            known = with_current(known, current)
            seen.append(seen_on_octoprint(known))
    return [one for one in seen if one is not None]


def test_octoprint_tells_when_the_pause_began_and_nothing_otherwise() -> None:
    seen = seen_in_octoprint_recording()
    paused = [one.progress.began_s for one in seen if one.is_paused]

    assert paused == [1795221336.2423675] * 2
    assert {one.progress.began_s for one in seen if not one.is_paused} == {None}


def test_klippers_clock_and_a_prints_duration_tell_when_it_began() -> None:
    known, begun = KlipperState(), []
    for message in pushed_by_moonraker():
        if message["method"] == "notify_status_update":
            known = steps_to(known, *message["params"])[-1]
            if seen_on_klipper(known).state in (State.PRINTING, State.PAUSED):
                begun.append((known.latest.path, seen_on_klipper(known).progress.began_s))

    assert len(begun) > 25
    for (path, before_s), (next_path, now_s) in pairwise(begun):
        assert before_s is not None
        assert now_s is not None
        is_same = abs(now_s - before_s) < SAME_MOMENT_S
        assert is_same == (path == next_path)


def test_without_klippers_clock_it_is_not_known() -> None:
    news = {"print_stats": {"state": "paused", "filename": "a.gcode", "total_duration": 60.0}}

    assert seen_on_klipper(steps_to(KlipperState(), news)[-1]).progress.began_s is None
    assert seen_on_klipper(steps_to(KlipperState(), news, 100.0)[-1]).progress.began_s == 40.0


@pytest.mark.parametrize(
    ("job", "began_s"),
    [
        ({"duration": 2000, "pauseDuration": 0}, 84400.0),
        ({"duration": 2000, "pauseDuration": 400}, 84000.0),
        ({"duration": 2000, "pauseDuration": None}, None),
        ({"duration": None, "pauseDuration": 400}, None),
    ],
)
def test_a_duet_tells_it_in_seconds_since_the_board_was_started(
    job: dict[str, object], began_s: float | None
) -> None:
    seen = seen_on_duet(with_model(DuetState(), model("paused", **job)))

    assert seen is not None
    assert seen.progress.began_s == began_s


@pytest.mark.parametrize(
    ("report", "print_id", "began_s"),
    [
        ({"task_id": "0", "subtask_id": "0"}, "", None),
        ({}, "", None),
        ({"task_id": "7", "subtask_id": "0"}, "7", None),
        ({"task_id": "7", "subtask_id": "8"}, "7\n8", None),
        ({"task_id": "0", "gcode_start_time": "0"}, "", None),
        ({"task_id": "0", "gcode_start_time": "1681479206"}, "", 1681479206.0),
    ],
)
def test_a_bambu_printer_tells_an_id_of_the_cloud_or_a_time_or_neither(
    report: dict[str, object], print_id: str, began_s: float | None
) -> None:
    progress = seen_on_bambu({"gcode_state": "PAUSE", **report}).progress

    assert (progress.print_id, progress.began_s) == (print_id, began_s)
