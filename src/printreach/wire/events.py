"""The events that a session reports. They are small named tuples, made for every frame."""

from typing import NamedTuple

from .errors import Reason


class PeerReady(NamedTuple):
    """The other end's HELLO arrived and fits; always the first event."""

    version: int
    capabilities: frozenset[str]


class StreamOpened(NamedTuple):
    stream: int
    head: bytes
    body: bytes
    fin: bool
    upgrade: bool  # a WebSocket handshake: after a 101 the bytes are raw both ways
    secure: bool  # the caller came by https


class InterimReceived(NamedTuple):
    stream: int
    head: bytes


class HeadReceived(NamedTuple):
    stream: int
    head: bytes
    body: bytes
    fin: bool


class DataReceived(NamedTuple):
    """Body bytes of one frame, or of several frames that followed each other in a message."""

    stream: int
    data: bytes  # empty only where fin is set
    fin: bool


class CreditReceived(NamedTuple):
    stream: int


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
