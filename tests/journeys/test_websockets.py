"""A WebSocket through the service is the printer's own WebSocket."""

import json
from contextlib import ExitStack
from socket import SHUT_RDWR

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from tests.rigs.behaviour.pattern import pattern
from tests.rigs.behaviour.rig import BehaviourPrinter, fresh_key
from tests.rigs.sockets import websocket
from tests.rigs.waiting import TIMEOUT_S
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

# 125 and 126, 65535 and 65536: where the length field of a frame changes its form
SIZES = [0, 1, 125, 126, 65535, 65536, 1 << 20, 16 << 20]


def closed(connection: ClientConnection) -> tuple[int, str]:
    """Read until the other side closes: its code and reason."""
    with pytest.raises(ConnectionClosed) as caught:
        connection.recv(timeout=TIMEOUT_S)
    assert caught.value.rcvd is not None, "the connection broke without a close frame"
    return caught.value.rcvd.code, caught.value.rcvd.reason


@pytest.mark.parametrize("size", SIZES)
def test_a_binary_message_of_any_size_comes_back_whole(way: Way, size: int) -> None:
    message = pattern(size)
    with websocket(way, "/ws-echo") as connection:
        connection.send(message)

        assert connection.recv(timeout=TIMEOUT_S) == message


@pytest.mark.parametrize("size", SIZES)
def test_a_text_message_of_any_size_comes_back_as_text(way: Way, size: int) -> None:
    message = ("é" * (size // 2)) + "x" * (size % 2)
    with websocket(way, "/ws-echo") as connection:
        connection.send(message)

        assert connection.recv(timeout=TIMEOUT_S) == message


def test_many_messages_keep_their_order_and_their_borders(way: Way) -> None:
    messages = [f"message {number} " + "x" * (number * 37 % 900) for number in range(500)]
    with websocket(way, "/ws-echo") as connection:
        for message in messages:
            connection.send(message)

        assert [connection.recv(timeout=TIMEOUT_S) for _ in messages] == messages


def test_a_message_sent_in_fragments_is_one_message(way: Way) -> None:
    with websocket(way, "/ws-echo") as connection:
        connection.send(["in ", "several ", "", "pieces"])

        assert connection.recv(timeout=TIMEOUT_S) == "in several pieces"


def test_fragments_from_the_printer_stay_fragments(way: Way) -> None:
    with websocket(way, "/ws-fragments") as connection:
        assert list(connection.recv_streaming()) == ["one ", "two ", "three"]


def test_a_ping_is_answered_by_a_pong_with_its_payload(way: Way) -> None:
    with websocket(way, "/ws-echo") as connection:
        assert connection.ping(b"payload").wait(timeout=TIMEOUT_S)


def test_a_ping_of_the_printer_reaches_the_app_and_its_pong_the_printer(way: Way) -> None:
    with websocket(way, "/ws-ping?payload=are-you-there") as connection:
        assert connection.recv(timeout=TIMEOUT_S) == "PONG are-you-there"


@pytest.mark.parametrize(("code", "reason"), [(1000, ""), (1001, "restarting"), (4999, "own code")])
def test_the_printers_close_code_and_reason_reach_the_app(way: Way, code: int, reason: str) -> None:
    with websocket(way, f"/ws-close?code={code}&reason={reason.replace(' ', '%20')}") as connection:
        assert closed(connection) == (code, reason)


@pytest.mark.parametrize("code", [1000, 1001, 3000, 4002])
def test_the_apps_close_code_reaches_the_printer(
    way: Way, behaviour: BehaviourPrinter, code: int
) -> None:
    key = fresh_key()
    with websocket(way, f"/ws-echo?key={key}") as connection:
        connection.close(code)

    assert behaviour.wait_for(key, "closed").detail == code


def test_an_app_that_vanishes_leaves_no_socket_behind_at_the_printer(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with websocket(way, f"/ws-echo?key={key}") as connection:
        connection.send("here")
        assert connection.recv(timeout=TIMEOUT_S) == "here"
        connection.socket.shutdown(SHUT_RDWR)

    behaviour.wait_for(key, "cancelled")


def test_the_printer_chooses_the_subprotocol(way: Way) -> None:
    with websocket(way, "/ws-echo", subprotocols=["v1.printer", "mqtt"]) as connection:
        assert connection.subprotocol == "mqtt"


def test_no_subprotocol_is_invented(way: Way) -> None:
    with websocket(way, "/ws-echo") as connection:
        assert connection.subprotocol is None
        assert connection.response is not None
        assert "Sec-WebSocket-Protocol" not in connection.response.headers


def test_compressed_messages_pass_where_both_ends_agreed_on_them(way: Way) -> None:
    with websocket(way, "/ws-echo", compression="deflate") as connection:
        assert connection.response is not None
        assert "permessage-deflate" in connection.response.headers["Sec-WebSocket-Extensions"]
        connection.send("the same again and again " * 10_000)

        assert connection.recv(timeout=TIMEOUT_S) == "the same again and again " * 10_000


@pytest.mark.parametrize(
    "target",
    [
        "/ws-target",
        "/ws-target/printer%2Fone/caf%C3%A9//websocket",
        "/ws-target/sockjs/123/abc/websocket?t=1&t=2&x=%26",
    ],
)
def test_the_handshake_keeps_path_and_query(way: Way, target: str) -> None:
    with websocket(way, target, headers=[("X-Api-Key", "abc"), ("Cookie", "a=1")]) as connection:
        seen = json.loads(connection.recv(timeout=TIMEOUT_S))

    assert seen["target"] == target
    assert (seen["headers"]["X-Api-Key"], seen["headers"]["Cookie"]) == ("abc", "a=1")


def test_a_handshake_that_the_printer_refuses_is_the_printers_refusal(way: Way) -> None:
    with pytest.raises(InvalidStatus) as caught, websocket(way, "/ws-refused"):
        pytest.fail("the handshake went through")

    assert caught.value.response.status_code == 403
    assert caught.value.response.body == b"not for you"


def test_twenty_sockets_at_once_keep_apart(way: Way) -> None:
    with ExitStack() as stack:
        sockets = [stack.enter_context(websocket(way, "/ws-echo")) for _ in range(20)]
        for number, connection in enumerate(sockets):
            connection.send(str(number))

        assert [connection.recv(timeout=TIMEOUT_S) for connection in sockets] == list(
            map(str, range(20))
        )
