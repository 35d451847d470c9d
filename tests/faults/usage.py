"""What a program takes of its machine, and whether it gives it back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from tests.requirements_of_tests import need
from tests.rigs.programs import Program
from tests.rigs.waiting import wait_for

GROWTH_BYTES = 8 << 20
DESCRIPTORS = 3  # a look-up of a name, or a log that is being turned over
GIVEN_BACK_WITHIN_S = 60.0


@dataclass(frozen=True)
class Usage:
    """memory_bytes: what of it is resident."""

    memory_bytes: int
    descriptors: int

    @classmethod
    def of(cls, program: Program) -> "Usage":
        process = psutil.Process(program.pid)
        return cls(process.memory_info().rss, process.num_fds())


@contextmanager
def gives_back(*programs: Program) -> Iterator[None]:
    """What happens meanwhile costs these programs neither memory nor descriptors for good."""
    need("/proc", sys.platform == "linux", "these tests run on Linux")
    before = [(program, Usage.of(program)) for program in programs]
    yield
    for program, usage in before:
        _wait_given_back(program, usage)


def _wait_given_back(program: Program, before: Usage) -> None:
    def look() -> bool:
        return Usage.of(program).descriptors <= before.descriptors + DESCRIPTORS

    wait_for(f"{program.name} to close its descriptors", look, GIVEN_BACK_WITHIN_S)
    try:
        wait_for("its memory", lambda: _grown(program, before) < GROWTH_BYTES, GIVEN_BACK_WITHIN_S)
    except TimeoutError:
        grown = _grown(program, before)
        raise AssertionError(f"{program.name} grew by {grown} bytes") from None


def _grown(program: Program, before: Usage) -> int:
    return Usage.of(program).memory_bytes - before.memory_bytes
