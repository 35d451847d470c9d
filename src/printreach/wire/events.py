"""The events that a session reports. One is made for every frame.

Constructors are written out, since mypyc compiles them, and not those that dataclass makes.
"""

from dataclasses import dataclass
from typing import NamedTuple

from .errors import Reason


class PeerReady(NamedTuple):
    """The other end's HELLO arrived and fits; always the first event."""

    version: int
    capabilities: frozenset[str]


@dataclass(init=False, slots=True)
class StreamOpened:
    stream: int
    head: bytes
    body: bytes
    fin: bool
    upgrade: bool  # a WebSocket handshake: after a 101 the bytes are raw both ways
    secure: bool  # the caller came by https

    def __init__(
        self, stream: int, head: bytes, body: bytes, fin: bool, upgrade: bool, secure: bool
    ) -> None:
        self.stream = stream
        self.head = head
        self.body = body
        self.fin = fin
        self.upgrade = upgrade
        self.secure = secure


class InterimReceived(NamedTuple):
    stream: int
    head: bytes


@dataclass(init=False, slots=True)
class HeadReceived:
    stream: int
    head: bytes
    body: bytes
    fin: bool

    def __init__(self, stream: int, head: bytes, body: bytes, fin: bool) -> None:
        self.stream = stream
        self.head = head
        self.body = body
        self.fin = fin


@dataclass(init=False, slots=True)
class DataReceived:
    """Body bytes of one frame, or of several frames that followed each other in a message."""

    stream: int
    data: bytes  # empty only where fin is set
    fin: bool

    def __init__(self, stream: int, data: bytes, fin: bool) -> None:
        self.stream = stream
        self.data = data
        self.fin = fin


@dataclass(init=False, slots=True)
class CreditReceived:
    stream: int

    def __init__(self, stream: int) -> None:
        self.stream = stream


class StreamReset(NamedTuple):
    stream: int
    reason: Reason
    text: str


class MessageReceived(NamedTuple):
    payload: bytes


class PeerDraining(NamedTuple):
    pass


class PeerClosed(NamedTuple):
    """The other end sent CLOSE; the link closes now."""

    code: int
    text: str


class PeerSilent(NamedTuple):
    """A ping went unanswered for too long: the link is half open or the other end is frozen."""

    silent_s: float


Event = (
    PeerReady
    | StreamOpened
    | InterimReceived
    | HeadReceived
    | DataReceived
    | CreditReceived
    | StreamReset
    | MessageReceived
    | PeerDraining
    | PeerClosed
    | PeerSilent
)
