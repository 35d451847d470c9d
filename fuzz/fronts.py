"""One caller's connection to the relay: the requests do not depend on how its bytes are cut.

A request that is read in one cut and not in another is a smuggled one.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from printreach.http1.heads import Request
from printreach.relay import connection
from printreach.relay.caller_exchange import CallerExchange
from printreach.relay.connection import Dispatch, FrontConnection, IncomingRequest
from printreach.relay.timeouts import Timeouts
from printreach.relay.unread_answers import UnreadAnswers

_CHUNKS_A_TURN: Final = 2
"""Fewer than in the service, so that short bodies are read in parts, too."""

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Heard(NamedTuple):
    """A complete request."""

    method: bytes
    target: bytes
    host: bytes
    body: bytes


class Pipe(asyncio.Transport):
    """The transport: what was written to it, and whether it is open."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_over = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_over
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.is_over

    def close(self) -> None:
        self.is_over = True

    def abort(self) -> None:
        self.is_over = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


class LaterCalls:
    """The part of an event loop that a connection needs."""

    def __init__(self) -> None:
        self._calls: deque[Callable[[], object]] = deque()

    def call_soon(self, call: Callable[[], object]) -> None:
        self._calls.append(call)

    def call_later(self, _delay_s: float, _call: Callable[[], object]) -> None:
        """Do nothing, since time stands still."""

    def time(self) -> float:
        return 0.0

    def run(self) -> None:
        while self._calls:
            self._calls.popleft()()


class Front:
    """The relay behind the connection: it answers each request once it is complete."""

    def __init__(self) -> None:
        self.later = LaterCalls()
        self.loop: Any = self.later
        self.dispatch: Dispatch = self._dispatch
        self.timeouts = Timeouts()
        self.is_serving = True
        self.unread = UnreadAnswers()
        self.heard: list[Heard] = []

    def remember(self, _connection: FrontConnection) -> bool:
        return True

    def forget(self, connection: FrontConnection) -> None:
        pass

    def _dispatch(self, incoming: IncomingRequest) -> CallerExchange | None:
        asked = Asked(self, incoming.caller, incoming.request)
        asked.on_body(incoming.body, incoming.fin)
        return None if incoming.fin else asked


class Asked:
    """One request while its body arrives."""

    def __init__(self, front: Front, caller: FrontConnection, request: Request) -> None:
        self._front = front
        self._caller = caller
        self._request = request
        self._body = b""

    def on_body(self, data: bytes, fin: bool) -> None:
        self._body += data
        if fin:
            request = self._request
            heard = Heard(request.method, request.target, request.host, self._body)
            self._front.heard.append(heard)
            self._caller.write(_ANSWER)
            self._caller.finished(keep_alive=request.keep_alive)

    def on_raw(self, _data: bytes) -> None:
        raise AssertionError("nothing was upgraded")

    def on_raw_end(self) -> None: ...

    def on_caller_writable(self) -> None:
        pass

    def on_caller_gone(self) -> None:
        pass


def front(data: bytes) -> None:
    """Target FrontConnection. The first byte decides how the rest is cut."""
    step = data[0] % 64 + 1 if data else 1
    stream = data[1:]
    whole = hear([stream])
    assert hear([stream[at : at + step] for at in range(0, len(stream), step)]) == whole


def hear(pieces: list[bytes]) -> list[Heard]:
    """Return the complete requests, each answered in turn."""
    relay, pipe = Front(), Pipe()
    with patch.object(connection, "MAX_CHUNKS_A_TURN", _CHUNKS_A_TURN):
        caller = FrontConnection(relay, None)
    caller.connection_made(pipe)
    for piece in pieces:
        if pipe.is_over:
            break
        caller.data_received(piece)
        relay.later.run()
    assert pipe.written.count(_ANSWER) == len(relay.heard)
    return relay.heard
