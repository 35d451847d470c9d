"""Two relays, a web node and a worker, each a process: all of them reach every printer."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest

from tests.rigs.behaviour.pattern import digest, pattern
from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer, fresh_key
from tests.rigs.behaviour.streams import jpeg_part
from tests.rigs.calls import call, opened
from tests.rigs.nodes import Nodes, nodes
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.service import OWNER, PASSWORD, Connection, LinkedPrinter
from tests.rigs.simulated import SimulatedPrinter, simulated_printer
from tests.rigs.sockets import websocket
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Header, Way

pytestmark = pytest.mark.slow

AGAIN_WITHIN_S = 10.0
"""What is promised of a relay that dies: its printers answer again, by another one."""


@pytest.fixture(scope="module", params=["SQLite", "PostgreSQL"])
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Nodes]:
    with ExitStack() as ends:
        env: dict[str, str] = {}
        if request.param == "PostgreSQL":
            server = ends.enter_context(PostgresqlServer())
            env["PRINTREACH_DATABASE_URL"] = ends.enter_context(server.database())
        yield ends.enter_context(nodes(tmp_path_factory.mktemp("nodes"), env))


@pytest.fixture(scope="module")
def behaviour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BehaviourPrinter]:
    with behaviour_printer(tmp_path_factory.mktemp("behaviour")) as printer:
        yield printer


@pytest.fixture(scope="module")
def linked(running: Nodes, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("behaviour", behaviour.url) as printer:
        yield printer


@pytest.fixture(scope="module")
def simulated(
    running: Nodes, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimulatedPrinter]:
    """One for each service, since it prints."""
    with simulated_printer(tmp_path_factory.mktemp("printer"), "nodes") as printer:
        printer.put("part.gcode", "G28\n" + "G1 X10 F6000\nG1 X16\n" * 400)
        yield printer


@pytest.fixture(scope="module")
def linked_simulated(running: Nodes, simulated: SimulatedPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("simulated", simulated.url, platform="simulated") as printer:
        printer.agent.wait_until_looked()
        yield printer


def has_answered(way: Way) -> bool:
    return call(way, f"/sink?key={fresh_key()}", method="POST").status == 200


@pytest.fixture(scope="module")
def connection(running: Nodes, linked: LinkedPrinter) -> Connection:
    return running.connect(linked)


@pytest.fixture(scope="module")
def way(running: Nodes, connection: Connection) -> Way:
    """The way of an app by the relay that doesn't hold the printer's tunnel."""
    return running.way(connection)


def test_an_upload_through_the_wrong_relay_is_whole(way: Way) -> None:
    body = pattern(5_000_000)

    answer = call(way, f"/sink?key={fresh_key()}", method="POST", body=body)

    assert answer.json() == {"sha256": digest(5_000_000), "size": 5_000_000}


def test_a_download_through_the_wrong_relay_is_whole(way: Way) -> None:
    assert call(way, "/file?size=5000000").body == pattern(5_000_000)


def test_a_websocket_through_the_wrong_relay_echoes(way: Way) -> None:
    message = pattern(1 << 20)
    with websocket(way, "/ws-echo") as connected:
        connected.send(message)

        assert connected.recv(timeout=TIMEOUT_S) == message


def test_a_webcam_through_the_wrong_relay_shows_each_picture_as_it_is_made(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with opened(way, f"/stepped/mjpeg?key={key}") as answer:
        for number in range(5):
            expected = jpeg_part(number)
            assert answer.read(len(expected)) == expected
            behaviour.allow_step(key)


def test_a_caller_that_leaves_the_wrong_relay_ends_the_request_at_the_printer(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with opened(way, f"/stepped/sse?key={key}"):
        behaviour.wait_for(key, "began")
    behaviour.wait_for(key, "cancelled")


def test_a_revoked_connection_ends_within_a_second_at_every_relay(
    running: Nodes, linked: LinkedPrinter, behaviour: BehaviourPrinter
) -> None:
    connection, keys = running.connect(linked), [fresh_key(), fresh_key()]
    ways = [relay.way(connection) for relay in running.relays]
    with (
        opened(ways[0], f"/stepped/sse?key={keys[0]}"),
        opened(ways[1], f"/stepped/sse?key={keys[1]}"),
    ):
        for key in keys:
            behaviour.wait_for(key, "began")
        running.revoke(connection)
        revoked_at = time.monotonic()
        for key in keys:
            behaviour.wait_for(key, "cancelled")

    assert time.monotonic() - revoked_at < 5.0  # one second on a quiet machine
    assert [call(one, "/").status for one in ways] == [604, 604]


def test_the_command_api_answers_through_each_relay(
    running: Nodes, linked_simulated: LinkedPrinter
) -> None:
    connection = running.connect(linked_simulated)
    for relay in running.relays:
        answer = call(relay.way(connection), "/service-command-api/status")
        assert json.loads(answer.body)["Status"] == 200


def test_a_web_node_shows_the_files_that_the_printer_has(
    running: Nodes, linked_simulated: LinkedPrinter
) -> None:
    way = running.way_to(running.base_url.partition("//")[2])
    cookie = sign_in(running, way)

    def shows_its_files() -> bool:
        page = f"/printers/{linked_simulated.id}/files"
        return b"part.gcode" in call(way, page, headers=[cookie]).body

    wait_for("the printer's files on its page", shows_its_files, TIMEOUT_S)


def test_a_worker_hands_out_what_a_relay_stored(
    running: Nodes, linked_simulated: LinkedPrinter, simulated: SimulatedPrinter
) -> None:
    way = running.way_to(running.base_url.partition("//")[2])
    cookie = sign_in(running, way)
    simulated.start("part.gcode")

    def is_in_the_history() -> bool:
        page = f"/printers/{linked_simulated.id}/history"
        return b"part.gcode" in call(way, page, headers=[cookie]).body

    wait_for("the print in the printer's history", is_in_the_history, TIMEOUT_S)


def test_while_the_nats_server_is_gone_printers_answer_and_what_is_revoked_ends(
    running: Nodes, linked: LinkedPrinter
) -> None:
    connection = running.connect(linked)
    ways = [relay.way(connection) for relay in running.relays]
    assert all(map(has_answered, ways))
    running.bus.stop()
    try:
        assert all(map(has_answered, ways))
        running.revoke(connection)
        wait_for(
            "the end of what is cached",
            lambda: [call(way, "/").status for way in ways] == [604, 604],
            TIMEOUT_S,
        )
    finally:
        running.bus.start()


def test_the_printers_of_a_relay_that_hangs_answer_by_the_other(
    running: Nodes, linked: LinkedPrinter
) -> None:
    connection = running.connect(linked)
    left = running.relay_without(connection)
    held = next(relay for relay in running.relays if relay is not left)
    held.program.pause()
    paused_at = time.monotonic()
    try:
        wait_for(
            "an answer by the other relay",
            lambda: has_answered(left.way(connection)),
            AGAIN_WITHIN_S + TIMEOUT_S,
        )
        assert time.monotonic() - paused_at < AGAIN_WITHIN_S
    finally:
        held.program.resume()
    # It goes on with the tunnel that the agent has left, until it notices.
    wait_for("an answer by it", lambda: has_answered(held.way(connection)), AGAIN_WITHIN_S)
    assert running.relay_without(connection) is held


def test_a_relay_that_is_killed_is_followed_by_the_other(
    running: Nodes, linked: LinkedPrinter, connection: Connection
) -> None:
    left = running.relay_without(connection)
    held = next(relay for relay in running.relays if relay is not left)
    held.program.kill()
    killed_at = time.monotonic()
    try:
        wait_for(
            "an answer by the other relay",
            lambda: has_answered(left.way(connection)),
            AGAIN_WITHIN_S + TIMEOUT_S,
        )
        assert time.monotonic() - killed_at < AGAIN_WITHIN_S
    finally:
        held.program.start()
        held.wait_ready()
    assert has_answered(held.way(connection))


def sign_in(running: Nodes, way: Way) -> Header:
    """The cookie of a session."""
    form = urlencode({"email": OWNER, "password": PASSWORD}).encode()
    headers = [
        ("Origin", running.base_url),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]
    answer = call(way, "/signin", method="POST", headers=headers, body=form)
    assert answer.status == 303, answer
    return "Cookie", (answer.first("Set-Cookie") or "").partition(";")[0]
