"""Waiting for what another process does: poll, with a deadline, and say what was waited for."""

import socket
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

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
    """A loopback port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def free_ports(count: int) -> range:
    """So many loopback ports in a row that nobody listens on right now."""
    while True:
        first = free_port()
        if first + count <= 65536 and all(map(_is_free, range(first, first + count))):
            return range(first, first + count)


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
