"""A process that the tests fork is as one of the installed command."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.rigs.fork_server import ForkedProcess, ForkedProgram, fork, program_of
from tests.rigs.service import printreach

pytestmark = pytest.mark.slow

WRONG = ("agent", "run", "--service", "ftp://nowhere")


def begin(words: tuple[str, ...], output: Path) -> ForkedProcess:
    with Path(os.devnull).open("rb") as nothing, output.open("wb") as out:
        return fork(words, os.environ, [nothing.fileno(), out.fileno(), out.fileno()])


def test_it_says_and_ends_as_the_installed_command_does(tmp_path: Path) -> None:
    installed = subprocess.run(
        printreach(*WRONG), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    status = begin(WRONG, tmp_path / "said").wait(60)

    assert installed.stdout
    assert (status, (tmp_path / "said").read_bytes()) == (installed.returncode, installed.stdout)


def test_one_that_is_killed_has_ended(tmp_path: Path) -> None:
    words = ("agent", "run", "--service", "http://127.0.0.1:1", "--data-dir", str(tmp_path))
    process = begin(words, tmp_path / "said")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0)
    assert process.poll() is None

    os.killpg(process.pid, signal.SIGKILL)

    assert process.wait(60) == -signal.SIGKILL
    assert process.poll() == -signal.SIGKILL


def test_services_and_agents_fork(tmp_path: Path) -> None:
    program = program_of("agent", printreach(*WRONG), logs=tmp_path, env={"PRINTREACH_X": "1"})

    assert isinstance(program, ForkedProgram)


@pytest.mark.parametrize("name", ["PYTHONPATH", "LD_PRELOAD"])
def test_what_is_read_while_a_process_starts_is_not_lost(tmp_path: Path, name: str) -> None:
    program = program_of("agent", printreach(*WRONG), logs=tmp_path, env={name: str(tmp_path)})

    assert not isinstance(program, ForkedProgram)


def test_benchmarks_have_what_people_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_VERSION")
    program = program_of("agent", printreach(*WRONG), logs=tmp_path, env={})

    assert not isinstance(program, ForkedProgram)
