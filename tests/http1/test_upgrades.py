"""Which requests are WebSocket handshakes, and which answers change the protocol."""

import pytest

from printreach.http1.heads import Framing, Request, parse_request, parse_response


def parse(*fields: bytes, line: bytes = b"GET /ws HTTP/1.1") -> Request:
    return parse_request(b"\r\n".join([line, b"Host: h", *fields, b"", b""]))


@pytest.mark.parametrize(
    "fields",
    [
        [b"Connection: Upgrade", b"Upgrade: websocket"],
        [b"connection: keep-alive, UPGRADE", b"upgrade: WebSocket"],
        [b"Connection: keep-alive", b"Connection: upgrade", b"Upgrade: websocket"],
        [b"Connection: Upgrade", b"Upgrade: websocket", b"Content-Length: 0"],
    ],
)
def test_a_websocket_handshake_is_recognised(fields: list[bytes]) -> None:
    assert parse(*fields).upgrade == b"websocket"


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [b"Upgrade: websocket"],
        [b"Connection: Upgrade"],
        [b"Connection: keep-alive", b"Upgrade: websocket"],
        [b"Connection: upgraded", b"Upgrade: websocket"],
        [b"Connection: Upgrade", b"Upgrade: h2c"],
        [b"Connection: Upgrade", b"Upgrade: h2c, websocket"],
        [b"Connection: Upgrade", b"Upgrade: websocket, websocket"],
        [b"Connection: Upgrade", b"Upgrade: websocket/13"],
        [b"Connection: Upgrade", b"Upgrade: websocket", b"Upgrade: websocket"],
        [b"Connection: Upgrade", b"Upgrade: h2c", b"Upgrade: websocket"],
        [b"Connection: Upgrade", b"Upgrade:"],
    ],
)
def test_any_other_upgrade_is_ignored(fields: list[bytes]) -> None:
    assert parse(*fields).upgrade is None


@pytest.mark.parametrize("line", [b"POST /ws HTTP/1.1", b"GET /ws HTTP/1.0", b"HEAD / HTTP/1.1"])
def test_only_get_on_http_1_1_is_a_handshake(line: bytes) -> None:
    fields = [b"Connection: Upgrade", b"Upgrade: websocket"]

    assert parse(*fields, line=line).upgrade is None


@pytest.mark.parametrize("upgrade", [b"h2c", b"websocket"])
def test_a_post_keeps_its_body_whatever_it_wants_to_upgrade_to(upgrade: bytes) -> None:
    request = parse(
        b"Connection: Upgrade",
        b"Upgrade: " + upgrade,
        b"Content-Length: 5",
        line=b"POST / HTTP/1.1",
    )

    assert request.upgrade is None
    assert request.framing is Framing.LENGTH
    assert request.length == 5


@pytest.mark.parametrize(
    ("head", "upgrade"),
    [
        (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n", True),
        (b"HTTP/1.1 101 Hi\r\nconnection: keep-alive, UPGRADE\r\n\r\n", True),
        (b"HTTP/1.1 101 Hi\r\nUpgrade: websocket\r\n\r\n", False),
        (b"HTTP/1.0 101 Hi\r\nConnection: Upgrade\r\n\r\n", True),
        (b"HTTP/1.1 100 Continue\r\nConnection: Upgrade\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\n\r\n", False),
    ],
)
def test_only_a_101_that_says_so_changes_the_protocol(head: bytes, upgrade: bool) -> None:
    assert parse_response(head, b"GET").upgrade is upgrade


def test_the_head_of_a_changed_protocol_has_no_body() -> None:
    head = b"HTTP/1.1 101 Hi\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    assert parse_response(head, b"GET").framing is Framing.NONE
