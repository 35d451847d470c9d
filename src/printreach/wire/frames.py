"""The byte layout of frames. docs/protocol.md shows the same as diagrams.

A link message (one binary WebSocket message) holds one or more whole frames:

    0        4        8    9
    +--------+--------+----+----------------- - -
    | length | stream |kind| payload, `length` bytes
    +--------+--------+----+----------------- - -
      u32 BE   u32 BE   u8    high bit of kind: FIN, nothing follows from this side
"""

import re
from enum import IntEnum
from struct import Struct
from typing import Final

from .errors import CloseCode, LocalProtocolError, RemoteProtocolError
from .heads import MAX_HEAD_BYTES


class Kind(IntEnum):
    HELLO = 1  # stream 0: versions, window, capabilities
    OPEN = 2  # hub to agent: flags u8, head length u16, head, first body bytes
    HEAD = 3  # agent to hub: head length u16, head, first body bytes
    INTERIM = 4  # agent to hub: a 1xx head other than 101
    DATA = 5
    CREDIT = 6  # u32: this many more bytes may be sent on the stream
    RESET = 7  # reason u16, UTF-8 text
    PING = 8  # stream 0: 8 bytes
    PONG = 9  # stream 0: the ping's 8 bytes
    MESSAGE = 10  # stream 0: a message of the control conversation, JSON
    DRAIN = 11  # stream 0: no new streams; running ones finish
    CLOSE = 12  # stream 0: code u16, UTF-8 text; the link closes after it


VERSION: Final = 1

FIN: Final = 0x80
HEADER: Final = Struct(">IIB")
HEADER_BYTES: Final = 9
CHUNK_BYTES: Final = 64 * 1024
"""The most body bytes in a frame; larger frames gained nothing when measured."""
MAX_PAYLOAD_BYTES: Final = 128 * 1024
"""The largest payload: a head, a chunk, and some spare bytes."""
MAX_MESSAGE_BYTES: Final = 1024 * 1024
"""The largest link message: it gathers what one turn of the loop produced, and senders flush long
before this. Proxies on the way refuse messages without a limit."""
MAX_TEXT_BYTES: Final = 500
PING_BYTES: Final = 8
WINDOW_BYTES: Final = 256 * 1024
"""The credit of a new stream; a fast one gets more later. On a 20 Mbit/s uplink a page beside a
download waited 300 ms with 1 MiB and 30 ms with 256 KiB. It is never below a chunk, so that the
first chunk of a body always fits beside its head."""
MAX_CREDIT_BYTES: Final = 0x7FFF_FFFF
MAX_STREAM_ID: Final = 0xFFFF_FFFF
MAX_STREAMS: Final = 512
"""The most streams open in one tunnel: a browser opens tens, a farm's dashboard some hundreds."""

OPEN_UPGRADE: Final = 0x01
OPEN_SECURE: Final = 0x02

_CAPABILITY: Final = re.compile(r"[a-z0-9-]+")

U16: Final = Struct(">H")
U16_BYTES: Final = 2
U32: Final = Struct(">I")
OPEN_PREFIX: Final = Struct(">BH")
OPEN_PREFIX_BYTES: Final = 3
HELLO_PREFIX: Final = Struct(">BBI")


def frame(kind: int, stream: int, payload: bytes) -> bytes:
    """Return one whole frame; kind may carry FIN."""
    return HEADER.pack(len(payload), stream, kind) + payload


def split_message(frames: bytes) -> tuple[bytes, bytes]:
    """Split frames into those that fit a link message and the rest. frames: too many for one."""
    at = end = 0
    while end <= MAX_MESSAGE_BYTES:
        at = end
        end += HEADER_BYTES + HEADER.unpack_from(frames, at)[0]
    return frames[:at], frames[at:]


def encode_text(number: int, text: str) -> bytes:
    """Return a payload of RESET or CLOSE; text is cut to MAX_TEXT_BYTES, between characters."""
    cut = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")
    return U16.pack(number) + cut.encode()


def decode_text(payload: bytes) -> tuple[int, str]:
    """Return the number and the text; U+FFFD replaces characters that can't be printed in a log.

    Raises RemoteProtocolError (BAD_FRAME) when the payload is too short or too long.
    """
    if len(payload) < U16.size or len(payload) > U16.size + MAX_TEXT_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "a code and a text don't fit the payload")
    (number,) = U16.unpack_from(payload)
    text = payload[U16.size :].decode("utf-8", "replace")
    return number, "".join(char if char.isprintable() else "\ufffd" for char in text)


def check_sizes(head: bytes, body: bytes) -> None:
    """Raise LocalProtocolError when a head with its first body bytes fits no frame."""
    if len(head) > MAX_HEAD_BYTES:
        raise LocalProtocolError(f"a head of {len(head)} bytes")
    if len(body) > CHUNK_BYTES:
        raise LocalProtocolError(f"a chunk of {len(body)} bytes")


def encode_open(flags: int, head: bytes, body: bytes) -> bytes:
    return OPEN_PREFIX.pack(flags, len(head)) + head + body


def decode_open(payload: bytes) -> tuple[int, bytes, bytes]:
    """Return flags, head and first body bytes."""
    if len(payload) < OPEN_PREFIX_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "OPEN is cut short")
    head_size = payload[1] << 8 | payload[2]
    head, body = _split(payload, OPEN_PREFIX_BYTES, head_size)
    return payload[0], head, body


def encode_head(head: bytes, body: bytes) -> bytes:
    return U16.pack(len(head)) + head + body


def decode_head(payload: bytes) -> tuple[bytes, bytes]:
    """Return head and first body bytes."""
    if len(payload) < U16_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "HEAD is cut short")
    return _split(payload, U16_BYTES, payload[0] << 8 | payload[1])


def _split(payload: bytes, at: int, head_size: int) -> tuple[bytes, bytes]:
    body_at = at + head_size
    if body_at > len(payload):
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "a head is longer than its frame")
    if head_size > MAX_HEAD_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_HEAD, f"a head of {head_size} bytes")
    if len(payload) - body_at > CHUNK_BYTES:
        raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, "over a chunk of body behind a head")
    return payload[at:body_at], payload[body_at:]


def decode_credit(payload: bytes) -> int:
    if len(payload) != U32.size:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "CREDIT is four bytes")
    size: int = U32.unpack(payload)[0]
    return size


def decode_ping(payload: bytes) -> bytes:
    """Return the eight bytes of a PING or PONG."""
    if len(payload) != PING_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "PING and PONG are eight bytes")
    return payload


def encode_hello(min_version: int, max_version: int, window: int, names: tuple[str, ...]) -> bytes:
    """Raise LocalProtocolError for a window or a capability name that no peer would accept."""
    if not CHUNK_BYTES <= window <= MAX_CREDIT_BYTES:
        raise LocalProtocolError(f"a window of {window} bytes")
    for name in names:
        if not _CAPABILITY.fullmatch(name):
            raise LocalProtocolError(f"a capability named {name!r}")
    return HELLO_PREFIX.pack(min_version, max_version, window) + ",".join(names).encode("ascii")


def decode_hello(payload: bytes) -> tuple[int, int, int, tuple[str, ...]]:
    """Return lowest and highest version, window in bytes, capability names, unknown ones too."""
    if not HELLO_PREFIX.size <= len(payload) <= 4096:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "a HELLO of this length can't be read")
    low, high, window = HELLO_PREFIX.unpack_from(payload)
    try:
        names = payload[HELLO_PREFIX.size :].decode("ascii")
    except UnicodeDecodeError:
        raise RemoteProtocolError(CloseCode.BAD_FRAME, "capabilities are not ASCII") from None
    if not CHUNK_BYTES <= window <= MAX_CREDIT_BYTES:
        raise RemoteProtocolError(CloseCode.BAD_CREDIT, f"a window of {window} bytes")
    return low, high, window, tuple(name for name in names.split(",") if name)
