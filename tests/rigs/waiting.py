"""Waiting for what another process does: poll, with a deadline, and say what was waited for."""

import itertools
import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

TIMEOUT_S = 60.0
"""For what takes no time on a quiet machine; a busy one stands still now and then."""
PAUSE_SECONDS = 0.02  # short beside any start-up, long enough to leave the CPU to the program


def wait_for(what: str, look: Callable[[], T | None], seconds: float) -> T:
    """Call look until it returns something other than None or False, and return that.

    what: completes "gave up waiting for ...".
    """
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"gave up waiting for {what} after {seconds} s")
        time.sleep(PAUSE_SECONDS)


def free_port() -> int:
    """A loopback port that nobody listens on, and that no outgoing connection will take."""
    return free_ports(1)[0]


def free_ports(count: int) -> range:
    """So many such ports in a row. No two calls give the same, in no worker of a run."""
    while True:
        first = _skip(count)
        if all(map(_is_free, range(first, first + count))):
            return range(first, first + count)


def _skip(count: int) -> int:
    """The first of so many candidates in a row."""
    while True:
        taken = [next(_candidates) for _ in range(count)]
        if taken[-1] - taken[0] == count - 1:
            return taken[0]


def _ports_of_this_worker() -> Iterator[int]:
    """Round and round, from where chance begins: another run may be under way beside this one."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = len(BELOW_EPHEMERAL) // workers
    first = worker % workers * share  # a worker that replaces a crashed one has a higher number
    mine = BELOW_EPHEMERAL[first : first + share]
    start = random.randrange(len(mine))
    return itertools.cycle([*mine[start:], *mine[:start]])


BELOW_EPHEMERAL = range(12_000, 32_768)
"""Linux gives the ports from 32,768 on to outgoing connections: one of those that was free a moment
ago may be taken before a server that was told to listen on it has started."""
_candidates = _ports_of_this_worker()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def accepts_connections(port: int) -> bool:
    """True when something listens on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
