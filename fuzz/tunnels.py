"""The tunnel's session at either end, against a hostile peer, while its own application works.

The fuzzer's bytes are a script: what arrives, as frames or as it comes, and what our side does
between. Whatever arrives may end the tunnel with a fault of the other end, and do nothing else.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

from printreach.wire import frames, heads
from printreach.wire.errors import Reason, RemoteProtocolError
from printreach.wire.events import (
    DataReceived,
    Event,
    HeadReceived,
    InterimReceived,
    PeerClosed,
    StreamOpened,
    StreamReset,
)
from printreach.wire.session import Role, Session

_GET = heads.encode_request(b"GET", b"/", [(b"Host", b"x")])
_OK = heads.encode_response(200, b"OK", [])


class Script:
    """The fuzzer's bytes, taken a few at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._data)

    def take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken

    def number(self, size: int = 1) -> int:
        """Return a number; 0 after the end."""
        return int.from_bytes(self.take(size), "big")

    def frame(self) -> bytes:
        """Return a whole frame of any kind and payload."""
        kind, stream, size = self.number(), self.number() % 8, self.number(2)
        return frames.frame(kind, stream, self.take(size))


class End:
    """Our end of the tunnel with its application, which makes only allowed calls."""

    def __init__(self, role: Role, script: Script) -> None:
        self._script = script
        self._role = role
        self._now = 0.0
        self._untaken: dict[int, int] = {}
        self._unanswered: set[int] = set()
        self._writable: set[int] = set()
        self._session = Session(role, now=0.0)
        other = Role.AGENT if role is Role.HUB else Role.HUB
        self.is_over = not self._receive(Session(other, now=0.0).take_output())

    def step(self) -> None:
        """Receive a frame, or make a call."""
        choice = self._script.number()
        if choice < 0x60:
            message = b"".join(self._script.frame() for _ in range(choice % 4 + 1))
            self.is_over = not self._receive(message)
        elif choice < 0x80:
            self.is_over = not self._receive(self._script.take(choice))
        else:
            actions = (self._open_or_answer, self._send, self._take, self._reset, self._wait)
            actions[choice % len(actions)]()
        if choice % 7 == 0:
            check_frames(self._session.take_output())

    def _receive(self, message: bytes) -> bool:
        """Return False if that ended the tunnel."""
        try:
            arrived = self._session.receive(message, self._now)
        except RemoteProtocolError:
            assert check_frames(self._session.take_output())[-1] == frames.Kind.CLOSE
            return False
        for event in arrived:
            self._hear(event)
        for size in self._untaken.values():
            assert size <= frames.WINDOW_BYTES
        return not any(isinstance(event, PeerClosed) for event in arrived)

    def _hear(self, event: Event) -> None:
        match event:
            case StreamOpened(stream, head, body):
                self._read(heads.decode_request, head)
                self._unanswered.add(stream)
                self._untaken[stream] = len(body)
            case HeadReceived(stream, head, body):
                self._read(heads.decode_response, head)
                self._untaken[stream] += len(body)
            case InterimReceived(_, head):
                self._read(heads.decode_response, head)
            case DataReceived(stream, data):
                self._untaken[stream] += len(data)
            case StreamReset(stream):
                self._forget(stream)

    def _read(self, decode: Callable[[bytes], object], head: bytes) -> None:
        with suppress(RemoteProtocolError):
            decode(head)

    def _open_or_answer(self) -> None:
        fin = self._script.number() % 2 == 0
        if self._role is Role.HUB and self._session.may_open:
            stream = self._session.open(_GET, fin=fin)
            self._untaken[stream] = 0
        elif self._unanswered:
            stream = self._unanswered.pop()
            self._session.respond(stream, _OK, fin=fin)
        else:
            return
        if not fin:
            self._writable.add(stream)

    def _send(self) -> None:
        stream, size = self._script.number() % 8, self._script.number(2)
        if stream in self._writable and size <= self._session.credit(stream):
            fin = size % 5 == 0
            self._session.send(stream, bytes(size), fin=fin)
            if fin:
                self._writable.discard(stream)

    def _take(self) -> None:
        stream = self._script.number() % 8
        if stream in self._untaken:
            self._session.taken(stream, self._untaken[stream])
            self._untaken[stream] = 0

    def _reset(self) -> None:
        stream = self._script.number() % 8
        self._session.reset(stream, Reason.CANCELLED)
        self._forget(stream)

    def _wait(self) -> None:
        self._now += self._script.number() / 8
        self._session.on_time(self._now)

    def _forget(self, stream: int) -> None:
        self._untaken.pop(stream, None)
        self._unanswered.discard(stream)
        self._writable.discard(stream)


def check_frames(message: bytes) -> list[int]:
    """Return the kinds of the frames in a message of ours, which must be complete."""
    return [kind & 0x7F for kind in _kinds(message)]


def _kinds(message: bytes) -> Iterator[int]:
    at = 0
    while at < len(message):
        size, _, kind = frames.HEADER.unpack_from(message, at)
        at += frames.HEADER_BYTES + size
        assert at <= len(message)
        yield kind


def hub(data: bytes) -> None:
    """Target the service's end, against a hostile agent."""
    _run(Role.HUB, data)


def agent(data: bytes) -> None:
    """Target the agent's end, against a hostile service."""
    _run(Role.AGENT, data)


def _run(role: Role, data: bytes) -> None:
    script = Script(data)
    end = End(role, script)
    while not (script.is_over or end.is_over):
        end.step()
