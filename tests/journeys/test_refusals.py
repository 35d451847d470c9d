"""Refusals by the service itself have its own numbers, never the printer's."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, fresh_key
from tests.rigs.calls import Answer, call, opened, raw_request, read_answer, request_head
from tests.rigs.service import Connection, LinkedPrinter, Service
from tests.rigs.sockets import websocket
from tests.rigs.waiting import TIMEOUT_S, free_port, wait_for
from tests.rigs.ways import Header, Way, basic, bearer

pytestmark = pytest.mark.slow

HANDSHAKE: tuple[Header, ...] = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)

AT_ONCE_S = 20.0
"""Sooner than it would be found out without a word: a grant is trusted for half a minute, and an
idle agent is missed after forty seconds."""


@pytest.fixture(scope="module")
def connection(relay: Service, behaviour_linked: LinkedPrinter) -> Connection:
    return relay.connect(behaviour_linked)


@pytest.fixture(scope="module")
def way(relay: Service, connection: Connection) -> Way:
    return relay.way(connection)


@pytest.fixture
def spare(relay: Service, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    """A printer of its own, for a test that breaks it."""
    with relay.printer(f"spare-{fresh_key()}", behaviour.url) as linked:
        yield linked


def refusal(answer: Answer) -> int:
    """The code of a refusal, once its three places agree."""
    body = json.loads(answer.body)
    assert set(body) == {"Status", "Error"}
    assert body["Status"] == answer.status
    assert answer.all("X-Service-Error") == [str(answer.status)]
    assert isinstance(body["Error"], str)
    assert body["Error"].endswith(".")
    return answer.status


def other_secret(connection: Connection) -> list[Header | None]:
    return [
        None,
        basic(connection.user, "wrong"),
        basic("wrong", connection.password),
        basic(connection.user, ""),
        basic("", connection.password),
        bearer("wrong"),
        bearer(connection.password),
        bearer(connection.token + "x"),
        bearer(""),
        ("Authorization", "Basic"),
        ("Authorization", "Basic !!!not-base64!!!"),
        ("Authorization", f"Digest username={connection.user}"),
        ("Authorization", connection.token),
        ("Authorization", ""),
        ("X-Api-Key", connection.token),
        ("Proxy-Authorization", connection.basic[1]),
        ("Cookie", f"printreach_own={connection.token}"),
    ]


def test_a_host_that_names_no_connection_is_603(way: Way) -> None:
    domain = way.host.partition(".")[2]
    for name in ("app-" + "0" * 32, "own-" + "0" * 32, "shared-" + "0" * 32, "nothing", "app-"):
        assert refusal(call(way.named(f"{name}.{domain}"), "/")) == 603


def test_missing_or_wrong_credentials_are_606(way: Way, connection: Connection) -> None:
    for header in other_secret(connection):
        proof = () if header is None else (header,)
        answer = call(way.proving(*proof), "/any")
        assert (refusal(answer), header) == (606, header)
        assert answer.first("WWW-Authenticate") is None


def test_credentials_of_one_connection_open_no_other(
    relay: Service, behaviour_linked: LinkedPrinter, way: Way
) -> None:
    other = relay.connect(behaviour_linked)

    assert refusal(call(way.proving(other.basic), "/any")) == 606
    assert refusal(call(way.proving(other.bearer), "/any")) == 606


def test_either_kind_of_credentials_is_enough(way: Way, connection: Connection) -> None:
    assert call(way.proving(connection.basic), "/any").status == 200
    assert call(way.proving(connection.bearer), "/any").status == 200
    scheme_in_other_case = ("authorization", "bEaReR " + connection.token)
    assert call(way.proving(scheme_in_other_case), "/any").status == 200


def test_the_host_is_compared_without_case_and_port(way: Way) -> None:
    name, _, port = way.host.rpartition(":")

    assert call(way.named(name.upper() + ":" + port), "/any").status == 200
    assert call(way.named(name), "/any").status == 200


def test_a_refused_request_never_reaches_the_printer(way: Way, behaviour: BehaviourPrinter) -> None:
    key = fresh_key()

    call(way.proving(bearer("wrong")), f"/sink?key={key}", method="POST", body=b"G28")

    assert behaviour.entries(key) == []


def test_a_refused_upload_is_heard_by_an_app_that_sends_it_all(way: Way) -> None:
    answer = call(way.proving(), "/sink?key=none", method="POST", body=b"x" * 3_000_000)

    assert refusal(answer) == 606


def test_a_revoked_connection_is_604(relay: Service, behaviour_linked: LinkedPrinter) -> None:
    ended = relay.connect(behaviour_linked)
    way = relay.way(ended)
    assert call(way, "/any").status == 200

    relay.revoke(ended)

    wait_for("the revocation to act", lambda: call(way, "/any").status == 604, AT_ONCE_S)
    assert refusal(call(way, "/any")) == 604
    assert refusal(call(way.proving(), "/any")) == 606


def test_revoking_ends_streams_and_sockets_that_are_open(
    relay: Service, behaviour: BehaviourPrinter, behaviour_linked: LinkedPrinter
) -> None:
    ended, stream, socket = relay.connect(behaviour_linked), fresh_key(), fresh_key()
    way = relay.way(ended)
    with (
        opened(way, f"/stepped/sse?key={stream}"),
        websocket(way, f"/ws-echo?key={socket}") as open_socket,
    ):
        open_socket.send("still there?")
        assert open_socket.recv(timeout=TIMEOUT_S) == "still there?"
        behaviour.wait_for(stream, "began")

        relay.revoke(ended)

        behaviour.wait_for(stream, "cancelled")
        behaviour.wait_for(socket, "cancelled")


def test_other_connections_outlive_a_revoked_one(
    relay: Service, behaviour_linked: LinkedPrinter, way: Way
) -> None:
    relay.revoke(relay.connect(behaviour_linked))

    assert call(way, "/any").status == 200


def test_the_connections_of_a_removed_printer_are_604(relay: Service, spare: LinkedPrinter) -> None:
    way = relay.way(relay.connect(spare))
    assert call(way, "/any").status == 200

    relay.remove(spare)

    wait_for("the removal to act", lambda: call(way, "/any").status == 604, AT_ONCE_S)
    assert refusal(call(way, "/any")) == 604


def test_a_printer_whose_agent_has_stopped_is_601_at_once(
    relay: Service, spare: LinkedPrinter
) -> None:
    way = relay.way(relay.connect(spare))
    assert call(way, "/any").status == 200

    spare.agent.program.kill()

    assert refusal(wait_for("601", lambda: offline(call(way, "/any")), AT_ONCE_S)) == 601


def offline(answer: Answer) -> Answer | None:
    return answer if answer.status == 601 else None


def test_no_request_hangs_when_it_meets_the_end_of_its_tunnel(
    relay: Service, spare: LinkedPrinter
) -> None:
    way, agent = relay.way(relay.connect(spare)), spare.agent.program

    def ask(number: int) -> int:
        time.sleep(number / 2000)  # some before the end, some in the middle of it, some behind
        return call(way, "/any").status

    for _ in range(3):
        wait_for("the printer to be there", lambda: call(way, "/any").status == 200, TIMEOUT_S)
        with ThreadPoolExecutor(40) as callers:
            answers = callers.map(ask, range(40))
            time.sleep(0.01)
            agent.kill()
            assert set(answers) <= {200, 601}
        agent.start()


def test_a_request_under_way_breaks_when_the_agent_dies(
    relay: Service, behaviour: BehaviourPrinter, spare: LinkedPrinter
) -> None:
    way, key = relay.way(relay.connect(spare)), fresh_key()
    with raw_request(way, "GET", f"/silent?key={key}") as request:
        behaviour.wait_for(key, "began")

        spare.agent.program.kill()

        status = request.recv(12)
    assert status in {b"HTTP/1.1 601", b"HTTP/1.1 602"}


def test_a_printer_whose_web_server_is_down_is_612_with_a_sentence(relay: Service) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with relay.printer("switched-off", url) as linked:
        answer = call(relay.way(relay.connect(linked)), "/any")

    assert refusal(answer) == 612
    assert url.removeprefix("http://") in json.loads(answer.body)["Error"]


def test_the_agent_works_on_when_its_printers_web_server_comes_back(
    relay: Service, behaviour: BehaviourPrinter, behaviour_linked: LinkedPrinter, way: Way
) -> None:
    behaviour.program.kill()
    assert refusal(call(way, "/any")) == 612

    behaviour.restart()

    assert call(way, "/any").status == 200


def test_an_agent_that_comes_back_needs_no_new_link(relay: Service, spare: LinkedPrinter) -> None:
    way = relay.way(relay.connect(spare))
    spare.agent.program.kill()
    wait_for("601", lambda: call(way, "/any").status == 601, AT_ONCE_S)

    spare.agent.program.start()

    wait_for("the printer to be back", lambda: call(way, "/any").status == 200, TIMEOUT_S)


@pytest.mark.parametrize("accept", ["text/html", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"])
def test_a_browser_gets_a_page_with_the_same_code(way: Way, accept: str) -> None:
    answer = call(way.proving(), "/any", headers=[("Accept", accept)])

    assert (answer.status, answer.all("X-Service-Error")) == (606, ["606"])
    assert (answer.first("Content-Type") or "").startswith("text/html")
    assert b"606" in answer.body
    assert b"<html" in answer.body.lower()


def test_head_is_refused_without_a_body(way: Way) -> None:
    answer = call(way.proving(), "/any", method="HEAD")

    assert (answer.status, answer.body) == (606, b"")


def test_a_refused_websocket_handshake_carries_the_code(relay: Service, way: Way) -> None:
    unknown = way.named("app-0." + way.host.partition(".")[2])

    assert refusal(call(way.proving(), "/ws-echo", headers=HANDSHAKE)) == 606
    assert refusal(call(unknown, "/ws-echo", headers=HANDSHAKE)) == 603


def test_a_refusal_leaves_the_connection_usable(way: Way, connection: Connection) -> None:
    with raw_request(way.proving(), "GET", "/any") as both:
        assert read_answer(both).status == 606
        both.sendall(request_head(way.proving(connection.basic), "GET", "/any"))
        assert read_answer(both).status == 200


def test_a_path_that_names_another_host_stays_with_the_connections_printer(way: Way) -> None:
    for target in ("//app-other.localhost/x", "/http://app-other.localhost/x", "/..//x"):
        assert EchoedRequest.by(call(way, target)).target == target
