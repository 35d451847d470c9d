"""Networks as they are: packets get lost, a line goes dead without a word, addresses change."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.attempts import attempt, background
from tests.faults.homes import Home
from tests.rigs.behaviour.pattern import digest, pattern
from tests.rigs.behaviour.rig import EchoedRequest, behaviour_printer, fresh_key
from tests.rigs.network.rig import HOME, OTHER_HOME, SERVICE, Line, a_line
from tests.rigs.service import Service, service
from tests.rigs.sockets import websocket
from tests.rigs.standstills import standstills
from tests.rigs.waiting import TIMEOUT_S, free_port, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.fault, pytest.mark.timeout(300)]

HOLE_S = 30.0
"""At least: whoever waits in it may wait longer. An agent's first try to dial anew ends in it."""
SHORT_HOLE_S = 12.0
"""Both ends give the line up in it."""
SIZE = 300_000
NOTICED_WITHIN_S = 15.0
"""Ten by the rule, as tests/tunnel/test_silence.py holds it to; and what a busy machine adds."""
FOUND_WITHIN_S = 90.0


@pytest.fixture(scope="module")
def line(folder: Path) -> Iterator[Line]:
    """The service's network and the home's, and a good line between them."""
    with a_line(folder) as running:
        yield running


@pytest.fixture(autouse=True)
def _on_the_services_side(line: Line) -> Iterator[None]:
    """Callers stand beside the service."""
    with line.service.inside():
        yield


@pytest.fixture(scope="module")
def relay(line: Line, folder: Path) -> Iterator[Service]:
    """The service, on its side of the line."""
    with line.service.inside():
        port = free_port()
        env = {
            "PRINTREACH_LISTEN": f"0.0.0.0:{port}",
            "PRINTREACH_BASE_URL": f"http://{SERVICE}:{port}",
            "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        }
        with service(folder, port=port, env=env) as running:
            yield running


@dataclass(frozen=True)
class FarHome(Home):
    """A home at the far end: its printer hears tests only from there."""

    line: Line

    def has_heard(self, key: str) -> bool:
        """Whether a request with this key has reached the printer."""
        with self.line.home.inside():
            return self.printer.entries(key) != []

    def wait_heard(self, key: str) -> None:
        """Wait until it has."""
        wait_for("the printer to hear of it", lambda: self.has_heard(key), TIMEOUT_S)


@pytest.fixture(scope="module")
def far(relay: Service, line: Line, folder: Path) -> Iterator[FarHome]:
    """A printer and its agent at the other end of the line."""
    with (
        line.home.inside(),
        behaviour_printer(folder) as printer,
        relay.printer("far", printer.url) as linked,
    ):
        yield FarHome(printer, linked, relay.way(relay.connect(linked)), line)


def sleep_until(at: float) -> None:
    """By the machine's monotonic clock; not at all where that is past."""
    time.sleep(max(0.0, at - time.monotonic()))


def test_two_percent_loss_and_200_ms_cost_time_and_nothing_else(line: Line, far: FarHome) -> None:
    before = far.connections_so_far
    with line.bad(loss=0.02, delay_s=0.1), background() as running:
        up = running.attempt(far.way, "/sink?key=up", method="POST", body=pattern(SIZE))
        down = running.attempt(far.way, f"/file?size={SIZE}")
        pages = [running.attempt(far.way, f"/page?number={number}") for number in range(10)]
        with websocket(far.way, "/ws-echo") as socket:
            for number in range(10):
                socket.send(f"message {number}")
                assert socket.recv(timeout=TIMEOUT_S) == f"message {number}"

        assert up.result().answer.json() == {"sha256": digest(SIZE), "size": SIZE}
        assert down.result().answer.body == pattern(SIZE)
        for page in pages:
            assert EchoedRequest.by(page.result().answer).target == page.result().target
    assert far.connections_so_far == before


def test_what_was_sent_into_a_black_hole_is_not_done_behind_it(line: Line, far: FarHome) -> None:
    began, lost = fresh_key(), fresh_key()
    with background() as running, far.reconnecting(), standstills() as still:
        waiting = running.attempt(far.way, f"/silent?key={began}")
        far.wait_heard(began)
        with line.cut():
            cut_at = time.monotonic()
            stale = running.attempt(far.way, f"/sink?key={lost}", method="POST", body=b"print it")
            assert (waiting.result().status, stale.result().status) == (602, 602)
            assert still.running_s(cut_at) < NOTICED_WITHIN_S
            sleep_until(cut_at + HOLE_S)

    assert EchoedRequest.by(attempt(far.way, "/back").answer).target == "/back"
    assert not far.has_heard(lost)


def test_a_request_that_meets_an_idle_line_gone_dead_is_not_done_later(
    line: Line, far: FarHome
) -> None:
    lost = fresh_key()
    with far.reconnecting(), line.cut():
        cut_at = time.monotonic()
        stale = attempt(far.way, f"/sink?key={lost}", method="POST", body=b"print it")
        assert stale.status == 602
        sleep_until(cut_at + SHORT_HOLE_S)

    assert EchoedRequest.by(attempt(far.way, "/back").answer).target == "/back"
    assert not far.has_heard(lost)


@contextmanager
def a_request_that_loses_its_line(far: FarHome) -> Iterator[None]:
    """A request is under way, and what happens meanwhile costs it its line."""
    key = fresh_key()
    with background() as running, far.reconnecting(), standstills() as still:
        waiting = running.attempt(far.way, f"/silent?key={key}")
        far.wait_heard(key)
        lost_at = time.monotonic()
        yield
        assert waiting.result().status in (601, 602)
        assert still.running_s(lost_at) < NOTICED_WITHIN_S


def test_a_home_whose_address_changes_is_back_soon(line: Line, far: FarHome) -> None:
    with a_request_that_loses_its_line(far):
        line.move_home(to=OTHER_HOME)
    assert EchoedRequest.by(attempt(far.way, "/moved").answer).target == "/moved"

    with a_request_that_loses_its_line(far):
        line.move_home(to=HOME)
    assert EchoedRequest.by(attempt(far.way, "/back").answer).target == "/back"


def test_both_ends_of_an_idle_line_gone_dead_find_out(
    relay: Service, line: Line, far: FarHome
) -> None:
    marks = relay.program.log_marks()
    left = len(far.agent.events("disconnected"))
    with far.reconnecting(), line.cut():
        wait_for(
            "the agent to find out",
            lambda: len(far.agent.events("disconnected")) > left,
            FOUND_WITHIN_S,
        )
        wait_for(
            "the service to find out",
            lambda: "no sign of life" in relay.program.log_since(marks),
            FOUND_WITHIN_S,
        )
