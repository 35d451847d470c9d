"""`printreach agent`: its command line, its signals, and what it costs to keep."""

import argparse
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from printreach.agent.data_dir import DataDirLock
from printreach.agent.status import StatusFile
from printreach.run.agent import add_arguments, main
from tests.agent.snapshots import PRINTER_ID, a_snapshot

# What the architecture promises for an idle agent, and what a Raspberry Pi Zero can spare.
MAX_MEMORY_MB = 60

TIMEOUT_S = 60

# An agent whose uplink announces that it runs, and then waits to be stopped.
AGENT = """
import argparse, asyncio, sys
from printreach.agent.config import add_options, read_config
from printreach.run.agent import run_program

class Uplink:
    def __init__(self, context):
        self.context, self.is_over = context, asyncio.Event()

    async def run(self):
        self.context.announce.connected()
        await self.is_over.wait()

    async def stop(self):
        self.is_over.set()

parser = argparse.ArgumentParser()
add_options(parser)
sys.exit(run_program(read_config(parser.parse_args(), {}), Uplink, verbose=False))
"""


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def words_for(data_dir: Path) -> list[str]:
    service = ["--service", "https://printreach.example", "--data-dir", str(data_dir)]
    return [*service, "--platform", "octoprint", "--lan-listen", "127.0.0.1:0"]


@contextmanager
def running_agent(data_dir: Path, code: str = AGENT) -> Iterator[subprocess.Popen[str]]:
    """An agent in a process of its own, ready."""
    program = subprocess.Popen(
        [sys.executable, "-c", code, *words_for(data_dir)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        try:
            assert program.stdout is not None
            assert json.loads(program.stdout.readline()) == {"event": "connected"}
            yield program
        finally:
            program.kill()


def test_a_wrong_option_ends_with_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*words_for(tmp_path), "--platform", "toaster"]

    assert main(parse("run", *words)) == 2

    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("printreach agent: --platform must be one of ")
    assert output.err.count("\n") == 1


def test_the_status_of_no_agent_is_a_sentence_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(parse("status", "--data-dir", str(tmp_path))) == 1

    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"printreach agent: No agent runs with the data directory {tmp_path}.\n"


def test_a_script_is_told_the_same_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(parse("status", "--data-dir", str(tmp_path), "--json")) == 1

    assert json.loads(capsys.readouterr().out) == {"Running": False}


def test_the_status_needs_a_data_directory(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(parse("status")) == 2

    assert capsys.readouterr().err.startswith("printreach agent: --data-dir is missing")


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Path]:
    """The data directory of an agent that runs, as another process sees it."""
    lock = DataDirLock.take(tmp_path)
    assert lock is not None
    StatusFile(tmp_path)(a_snapshot(phase_since=0.0))
    with lock:
        yield tmp_path


def test_the_status_of_a_running_agent_is_one_json_object(
    watched: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(parse("status", "--data-dir", str(watched), "--json")) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["Running"] is True
    assert told["Phase"] == "starting"
    assert told["PrinterId"] == PRINTER_ID


def test_the_status_of_a_running_agent_is_readable_by_people(
    watched: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(parse("status", "--data-dir", str(watched))) == 0

    assert capsys.readouterr().out.startswith("The agent is starting.\n")


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_an_agent_that_is_told_to_stop_ends_cleanly(tmp_path: Path, stop: signal.Signals) -> None:
    with running_agent(tmp_path) as program:
        program.send_signal(stop)
        output, log = program.communicate(timeout=TIMEOUT_S)

    assert program.returncode == 0
    assert output == ""
    assert "Traceback" not in log
    assert not (tmp_path / "status.json").exists()


@pytest.mark.slow
def test_an_impatient_person_ends_an_agent_that_does_not_stop(tmp_path: Path) -> None:
    deaf = AGENT.replace("self.is_over.set()", "self.context.announce.connected()")
    with running_agent(tmp_path, deaf) as program:
        program.send_signal(signal.SIGINT)
        assert program.stdout is not None
        program.stdout.readline()
        program.send_signal(signal.SIGINT)
        _, log = program.communicate(timeout=TIMEOUT_S)

    assert program.returncode == 130
    assert "Traceback" not in log


@pytest.mark.slow
def test_a_second_agent_on_a_folder_says_so_and_leaves_the_first_alone(tmp_path: Path) -> None:
    with running_agent(tmp_path) as first:
        second = subprocess.run(
            [sys.executable, "-c", AGENT, *words_for(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        assert first.poll() is None

    assert second.returncode == 1
    assert "Another agent runs with the data directory" in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.slow
def test_an_agent_runs_on_without_anyone_to_read_its_output(tmp_path: Path) -> None:
    with running_agent(tmp_path) as program:
        assert program.stdout is not None
        program.stdout.close()
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=TIMEOUT_S) == 0


@pytest.mark.slow
def test_an_agent_started_without_standard_output_runs(tmp_path: Path) -> None:
    command = 'exec "$@" >&-'
    told = AGENT.replace("announce.connected()", "announce.connected(); self.is_over.set()")

    done = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-c", told, *words_for(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_log_has_time_level_and_logger_in_each_line(tmp_path: Path) -> None:
    with running_agent(tmp_path) as program:
        program.send_signal(signal.SIGTERM)
        _, log = program.communicate(timeout=TIMEOUT_S)

    pattern = (
        r"(?m)\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} (INFO|WARNING) printreach\.\S+ .+\n)+\Z"
    )
    assert re.search(pattern, log), log


@pytest.mark.slow
def test_an_idle_agent_fits_a_small_machine(tmp_path: Path) -> None:
    with running_agent(tmp_path) as program:
        lines = Path(f"/proc/{program.pid}/status").read_text().splitlines()
        resident_kb = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    assert resident_kb < MAX_MEMORY_MB * 1024
    print(f"idle agent: {resident_kb / 1024:.1f} MB")
