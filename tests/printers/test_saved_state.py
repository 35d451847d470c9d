"""The saved state of a smart pause, on a disk that may fail or can no longer be written."""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from printreach.printers import loose
from printreach.printers.bambu.smart_pause import saved_state_store as bambu_store
from printreach.printers.duet.smart_pause import saved_state_store as duet_store
from printreach.printers.elegoo.pausing import saved_state_store as elegoo_store
from printreach.printers.moonraker.smart_pause import saved_state_store as moonraker_store
from printreach.printers.octoprint.smart_pause import saved_state_store as octoprint_store
from printreach.printers.saved_state import (
    CurrentSavedState,
    SavedStateStore,
    distance_mm,
    remove_state_file,
    target_c,
)

FORGETS: dict[str, Callable[[Path], None]] = {
    "bambu": lambda folder: bambu_store(folder).forget(),
    "duet": lambda folder: duet_store(folder).forget(),
    "moonraker": lambda folder: moonraker_store(folder).forget(),
    "octoprint": lambda folder: octoprint_store(folder).forget(),
    "elegoo": lambda folder: elegoo_store(folder).forget(),
}


@dataclass(frozen=True)
class Bed:
    bed_c: float


WARM, HOT = Bed(60.0), Bed(100.0)


def store_in(folder: Path) -> SavedStateStore[Bed]:
    return SavedStateStore(
        folder / "rest.json", lambda reported: Bed(loose.number(reported, "bed_c") or 0.0)
    )


def test_a_rest_outlives_a_restart_until_it_is_taken(tmp_path: Path) -> None:
    CurrentSavedState(store_in(tmp_path)).remember(WARM)

    assert CurrentSavedState(store_in(tmp_path)).take() == WARM
    assert CurrentSavedState(store_in(tmp_path)).saved is None


def test_a_disk_that_fails_leaves_what_was_stored_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept = CurrentSavedState(store_in(tmp_path))
    kept.remember(WARM)

    def half_written(path: Path, text: str) -> None:
        path.write_bytes(text.encode()[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", half_written)
    kept.remember(HOT)

    assert kept.saved == HOT
    assert store_in(tmp_path).load() == WARM
    assert "would forget this smart pause: No space left" in caplog.text


@pytest.mark.parametrize("reported", [{}, {"a": -5}, {"a": 1e308}, {"a": "hot"}, [], None])
def test_what_no_printer_can_have_had_is_nothing(reported: object) -> None:
    assert target_c(reported, "a") == 0.0
    assert distance_mm(reported, "a") == 0


@pytest.mark.parametrize("kind", FORGETS)
def test_a_pause_ends_though_its_memory_cannot(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Else the order that gives the heat back fails, and the printer is followed no more."""

    def refuse(_path: Path, *, missing_ok: bool = False) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "unlink", refuse)

    FORGETS[kind](tmp_path)

    assert "can't be forgotten: Read-only file system" in caplog.text


def test_what_is_put_away_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "rest.json"
    file.write_text("{}")

    remove_state_file(file)
    remove_state_file(file)

    assert not file.exists()
