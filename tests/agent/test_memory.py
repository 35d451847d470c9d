"""An idle agent leaves a small machine its memory."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.requirements_of_tests import need
from tests.rigs.waiting import free_port

MAX_KB = 60_000
PROCESSES = Path("/proc")

pytestmark = pytest.mark.slow


def resident_kb(pid: int) -> int:
    """Memory that the process holds, as the kernel counts it."""
    need("/proc", PROCESSES.exists(), "Linux has it")
    for line in (PROCESSES / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("the process has no memory any more")


@pytest.fixture
def agent(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """An agent beside OctoPrint, whose service is not there."""
    options = {
        "--service": f"https://127.0.0.1:{free_port()}",
        "--data-dir": str(tmp_path / "agent"),
        "--platform": "octoprint",
        "--lan-listen": "127.0.0.1:0",
    }
    program = [sys.executable, "-m", "printreach.run.main", "agent", "run"]
    with subprocess.Popen(
        [*program, *(word for option in options.items() for word in option)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield process
        process.terminate()


def test_an_agent_that_waits_for_its_service_holds_less_than_sixty_megabytes(
    agent: "subprocess.Popen[str]",
) -> None:
    assert agent.stdout is not None
    tries = [agent.stdout.readline() for _ in range(2)]  # the first loads what TLS takes
    assert all("disconnected" in line for line in tries)

    assert resident_kb(agent.pid) < MAX_KB
