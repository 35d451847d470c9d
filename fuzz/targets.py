"""Every target by its name, and its seeds."""

from collections.abc import Callable
from typing import Final

from fuzz import chunks, cleaning, control, fronts, heads, images, tunnels
from printreach.wire import frames
from printreach.wire.frames import FIN, Kind
from tests.http1.corpus import bodies
from tests.http1.corpus import heads as refused_heads

Target = Callable[[bytes], None]

TARGETS: Final[dict[str, Target]] = {
    "request": heads.request,
    "response": heads.response,
    "chunked": chunks.chunked,
    "front": fronts.front,
    "cleaning": cleaning.cleaning,
    "hub": tunnels.hub,
    "agent": tunnels.agent,
    "image": images.image,
    "to-service": control.to_service,
    "to-agent": control.to_agent,
}

_POLLUTED = b"""GET /a?service_api_key=k&x=1 HTTP/1.1\r
Host: own-abc.example\r
Authorization: Bearer t\r
Authorization: Basic dTpw\r
Cookie: a=b; __Host-printreach_own=s; c=d\r
Cookie: printreach_own=s\r
Set-Cookie: a=b; Domain=example; Path=/\r
Set-Cookie: =printreach_own=x\r
X-Forwarded-For: 1.2.3.4\r
Forwarded: for=1.2.3.4\r
Referer: http://x/?service_api_key=k\r
Connection: close, x-hop\r
X-Hop: 1\r
Origin: https://own-abc.example\r
\r
"""
_OPEN_OR_ANSWER = b"\x82\x01"  # as fuzz.tunnels.End parses it
_RESPONSES = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.0 200\r\nConnection: keep-alive\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: x\r\n\r\n",
)


def seeds(name: str) -> list[bytes]:
    """Return the seeds of that target."""
    match name:
        case "request":
            return [_POLLUTED, *(case.raw for case in refused_heads.REFUSED_HEADS)]
        case "response":
            return [bytes([number]) + head for head in _RESPONSES for number in range(4)]
        case "chunked":
            refused = [_chunked(case.raw) for case in bodies.REFUSED_BODIES]
            return refused + [_chunked(case.raw) for case in bodies.ACCEPTED]
        case "front":
            refused = [b"\x07" + case.raw for case in bodies.REFUSED_BODIES]
            return refused + [b"\x07" + case.raw for case in bodies.ACCEPTED]
        case "cleaning":
            return [_POLLUTED]
        case "image":
            return images.seeds()
        case "to-service" | "to-agent":
            return control.seeds()
        case _:
            return [_OPEN_OR_ANSWER * 2 + b"".join(map(_scripted, _frames()))]


def _chunked(raw: bytes) -> bytes:
    return b"\x03" + raw.partition(b"\r\n\r\n")[2]


def _frames() -> list[tuple[int, int, bytes]]:
    """Return kind, stream and payload of one frame of each kind."""
    head = b"GET /\r\n"
    return [
        (Kind.OPEN, 1, frames.encode_open(0, head, b"body")),
        (Kind.OPEN | FIN, 2, frames.encode_open(1, head, b"")),
        (Kind.INTERIM, 1, b"103 Early Hints\r\n"),
        (Kind.HEAD, 1, frames.encode_head(b"200 OK\r\n", b"body")),
        (Kind.DATA, 1, b"more"),
        (Kind.DATA | FIN, 1, b"last"),
        (Kind.CREDIT, 1, frames.U32.pack(1000)),
        (Kind.RESET, 2, frames.encode_text(3, "late")),
        (Kind.PING, 0, bytes(8)),
        (Kind.PONG, 0, bytes(8)),
        (Kind.MESSAGE, 0, b"{}"),
        (Kind.DRAIN, 0, b""),
        (Kind.CLOSE, 0, frames.encode_text(0, "bye")),
    ]


def _scripted(frame: tuple[int, int, bytes]) -> bytes:
    """Return the frame as fuzz.tunnels.Script parses it, with one action of our side after it."""
    kind, stream, payload = frame
    return bytes([0, kind, stream]) + frames.U16.pack(len(payload)) + payload + _OPEN_OR_ANSWER
