"""Smart pauses that end on a disk that can't be written any more."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from printreach.printers.bambu.smart_pause import saved_state_store as bambu_store
from printreach.printers.duet.smart_pause import saved_state_store as duet_store
from printreach.printers.elegoo.pausing import saved_state_store as elegoo_store
from printreach.printers.moonraker.smart_pause import saved_state_store as moonraker_store
from printreach.printers.octoprint.smart_pause import saved_state_store as octoprint_store
from printreach.printers.state_files import remove_state_file

FORGETS: dict[str, Callable[[Path], None]] = {
    "bambu": lambda folder: bambu_store(folder).forget(),
    "duet": lambda folder: duet_store(folder).forget(),
    "moonraker": lambda folder: moonraker_store(folder).forget(),
    "octoprint": lambda folder: octoprint_store(folder).forget(),
    "elegoo": lambda folder: elegoo_store(folder).forget(),
}


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
