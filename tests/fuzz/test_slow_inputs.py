"""An input of the fuzzer that took too long counts only where it does so again."""

from pathlib import Path

import pytest

from fuzz import __main__ as fuzzing
from fuzz.targets import seeds

TARGET = "cleaning"


@pytest.fixture
def found(tmp_path: Path) -> Path:
    """Where the fuzzer has left an input that met a machine which stood still, and another one."""
    folder = tmp_path / TARGET
    folder.mkdir()
    (folder / "timeout-0").write_bytes(seeds(TARGET)[0])
    (folder / "crash-0").write_bytes(b"")
    return folder


@pytest.mark.slow
def test_an_input_that_is_quick_when_tried_again_is_forgotten(found: Path) -> None:
    assert fuzzing.slow_again(found) == []
    assert [path.name for path in found.iterdir()] == ["crash-0"]


def test_an_input_that_hangs_again_is_kept(found: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "HANGS_S", 0.0)

    assert fuzzing.slow_again(found) == [found / "timeout-0"]
    assert (found / "timeout-0").exists()


@pytest.mark.slow
def test_an_input_that_fails_when_tried_again_is_kept(found: Path) -> None:
    odd = found.rename(found.with_name("no-target"))

    assert fuzzing.slow_again(odd) == [odd / "timeout-0"]
