"""Connections that are told by ports, while agent and service freeze, die and are replaced."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.faults.attempts import Outcome, attempt, background
from tests.faults.homes import Home
from tests.rigs.behaviour.pattern import blocks, digest
from tests.rigs.behaviour.rig import EchoedRequest, fresh_key
from tests.rigs.service import Service, service_on_localhost
from tests.rigs.waiting import TIMEOUT_S, free_ports, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.fault]

PORTS = 4
UPLOAD = 1 << 20


@pytest.fixture(scope="module")
def relay(folder: Path) -> Iterator[Service]:
    """A service whose sockets outlive it, those of its connections' ports too."""
    ports = free_ports(PORTS)
    with ExitStack() as ends:
        of_ports = [
            ends.enter_context(socket.create_server(("127.0.0.1", port), backlog=1024))
            for port in ports
        ]
        listener = ends.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))
        yield ends.enter_context(
            service_on_localhost(
                folder, listener=listener, more_listeners=of_ports, tunnel_ports=ports
            )
        )


def succeed(relay: Service) -> None:
    """Let the next process begin before the old one ends."""
    old = relay.start_successor()
    old.stop()


def restart(relay: Service) -> None:
    """Let the old process end before the next one begins."""
    relay.program.stop()
    relay.program.start()


def test_what_is_sent_to_a_port_when_its_agent_is_frozen_never_happens(
    victim: Home, bystander: Home
) -> None:
    began, posted = fresh_key(), fresh_key()
    with background() as running, victim.reconnecting():
        waiting = running.attempt(victim.way, f"/silent?key={began}")
        victim.printer.wait_for(began, "began")
        with victim.frozen():
            target = f"/sink?key={posted}"
            stale = running.attempt(victim.way, target, method="POST", body=b"print it")
            assert (waiting.result().status, stale.result().status) == (602, 602)
            assert EchoedRequest.by(attempt(bystander.way, "/echo").answer).target == "/echo"

    assert EchoedRequest.by(attempt(victim.way, "/echo").answer).target == "/echo"
    victim.printer.wait_for(began, "cancelled")
    assert victim.printer.entries(posted) == []


@contextmanager
def uploads_to(home: Home) -> Iterator[list[Outcome]]:
    """One after the other meanwhile, each with a key of its own; at least one before it goes on."""
    ended: list[Outcome] = []
    is_over = threading.Event()

    def upload() -> None:
        while not is_over.is_set():
            body = blocks(UPLOAD)
            ended.append(attempt(home.way, f"/sink?key={fresh_key()}", method="POST", body=body))

    with ThreadPoolExecutor(1) as pool:
        going_on = pool.submit(upload)
        try:
            wait_for("the first upload", lambda: ended or going_on.done(), TIMEOUT_S)
            yield ended
        finally:
            is_over.set()
        going_on.result()


@pytest.mark.parametrize("replace", [succeed, restart])
def test_no_upload_to_a_port_fails_while_the_service_is_replaced(
    relay: Service, victim: Home, bystander: Home, replace: Callable[[Service], None]
) -> None:
    homes = (victim, bystander)
    assert len({relay.port, *(home.way.port for home in homes)}) == 3
    with uploads_to(victim) as to_victim, uploads_to(bystander) as to_bystander:
        with victim.reconnecting(), bystander.reconnecting():
            replace(relay)
        counts = len(to_victim), len(to_bystander)
        wait_for("an upload behind it", lambda: len(to_victim) > counts[0] + 1, TIMEOUT_S)
        wait_for("another one", lambda: len(to_bystander) > counts[1] + 1, TIMEOUT_S)

    for home, ended in zip(homes, (to_victim, to_bystander), strict=True):
        other = bystander if home is victim else victim
        for one in ended:
            key = one.target.partition("=")[2]
            assert one.answer.json() == {"sha256": digest(UPLOAD), "size": UPLOAD}
            assert "complete" in [entry.what for entry in home.printer.entries(key)]
            assert other.printer.entries(key) == []


def test_ports_lead_to_their_printers_again_when_the_service_was_killed(
    relay: Service, victim: Home, bystander: Home
) -> None:
    with victim.reconnecting(), bystander.reconnecting():
        relay.program.kill()
        relay.program.start()

    for home, other in ((victim, bystander), (bystander, victim)):
        key = fresh_key()
        assert attempt(home.way, f"/sink?key={key}", method="POST").status == 200
        assert home.printer.entries(key) != []
        assert other.printer.entries(key) == []
