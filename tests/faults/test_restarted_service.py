"""A restart while everybody works: what runs is finished, what is new waits a moment."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.attempts import background
from tests.faults.homes import Home
from tests.faults.load import load_on
from tests.rigs.behaviour.pattern import BLOCK, blocks, digest
from tests.rigs.behaviour.rig import fresh_key
from tests.rigs.fleet.rig import Fleet, busiest_instant, fleet
from tests.rigs.service import Service, service_on_localhost
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.fault]

AGENTS = 200
WITH_CONNECTIONS = 20
TRIES = 3
"""Whoever was due while the machine stood still for a moment dials at its end."""
UPLOAD = 16 << 20


@pytest.fixture(scope="module")
def relay(folder: Path) -> Iterator[Service]:
    """A service whose listening socket outlives it, as systemd keeps it."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1024) as listener,
        service_on_localhost(folder, listener=listener) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def agents(relay: Service) -> Iterator[Fleet]:
    """Two hundred agents, all connected."""
    with fleet(relay, AGENTS, connections=WITH_CONNECTIONS) as running:
        yield running


def succeed(relay: Service) -> None:
    """Let the next process begin before the old one ends."""
    old = relay.start_successor()
    old.stop()


def restart(relay: Service) -> None:
    """Let the old process end before the next one begins, as `systemctl restart` does."""
    relay.program.stop()
    relay.program.start()
    relay.wait_ready()


@pytest.mark.parametrize("replace", [succeed, restart])
def test_no_request_fails_and_every_agent_moves(
    relay: Service, agents: Fleet, replace: Callable[[Service], None]
) -> None:
    with load_on(agents) as load:
        time.sleep(2)
        began = time.monotonic()
        replace(relay)
        agents.wait_all_arrived(since=began)
        wait_for("enough requests", lambda: len(load.accepted) > 50, TIMEOUT_S)

    assert load.failures == []
    assert load.lies == []
    assert agents.strays() == []


def test_agents_do_not_move_all_at_once(relay: Service, agents: Fleet) -> None:
    assert any(_move_spread_out(relay, agents) for _ in range(TRIES))


def _move_spread_out(relay: Service, agents: Fleet) -> bool:
    began = time.monotonic()
    succeed(relay)
    agents.wait_all_arrived(since=began)
    return busiest_instant(agents.dials(since=began)) < AGENTS / 2


def test_what_runs_is_finished_by_the_old_process(relay: Service, another_home: Home) -> None:
    home, upload, answer = another_home, fresh_key(), fresh_key()
    may_go_on = threading.Event()

    def slow_body() -> Iterator[bytes]:
        for number, block in enumerate(blocks(UPLOAD)):
            if number * BLOCK == UPLOAD // 2:
                may_go_on.wait(TIMEOUT_S)
            yield block

    with background() as running:
        target = f"/sink?key={upload}"
        uploading = running.attempt(home.way, target, method="POST", body=slow_body())
        waiting = running.attempt(home.way, f"/silent?key={answer}")
        home.printer.wait_for(upload, "received")
        home.printer.wait_for(answer, "began")
        old = relay.start_successor()
        with home.reconnecting():
            old.ask_to_end()
        may_go_on.set()
        home.printer.allow_step(answer)

        assert uploading.result().answer.json() == {"sha256": digest(UPLOAD), "size": UPLOAD}
        assert waiting.result().answer.body == b"at last"
    wait_for("the old process to end by itself", lambda: not old.is_running, TIMEOUT_S)
    old.stop()
