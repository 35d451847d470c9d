"""The saved state of a smart pause, on a disk that may fail or can no longer be written."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from printreach.printers.bambu.pause_plan import BambuPausePlan
from printreach.printers.duet.pause_plan import DuetPausePlan
from printreach.printers.elegoo.pause_plan import ElegooPausePlan
from printreach.printers.moonraker.pause_plan import MoonrakerPausePlan
from printreach.printers.octoprint.pause_plan import OctoPrintPausePlan
from printreach.printers.pause_plan import PausePlan, SavedStateFile
from printreach.printers.print_progress import (
    PrintProgress,
    SavedState,
    StoredShape,
    distance_mm,
    target_c,
)

PROGRESS = PrintProgress(print_id="7", duration_s=60.0, position=(4711.0, 2.0))
PROGRESS_STORED = {
    "print_id": "7",
    "duration_s": 60.0,
    "began_s": None,
    "position": [4711.0, 2.0],
}
MOVES_STORED = {"lift_mm": 5, "retract_mm": 2, "progress": PROGRESS_STORED}
MOVED = SavedState(path="a", lift_mm=5, retract_mm=2, progress=PROGRESS)
STORED: dict[type[PausePlan[Any]], tuple[SavedState, dict[str, object]]] = {
    BambuPausePlan: (
        replace(MOVED, targets={"hotend_c": 210.0}),
        {"job": "a", "hotend_c": 210.0, "bed_c": 0.0, **MOVES_STORED},
    ),
    ElegooPausePlan: (
        replace(MOVED, targets={"hotend_c": 210.0, "bed_c": 60.0}),
        {"file_name": "a", "hotend_c": 210.0, "bed_c": 60.0, **MOVES_STORED},
    ),
    DuetPausePlan: (
        replace(MOVED, targets={"bed_c": 60.0}, details={"tools": {"0": "active"}}),
        {"path": "a", "tools": {"0": "active"}, "bed_c": 60.0, **MOVES_STORED},
    ),
    MoonrakerPausePlan: (
        replace(MOVED, targets={"extruder": 210.0, "heater_bed": 60.0}),
        {"path": "a", "targets": {"extruder": 210.0, "heater_bed": 60.0}, **MOVES_STORED},
    ),
    OctoPrintPausePlan: (
        replace(MOVED, targets={"tool0": 210.0}, details={"has_tools": True, "is_relative": False}),
        {
            "path": "a",
            "targets": {"tool0": 210.0},
            "has_tools": True,
            "is_relative": False,
            **MOVES_STORED,
        },
    ),
}
WARM = SavedState(path="a", targets={"bed": 60.0})
HOT = SavedState(path="a", targets={"bed": 100.0})


def file_in(folder: Path) -> SavedStateFile:
    return SavedStateFile(folder / "rest.json", StoredShape())


@pytest.mark.parametrize("plan", STORED)
def test_each_platform_keeps_the_shape_of_its_file(
    tmp_path: Path, plan: type[PausePlan[Any]]
) -> None:
    saved, content = STORED[plan]
    SavedStateFile(tmp_path / plan.file, plan.shape).remember(saved)

    assert json.loads((tmp_path / plan.file).read_text()) == content
    assert SavedStateFile(tmp_path / plan.file, plan.shape).saved == saved


def test_a_rest_outlives_a_restart_until_it_is_forgotten(tmp_path: Path) -> None:
    file_in(tmp_path).remember(WARM)
    again = file_in(tmp_path)

    assert again.saved == WARM
    again.forget()
    again.forget()
    assert file_in(tmp_path).saved is None
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_leaves_what_was_stored_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept = file_in(tmp_path)
    kept.remember(WARM)

    def half_written(path: Path, text: str) -> None:
        path.write_bytes(text.encode()[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", half_written)
    kept.remember(HOT)

    assert kept.saved == HOT
    assert file_in(tmp_path).saved == WARM
    assert "would forget this smart pause: No space left" in caplog.text


@pytest.mark.parametrize("plan", STORED)
@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"path": ""}', "[" * 100_000, "x" * 100_000]
)
def test_a_damaged_file_holds_no_state(
    tmp_path: Path, plan: type[PausePlan[Any]], content: str
) -> None:
    (tmp_path / plan.file).write_text(content)

    assert SavedStateFile(tmp_path / plan.file, plan.shape).saved is None


@pytest.mark.parametrize("reported", [{}, {"a": -5}, {"a": 1e308}, {"a": "hot"}, [], None])
def test_what_no_printer_can_have_had_is_nothing(reported: object) -> None:
    assert target_c(reported, "a") == 0.0
    assert distance_mm(reported, "a") == 0


def test_a_pause_ends_though_its_memory_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Else the order that gives the heat back fails, and the printer is followed no more."""

    def refuse(_path: Path, *, missing_ok: bool = False) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "unlink", refuse)

    file_in(tmp_path).forget()

    assert "can't be forgotten: Read-only file system" in caplog.text
