"""The service runs out of file descriptors: it says so, keeps what it has, and recovers."""

import resource
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.faults.attempts import attempt
from tests.faults.homes import Home
from tests.requirements_of_tests import need
from tests.rigs.behaviour.rig import Seen, fresh_key
from tests.rigs.behaviour.streams import event
from tests.rigs.calls import opened, raw_request, request_head
from tests.rigs.service import Service
from tests.rigs.waiting import wait_for

pytestmark = pytest.mark.slow

MORE = 100
CALLERS = 400


def open_descriptors(relay: Service) -> int:
    """How many the service has open."""
    return len(list(Path(f"/proc/{relay.program.pid}/fd").iterdir()))


@contextmanager
def at_most(relay: Service, count: int) -> Iterator[None]:
    """Let the running service have no more descriptors than that."""
    need("prlimit(2)", sys.platform == "linux", "these tests run on Linux")
    pid, number = relay.program.pid, resource.RLIMIT_NOFILE
    before = resource.prlimit(pid, number)
    resource.prlimit(pid, number, (count, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, number, before)


@contextmanager
def many_callers(relay: Service) -> Iterator[None]:
    """More callers than there is room for; they connect and ask for nothing."""
    with ExitStack() as callers:
        for _ in range(CALLERS):
            callers.enter_context(socket.create_connection(("127.0.0.1", relay.port)))
        yield


def test_new_callers_are_refused_with_a_clear_line_and_what_runs_goes_on(
    relay: Service, victim: Home
) -> None:
    key = fresh_key()
    marks = relay.program.log_marks()
    with (
        raw_request(victim.way, "GET", "/any") as kept,
        opened(victim.way, f"/stepped/sse?key={key}") as stream,
        at_most(relay, open_descriptors(relay) + MORE),
    ):
        assert kept.recv(1 << 16).startswith(b"HTTP/1.1 200")
        assert stream.read(len(event(0))) == event(0)
        with many_callers(relay):
            wait_for(
                "the log to say so",
                lambda: "file descriptors run out" in relay.program.log_since(marks),
                5,
            )
            refused = attempt(victim.way, "/any")
            victim.printer.allow_step(key)
            kept.sendall(request_head(victim.way, "GET", "/another"))

            assert refused.status is None
            assert stream.read(len(event(1))) == event(1)
            assert kept.recv(1 << 16).startswith(b"HTTP/1.1 200")

        def is_answered() -> bool:
            return attempt(victim.way, "/any").status == 200

        wait_for("new callers to be served again", is_answered, 20)
    assert Seen.by(attempt(victim.way, "/last").answer).target == "/last"
    assert relay.program.log_since(marks).count("file descriptors run out") == 1


def test_descriptors_of_callers_that_left_are_free_again(relay: Service, victim: Home) -> None:
    with many_callers(relay):
        wait_for("all to be accepted", lambda: open_descriptors(relay) >= CALLERS, 20)

    wait_for("all to be gone", lambda: open_descriptors(relay) < CALLERS / 2, 20)
