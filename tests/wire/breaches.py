"""Frames that an honest end would not send, and what becomes of the tunnel they come through."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode, RemoteProtocolError
from printreach.wire.frames import WINDOW_BYTES, Kind, frame
from printreach.wire.session import Session

from .pair import GET_PAGE


def breach(session: Session, message: bytes) -> CloseCode:
    """The code that closes the tunnel when this message arrives; a CLOSE frame has to say so."""
    session.take_output()
    with pytest.raises(RemoteProtocolError) as raised:
        session.receive(message, 1000.0)
    fault = raised.value
    assert session.take_output() == frame(
        Kind.CLOSE, 0, frames.encode_text(fault.code, fault.text)
    ), "a CLOSE frame that names the fault, and nothing else"
    assert not session.is_ready
    return fault.code


def open_frame(stream: int, head: bytes = GET_PAGE, body: bytes = b"") -> bytes:
    return frame(Kind.OPEN, stream, frames.encode_open(0, head, body))


def hello(*, low: int = 1, high: int = 1, window: int = WINDOW_BYTES, names: bytes = b"") -> bytes:
    return frame(Kind.HELLO, 0, frames.HELLO_PREFIX.pack(low, high, window) + names)


def credit(stream: int, size: int) -> bytes:
    return frame(Kind.CREDIT, stream, frames.U32.pack(size))
