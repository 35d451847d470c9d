"""File descriptors run out: service and agent say so, keep what they have, and recover."""

import resource
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from printreach.relay.front import WARN_INTERVAL_S
from tests.faults.attempts import attempt, background
from tests.faults.homes import Home
from tests.requirements_of_tests import need
from tests.rigs.behaviour.rig import EchoedRequest, fresh_key
from tests.rigs.behaviour.streams import event
from tests.rigs.calls import opened, raw_request, read_answer, request_head
from tests.rigs.programs import Program
from tests.rigs.service import Service
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = pytest.mark.slow

MORE = 100
CALLERS = 400
AT_ONCE = 40
FEW = 10


def open_descriptors(program: Program) -> int:
    """How many it has open."""
    return len(list(Path(f"/proc/{program.pid}/fd").iterdir()))


@contextmanager
def at_most(program: Program, count: int) -> Iterator[None]:
    """Let it, while it runs, have no more descriptors than that."""
    need("prlimit(2)", sys.platform == "linux", "these tests run on Linux")
    pid, number = program.pid, resource.RLIMIT_NOFILE
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
    began_at, marks = time.monotonic(), relay.program.log_marks()
    with (
        raw_request(victim.way, "GET", "/any") as kept,
        opened(victim.way, f"/stepped/sse?key={key}") as stream,
        at_most(relay.program, open_descriptors(relay.program) + MORE),
    ):
        assert read_answer(kept).status == 200
        assert stream.read(len(event(0))) == event(0)
        with many_callers(relay):
            wait_for(
                "the log to say so",
                lambda: "file descriptors run out" in relay.program.log_since(marks),
                TIMEOUT_S,
            )
            refused = attempt(victim.way, "/any")
            victim.printer.allow_step(key)
            kept.sendall(request_head(victim.way, "GET", "/another"))

            assert refused.status is None
            assert stream.read(len(event(1))) == event(1)
            assert read_answer(kept).status == 200

        def is_answered() -> bool:
            return attempt(victim.way, "/any").status == 200

        wait_for("new callers to be served again", is_answered, TIMEOUT_S)
    assert EchoedRequest.by(attempt(victim.way, "/last").answer).target == "/last"
    told = relay.program.log_since(marks).count("file descriptors run out")
    assert told <= 1 + (time.monotonic() - began_at) / WARN_INTERVAL_S


def test_descriptors_of_callers_that_left_are_free_again(relay: Service, victim: Home) -> None:
    with many_callers(relay):
        wait_for(
            "all to be accepted", lambda: open_descriptors(relay.program) >= CALLERS, TIMEOUT_S
        )

    wait_for("all to be gone", lambda: open_descriptors(relay.program) < CALLERS / 2, TIMEOUT_S)


def test_an_agent_without_descriptors_refuses_what_is_new_says_so_and_recovers(
    victim: Home,
) -> None:
    agent, printer, watched = victim.agent.program, victim.printer, fresh_key()
    keys = [fresh_key() for _ in range(AT_ONCE)]
    marks, before = agent.log_marks(), victim.connections_so_far
    with (
        background(AT_ONCE) as running,
        opened(victim.way, f"/stepped/sse?key={watched}") as stream,
        at_most(agent, open_descriptors(agent) + FEW),
    ):
        assert stream.read(len(event(0))) == event(0)
        asked = {key: running.attempt(victim.way, f"/silent?key={key}") for key in keys}

        def begun() -> list[str]:
            return [key for key, one in asked.items() if not one.done() and printer.entries(key)]

        def all_have_met_their_fate() -> bool:
            return len(begun()) + sum(one.done() for one in asked.values()) == AT_ONCE

        wait_for("each request to be served or refused", all_have_met_their_fate, TIMEOUT_S)
        served = begun()
        refused = set(asked) - set(served)
        assert {asked[key].result().answer.status for key in refused} == {612}
        assert [printer.entries(key) for key in refused] == [[]] * len(refused)
        assert "file descriptors run out" in agent.log_since(marks)

        for key in (watched, *served):
            printer.allow_step(key)
        assert stream.read(len(event(1))) == event(1)
        assert {asked[key].result().answer.body for key in served} == {b"at last"}

        # Some have ended, so there is room again.
        assert EchoedRequest.by(attempt(victim.way, "/another").answer).target == "/another"
    assert victim.connections_so_far == before
