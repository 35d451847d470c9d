"""The server's side of an HTTP/1.1 connection, sans-IO: bytes in, requests and bodies out.

The relay's front and the servers beside a printer run the same core. It reads heads and bodies, one
request at a time; what comes after the current request waits. The tables below are all moves from
one state to the next; any other is a fault of ours. Time-outs and writing belong to the callers.
"""

import math
from enum import Enum
from typing import Final

from .bodies import BodyReader
from .heads import MAX_HEAD_BYTES, BadMessage, Framing, Request, RequestReader, find_head_end

LINGER_BYTES: Final = 8 * 1024 * 1024
"""The most bytes of a refused request that are dropped. To close while the client sends would reset
the connection, and the client would never read the answer."""


class State(Enum):
    """The next event on a connection."""

    IDLE = "the first byte of a request"
    HEAD = "the rest of a head"
    BODY = "the rest of the current request's body"
    ANSWER = "our answer to the current request, which has come as a whole"
    RAW = "bytes of another protocol, after an upgrade"
    LINGER = "bytes that nobody wants, after our last answer"
    CLOSED = "nothing"

    __hash__ = object.__hash__  # that of enumerations takes three times as long


IDLE: Final = State.IDLE
HEAD: Final = State.HEAD
BODY: Final = State.BODY
ANSWER: Final = State.ANSWER
RAW: Final = State.RAW
LINGER: Final = State.LINGER
CLOSED: Final = State.CLOSED
# A state's name in its class takes five times as long to look up, and a request needs ten of them.
SERVING: Final = frozenset({BODY, ANSWER, RAW})
"""The states in which a request has begun and isn't answered."""


class StateError(Exception):
    """A call that has no place in the connection's state."""


class _Moves(dict[State, State]):
    def __missing__(self, state: State) -> State:
        raise StateError(f"a call that has no place in {state}")


_HEAD_BEGUN: Final = _Moves({IDLE: HEAD, HEAD: HEAD})
_REQUEST_WITHOUT_BODY: Final = _Moves({IDLE: ANSWER, HEAD: ANSWER})
_REQUEST_WITH_BODY: Final = _Moves({IDLE: BODY, HEAD: BODY})
_BODY_ENDED: Final = _Moves({BODY: ANSWER})
_ANSWERED: Final = _Moves(
    {
        ANSWER: IDLE,
        BODY: LINGER,  # an early answer: the next request's beginning is unknown
        CLOSED: CLOSED,
    }
)
_ANSWERED_AS_LAST: Final = _Moves({**_ANSWERED, ANSWER: CLOSED})
_REFUSED: Final = _Moves(
    {
        IDLE: LINGER,
        HEAD: LINGER,
        BODY: LINGER,
        CLOSED: CLOSED,
    }
)
_UPGRADED: Final = _Moves({ANSWER: RAW, CLOSED: CLOSED})
_INPUT_ENDED: Final = _Moves(
    {
        **dict.fromkeys(State, CLOSED),
        ANSWER: ANSWER,  # a client that ends its direction may still read
        RAW: RAW,
    }
)


_READS_ON: Final = frozenset({IDLE, BODY})
"""The states in which what has come is still to be read when the client sends no more."""


class ServerCore:
    """One connection. A BadMessage that it raises is answered with refuse() or close().

    max_pieces: how many chunks of a body one next_body() reads at most.
    """

    __slots__ = (
        "_body",
        "_linger_left",
        "_max_pieces",
        "_may_skip_line",
        "_searched",
        "has_ended",
        "head",
        "heads",
        "state",
        "surplus",
    )

    def __init__(self, max_pieces: float = math.inf) -> None:
        self._max_pieces = max_pieces
        self.state = IDLE
        self.has_ended = False  # the client sends no more, but may read
        self.head = b""  # of the current or the last request
        self.heads = RequestReader()
        self._body: BodyReader
        self.surplus = b""  # what has come and wasn't read yet
        self._searched = 0  # bytes of the surplus in which no head ends
        self._may_skip_line = True  # RFC 9112, section 2.2: an empty line before a request
        self._linger_left = LINGER_BYTES

    # --- what comes -----------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Add bytes that came. While lingering they are dropped, up to LINGER_BYTES."""
        if self.state is LINGER:
            self._linger_left -= len(data)
            if self._linger_left < 0:
                self.close()
        else:
            self.surplus = self.surplus + data if self.surplus else data

    def end_of_input(self) -> None:
        """Note that the client sends no more: CLOSED unless something is left to read or answer."""
        self.has_ended = True
        if not (self.surplus and self.state in _READS_ON):
            self.state = _INPUT_ENDED[self.state]

    def next_request(self) -> Request | None:
        """Begin with the next request; None while its head isn't complete. Raises BadMessage."""
        if self._may_skip_line and self.surplus.startswith(b"\r\n"):
            self._may_skip_line = False
            self.surplus = self.surplus[2:]
        end = find_head_end(self.surplus, self._searched)
        if end < 0:
            self._await_head()
            return None
        self.head, self.surplus = self.surplus[:end], self.surplus[end:]
        self._searched = 0
        self._may_skip_line = True
        request = self.heads.read(self.head)
        if request.framing is Framing.NONE or (
            request.framing is Framing.LENGTH and not request.length
        ):
            self.state = _REQUEST_WITHOUT_BODY[self.state]
        else:
            self._body = BodyReader(request.framing, request.length, self._max_pieces)
            self.state = _REQUEST_WITH_BODY[self.state]
        return request

    def next_body(self) -> bytes:
        """Return what has come of the current request's body. Raises BadMessage.

        A surplus that is left in BODY is more of it: max_pieces were read.
        """
        data, self.surplus = self._body.feed(self.surplus)
        if self._body.is_complete:
            self.state = _BODY_ENDED[self.state]
        elif self.has_ended and not self.surplus:
            self.close()
        return data

    def take_surplus(self) -> bytes:
        """Return what has come and wasn't read yet: raw bytes after an upgrade."""
        data, self.surplus = self.surplus, b""
        return data

    # --- what we do -----------------------------------------------------------------------------

    def answered(self, *, keep_alive: bool) -> None:
        """Note that the answer is whole. keep_alive: another request may follow."""
        is_last = not keep_alive or (self.has_ended and not self.surplus)
        self.state = (_ANSWERED_AS_LAST if is_last else _ANSWERED)[self.state]
        if self.state is LINGER:
            self.surplus = b""

    def refuse(self) -> None:
        """Note that bytes which are no request, or are too slow, were answered."""
        self.state = _REFUSED[self.state]
        self.surplus = b""

    def upgrade(self) -> None:
        """Read no more requests: after a 101 all bytes are raw."""
        self.state = _UPGRADED[self.state]

    def close(self) -> None:
        self.state = CLOSED
        self.surplus = b""

    # --- helpers --------------------------------------------------------------------------------

    def _await_head(self) -> None:
        size = len(self.surplus)
        if self.has_ended:
            self.close()
        elif size > MAX_HEAD_BYTES:
            raise BadMessage(431, "The head of the request is larger than 32 KiB.")
        elif size > 0:
            self.state = _HEAD_BEGUN[self.state]
        self._searched = max(0, size - 3)
