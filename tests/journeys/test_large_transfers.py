"""Hundreds of megabytes pass whole, and nobody between holds them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.rigs.behaviour.pattern import blocks, digest, hashed
from tests.rigs.behaviour.rig import fresh_key
from tests.rigs.calls import call, opened
from tests.rigs.programs import RUNNING
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

SIZE = 200_000_000
GROWTH_MIB = 48  # buffers and windows of one transfer; the body itself is four times that
BETWEEN = ("service-", "agent-behaviour")


def peak_mib(pid: int) -> int:
    """The most memory that a process has held, as Linux counts it."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


@contextmanager
def memory_stays_bounded() -> Iterator[None]:
    """Fail when the service or the agent grew by more than a transfer's buffers meanwhile."""
    between = [program for program in RUNNING if program.name.startswith(BETWEEN)]
    before = {program.name: peak_mib(program.pid) for program in between}
    yield
    for program in between:
        assert peak_mib(program.pid) - before[program.name] < GROWTH_MIB, program.name


def test_a_download_of_200_mb_is_whole_and_held_by_nobody(way: Way) -> None:
    with memory_stays_bounded(), opened(way, f"/file?size={SIZE}") as answer:
        received = hashed(iter(lambda: answer.read(1 << 18), b""))

    assert received == digest(SIZE)


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_an_upload_of_200_mb_is_whole_and_held_by_nobody(way: Way, framing: str) -> None:
    headers = [("Content-Length", str(SIZE))] if framing == "length" else []
    with memory_stays_bounded():
        answer = call(
            way, f"/sink?key={fresh_key()}", method="POST", headers=headers, body=blocks(SIZE)
        )

    assert answer.json() == {"sha256": digest(SIZE), "size": SIZE}
