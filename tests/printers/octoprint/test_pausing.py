"""The restore of a paused print: moves are tried once, heat until it is accepted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import pytest

from printreach.contract.commands import Pause
from printreach.printers.following import ChangeListeners
from printreach.printers.octoprint.api import OctoPrintApi
from printreach.printers.octoprint.live_view import LiveView
from printreach.printers.octoprint.pause_plan import OctoPrintPausePlan, heat_commands, pause_moves
from printreach.printers.octoprint.translate import KnownState, features_of, with_current
from printreach.printers.pause_plan import SavedStateFile
from printreach.printers.port import PrinterRefused, View, failed
from printreach.printers.print_progress import PrintProgress, SavedState
from printreach.printers.smart_pauses import SmartPauses
from tests.fakes.loop import on_a_loop

SAVED = SavedState(
    path="a.gcode",
    targets={"tool0": 215.0},
    lift_mm=4,
    retract_mm=3,
    details={"has_tools": False, "is_relative": False},
    progress=PrintProgress(duration_s=60.0, began_s=1795221330.5, position=(4711.0,)),
)
PAUSED = {
    "state": {"flags": {"paused": True, "operational": True}},
    "job": {"file": {"path": "a.gcode"}},
    "progress": {"printTime": 60, "filepos": 4711},
    "temps": [{"tool0": {"actual": 215.0, "target": 0.0}}],
    "markings": [{"type": "pause", "label": "Pause", "time": 1795221330.5}],
}


class PausedWatch:
    view = View(trouble=None, features=features_of(frozenset({"print"})))
    known = with_current(KnownState(), PAUSED)
    changes = ChangeListeners()

    async def wait_until(self, _is_so: Callable[[], bool], _seconds: float) -> bool:
        return True


class BusyOctoPrint:
    """refuses: the path that it has no time for, once."""

    def __init__(self, refuses: str) -> None:
        self.refuses = refuses
        self.commands: list[list[str]] = []
        self.resumes = 0

    async def post(self, path: str, body: Mapping[str, object]) -> None:
        if path == self.refuses:
            self.refuses = ""
            raise failed("OctoPrint gave no answer.")
        if path == "/api/job":
            self.resumes += 1
        else:
            self.commands.append(cast("list[str]", body["commands"]))


def file_in(folder: Path) -> SavedStateFile:
    return SavedStateFile(folder / OctoPrintPausePlan.file, OctoPrintPausePlan.shape)


def pauses_of(octoprint: BusyOctoPrint, folder: Path) -> SmartPauses:
    api, live_view = cast("OctoPrintApi", octoprint), cast("LiveView", PausedWatch())
    return SmartPauses(folder, OctoPrintPausePlan(api, live_view))


async def resume_twice(folder: Path, octoprint: BusyOctoPrint) -> None:
    file_in(folder).remember(SAVED)
    pausing = pauses_of(octoprint, folder)
    with pytest.raises(PrinterRefused, match="no answer"):
        await pausing.resume()
    assert file_in(folder).saved is not None
    await pausing.resume()


@on_a_loop
async def test_a_smart_pause_is_a_plain_one_where_the_key_may_not_control_the_printer(
    tmp_path: Path,
) -> None:
    octoprint = BusyOctoPrint(refuses="")
    await pauses_of(octoprint, tmp_path).pause(Pause(smart_pause=True))

    assert octoprint.commands == []
    assert file_in(tmp_path).saved is None


@on_a_loop
async def test_commands_that_were_refused_are_sent_at_the_next_try(tmp_path: Path) -> None:
    octoprint = BusyOctoPrint(refuses="/api/printer/command")
    await resume_twice(tmp_path, octoprint)

    assert octoprint.commands == [heat_commands(SAVED, on=True), pause_moves(SAVED, -4, 3)]
    assert (octoprint.resumes, file_in(tmp_path).saved) == (1, None)


@on_a_loop
async def test_a_resume_that_was_refused_lowers_the_nozzle_once_and_heats_again(
    tmp_path: Path,
) -> None:
    octoprint = BusyOctoPrint(refuses="/api/job")
    await resume_twice(tmp_path, octoprint)

    heat = heat_commands(SAVED, on=True)
    assert octoprint.commands == [heat, pause_moves(SAVED, -4, 3), heat]
    assert (octoprint.resumes, file_in(tmp_path).saved) == (1, None)
