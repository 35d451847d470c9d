"""docs/protocol.md says what the code does: its examples byte by byte, its tables row by row."""

import re
from collections.abc import Callable

import pytest

from printreach.wire import frames, heads
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.frames import CHUNK_BYTES, FIN, HEADER, HEADER_BYTES, Kind
from printreach.wire.keepalive import BUSY_PING_S, PING_TIMEOUT_S, SOONER_IDLE_S, SOONER_TIMEOUT_S
from printreach.wire.session import Role, Session

from .page import EXAMPLES, PAGE, table
from .pair import POST_FILE, SessionPair

REQUEST = heads.encode_request(b"GET", b"/api/version", [(b"Host", b"printer.example")])
ANSWER = heads.encode_response(200, b"OK", [(b"Content-Length", b"2")])
HINT = heads.encode_response(103, b"Early Hints", [(b"Link", b"</a.css>")])

FIXED = {
    "hello": "0000000a 00000000 01 01 01 00040000 7a737464",
    "open": "0000002c 00000001 82 02 0029"
    "474554202f6170692f76657273696f6e0d0a486f73743a207072696e7465722e6578616d706c650d0a",
    "head": "0000001f 00000001 83 001b323030204f4b0d0a436f6e74656e742d4c656e6774683a20320d0a 6869",
    "interim": "00000021 00000001 04"
    "313033204561726c792048696e74730d0a4c696e6b3a203c2f612e6373733e0d0a",
    "data": "00000004 00000003 05 4732380a",
    "fin": "00000000 00000003 85",
    "credit": "00000004 00000003 06 00020000",
    "reset": "0000000a 00000003 07 0003 746f6f20736c6f77",
    "ping": "00000008 00000000 08 0000000000000007",
    "pong": "00000008 00000000 09 0000000000000007",
    "message": "00000010 00000000 0a 7b2254797065223a2248656c6c6f227d",
    "drain": "00000000 00000000 0b",
    "close": "0000000f 00000000 0c 0005 6265207269676874206261636b",
}


# --- what the sessions send -----------------------------------------------------------------------


def hub_says(say: Callable[[Session], object], *, streams: int = 0) -> bytes:
    pair = with_uploads(streams)
    say(pair.hub)
    return pair.hub.take_output()


def agent_says(say: Callable[[Session], object], *, streams: int = 0) -> bytes:
    pair = with_uploads(streams)
    say(pair.agent)
    return pair.agent.take_output()


def with_uploads(streams: int) -> SessionPair:
    """Return a pair with this many streams, two chunks of a body on each."""
    pair = SessionPair()
    for _ in range(streams):
        stream = pair.opened(POST_FILE)
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
    pair.settle()
    return pair


def seventh_ping() -> bytes:
    pair = SessionPair()
    for _ in range(6):
        pair.clock.advance(30.0)
        pair.hub.on_time(pair.clock.now)
        pair.settle()
    pair.clock.advance(30.0)
    pair.hub.on_time(pair.clock.now)
    return pair.hub.take_output()


def pong(session: Session) -> None:
    session.receive(bytes.fromhex(FIXED["ping"]), 0.0)


SAID: dict[str, Callable[[], bytes]] = {
    "hello": lambda: Session(Role.AGENT, now=0.0, capabilities=("zstd",)).take_output(),
    "open": lambda: hub_says(lambda hub: hub.open(REQUEST, fin=True, secure=True)),
    "head": lambda: agent_says(lambda agent: agent.respond(1, ANSWER, b"hi", fin=True), streams=1),
    "interim": lambda: agent_says(lambda agent: agent.interim(1, HINT), streams=1),
    "data": lambda: hub_says(lambda hub: hub.send(3, b"G28\n", fin=False), streams=3),
    "fin": lambda: hub_says(lambda hub: hub.send(3, b"", fin=True), streams=3),
    "credit": lambda: agent_says(lambda agent: agent.taken(3, 2 * CHUNK_BYTES), streams=3),
    "reset": lambda: agent_says(
        lambda agent: agent.reset(3, Reason.TIMED_OUT, "too slow"), streams=3
    ),
    "ping": seventh_ping,
    "pong": lambda: agent_says(pong),
    "message": lambda: agent_says(lambda agent: agent.message(b'{"Type":"Hello"}')),
    "drain": lambda: hub_says(lambda hub: hub.drain()),
    "close": lambda: hub_says(lambda hub: hub.close(CloseCode.RESTARTING, "be right back")),
}


@pytest.mark.parametrize("name", FIXED)
def test_the_fixed_bytes_are_what_a_session_sends(name: str) -> None:
    assert SAID[name]() == bytes.fromhex(FIXED[name])


def test_every_kind_has_its_fixed_bytes() -> None:
    kinds = {bytes.fromhex(fixed)[8] & ~FIN for fixed in FIXED.values()}

    assert kinds == set(Kind)


# --- what the page shows --------------------------------------------------------------------------

HEX_AT_START = re.compile(r"^[0-9a-f]{2}(?: {1,2}[0-9a-f]{2}\b)*", re.MULTILINE)
CAPTION = re.compile(r"(\d+) bytes on stream (\d+), ([A-Z]+)( and FIN)?")


def test_the_page_shows_the_fixed_bytes_and_no_others() -> None:
    shown = {name: " ".join(HEX_AT_START.findall(text)) for name, text in EXAMPLES.items()}

    assert {name: bytes.fromhex(text) for name, text in shown.items()} == {
        name: bytes.fromhex(fixed) for name, fixed in FIXED.items()
    }


@pytest.mark.parametrize("name", FIXED)
def test_the_caption_of_an_example_reads_its_header_aloud(name: str) -> None:
    length, stream, kind = HEADER.unpack(bytes.fromhex(FIXED[name])[:HEADER_BYTES])

    caption = CAPTION.search(EXAMPLES[name])

    assert caption is not None
    assert (int(caption[1]), int(caption[2])) == (length, stream)
    assert (Kind[caption[3]] | (FIN if caption[4] else 0)) == kind


def test_the_page_lists_every_kind() -> None:
    assert table("## Frames", 0, 1) == [(str(int(kind)), kind.name) for kind in Kind]


def test_the_page_lists_every_close_code() -> None:
    assert table("### Close codes", 0, 1) == [(str(int(code)), code.name) for code in CloseCode]


def test_the_page_lists_every_reason_that_travels() -> None:
    travelling = [
        reason for reason in Reason if reason not in (Reason.TUNNEL_LOST, Reason.TUNNEL_SILENT)
    ]

    assert table("### Reset reasons", 0, 1) == [(str(int(r)), r.name) for r in travelling]


def test_the_page_lists_the_limits() -> None:
    assert [limit.replace(",", "") for (limit,) in table("## Limits", 1)] == [
        str(limit)
        for limit in (
            frames.MAX_MESSAGE_BYTES,
            frames.MAX_PAYLOAD_BYTES,
            frames.CHUNK_BYTES,
            heads.MAX_HEAD_BYTES,
            frames.MAX_TEXT_BYTES,
            frames.MAX_CREDIT_BYTES,
            frames.MAX_STREAMS,
            frames.MAX_STREAM_ID,
        )
    ]


def test_the_page_lists_the_times_of_keep_alive() -> None:
    patience = [Session(role, now=0.0).next_deadline() for role in (Role.HUB, Role.AGENT)]

    assert [float(seconds) for (seconds,) in table("## Keep-alive", 1)] == [
        BUSY_PING_S,
        *patience,
        PING_TIMEOUT_S,
        SOONER_IDLE_S,
        SOONER_TIMEOUT_S,
    ]


def test_the_page_lists_every_field_that_ends_at_a_hop() -> None:
    listed = PAGE.split("never travel in the tunnel:\n")[1].split(" A `Connection` line")[0]

    assert {name.lower().encode() for name in re.findall(r"`([\w-]+)`", listed)} == heads.HOP_BY_HOP
