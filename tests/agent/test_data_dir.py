"""The agent's folder: private, whole, and one agent's at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from printreach.agent.data_dir import (
    DataDirLock,
    DataDirRefused,
    is_locked,
    prepare,
    read_private,
    write_private,
)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_new_folder_is_for_one_user(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "agent"

    prepare(folder)

    assert mode_of(folder) == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    prepare(tmp_path)

    assert mode_of(tmp_path) == 0o755


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
def test_a_folder_others_may_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)

    with pytest.raises(DataDirRefused, match="chmod 700"):
        prepare(tmp_path)


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent").touch()

    with pytest.raises(DataDirRefused, match="cannot be made"):
        prepare(tmp_path / "agent")


def test_only_one_agent_holds_a_folder(tmp_path: Path) -> None:
    with DataDirLock.take(tmp_path) or pytest.fail("a free folder was refused"):
        assert DataDirLock.take(tmp_path) is None
        assert is_locked(tmp_path)

    assert not is_locked(tmp_path)
    assert DataDirLock.take(tmp_path)


def test_asking_who_holds_the_folder_does_not_make_one(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "agent")
    assert not (tmp_path / "agent").exists()


def test_a_killed_agent_holds_nothing(tmp_path: Path) -> None:
    holder = (
        "import sys, os, signal, pathlib; from printreach.agent.data_dir import DataDirLock;"
        "lock = DataDirLock.take(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
    )

    subprocess.run([sys.executable, "-c", holder, tmp_path], check=False)

    assert (tmp_path / "agent.lock").exists()
    assert not is_locked(tmp_path)


def test_a_written_file_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"

    write_private(path, b"old", durable=True)
    write_private(path, b"new", durable=False)

    assert read_private(path, at_most=3) == b"new"
    assert mode_of(path) == 0o600
    assert names_in(tmp_path) == ["file"]


def test_what_a_crash_left_half_written_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".file.new").write_bytes(b"half")

    write_private(tmp_path / "file", b"whole", durable=True)

    assert names_in(tmp_path) == ["file"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, b"old", durable=True)
    # A folder in the draft's place stands for a disk that cannot be written.
    (tmp_path / ".file.new").mkdir()

    with pytest.raises(OSError, match=r"\.file\.new"):
        write_private(path, b"new", durable=True)

    assert read_private(path, at_most=3) == b"old"


def test_a_missing_file_is_nothing(tmp_path: Path) -> None:
    assert read_private(tmp_path / "file", at_most=10) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)

    with pytest.raises(DataDirRefused, match="chmod 600"):
        read_private(path, at_most=10)


def test_a_file_longer_than_can_be_meant_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, b"x" * 11, durable=False)

    with pytest.raises(DataDirRefused, match="longer"):
        read_private(path, at_most=10)


def test_a_link_to_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    write_private(tmp_path / "elsewhere", b"key", durable=False)
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(DataDirRefused, match="cannot be read"):
        read_private(tmp_path / "file", at_most=10)


def test_a_pipe_in_a_files_place_does_not_hold_up_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file", 0o600)

    with pytest.raises(DataDirRefused, match="not a plain file"):
        read_private(tmp_path / "file", at_most=10)
