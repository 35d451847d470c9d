"""The soak test's measurements of the service, and their limits."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import linear_regression
from typing import Final

MEMORY_GROWS_BY: Final = 0.05
"""At most, as a share of what is held after warming up, over all that follows."""
HELD_S: Final = 30.0
COUNT_GROWS_BY: Final = 10
"""File descriptors, tasks and threads that may be more after the load than before it: connections
that are kept for a while, and agents that reconnect just then."""
WAL_BYTES: Final = 32_000_000
"""SQLite writes 4 MB of its log back at a time; while a long read goes on the log gets longer."""
UNUSED_BYTES: Final = 8_000_000
"""Of the database file beyond what is stored in it. Pages of deleted rows are used again."""

EXPLAINED: Final[Mapping[str, str]] = {}
"""Patterns of warnings and errors of the service's log that ordinary load brings, and why."""

_BAD_LINE: Final = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b|Traceback \(most recent call last\)")
_VARIABLE: Final = re.compile(r"\d+|\b[a-z0-9]{20,}\b")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """at: seconds since the load began. database, stored: bytes of the file and of its rows."""

    at: float
    memory: int
    descriptors: int
    tasks: int
    threads: int
    agents: int
    cpu_s: float
    database: int
    wal: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """A straight line through samples: its value at the time of the first and of the last one."""

    begins: float
    ends: float

    @property
    def growth(self) -> float:
        return self.ends - self.begins


def fitted(samples: Sequence[Sample], figure: Callable[[Sample], float]) -> Line:
    """Fit by least squares, so that noise does not matter. samples: two or more."""
    times = [sample.at for sample in samples]
    slope, offset = linear_regression(times, [figure(sample) for sample in samples])
    return Line(begins=offset + slope * times[0], ends=offset + slope * times[-1])


def held(samples: Sequence[Sample]) -> list[Sample]:
    """Return the sample with the least memory of each HELD_S, since short-lived memory is no
    leak.

    To hash a password, for one, takes 64 MB.
    """
    by_time = groupby(samples, key=lambda one: (one.at - samples[0].at) // HELD_S)
    return [min(some, key=lambda one: one.memory) for _, some in by_time]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """samples: after warming up. before, after: with agents alone. stored: bytes of all rows.

    faults: sentences by the kind of visit. log: what the service wrote. may_fail: so many visits,
    where others use the machine.
    """

    samples: Sequence[Sample]
    before: Sample
    after: Sample
    stored: int
    faults: Mapping[str, Sequence[str]]
    log: str
    may_fail: int = 0

    def problems(self) -> list[str]:
        """Return the failed expectations, a sentence each."""
        return [*self._of_memory(), *self._of_counts(), *self._of_files(), *self._of_work()]

    def _of_memory(self) -> list[str]:
        line = fitted(held(self.samples), lambda one: one.memory)
        if line.growth <= MEMORY_GROWS_BY * line.begins:
            return []
        share = 100 * line.growth / line.begins
        return [f"Memory grew by {share:.1f} %, from {line.begins / 1e6:.1f} MB."]

    def _of_counts(self) -> list[str]:
        counts: Mapping[str, Callable[[Sample], int]] = {
            "file descriptors": lambda one: one.descriptors,
            "asyncio tasks": lambda one: one.tasks,
            "threads": lambda one: one.threads,
        }
        return [
            f"There were {count(self.before)} {name} before the load, {count(self.after)} after it."
            for name, count in counts.items()
            if count(self.after) > count(self.before) + COUNT_GROWS_BY
        ]

    def _of_files(self) -> list[str]:
        found = []
        longest = max(one.wal for one in self.samples)
        if longest > WAL_BYTES:
            found.append(f"The database's write-ahead log grew to {longest / 1e6:.1f} MB.")
        unused = self.after.database - self.stored
        if unused > UNUSED_BYTES:
            found.append(f"{unused / 1e6:.1f} MB of the database file are unused.")
        return found

    def _of_work(self) -> list[str]:
        failed = [
            f"{name}: {len(faults)} failed, such as: {faults[0]}"
            for name, faults in self.faults.items()
            if faults and sum(map(len, self.faults.values())) > self.may_fail
        ]
        logged = [f"Logged {count} times: {line}" for line, count in unexplained(self.log).items()]
        return failed + logged


def unexplained(log: str) -> Mapping[str, int]:
    """Count warnings, errors and tracebacks; those that differ only in numbers count as one."""
    lines = [line for line in log.splitlines() if _BAD_LINE.search(line)]
    bad = [line for line in lines if not any(re.search(known, line) for known in EXPLAINED)]
    return Counter(_VARIABLE.sub("…", line) for line in bad)
