"""The messages between nodes: on the bus, about who holds which tunnel, and on a link of two nodes.

    bus      Who ............ which node holds this printer's tunnel?
             Holds .......... this node does: the answer, and said whenever a tunnel comes
             StandsBy ....... this node holds its agent's standby tunnel, likewise
             Left ........... this node has neither of them any more
             Moves .......... this node stops, and its agent connects to another: wait for that
             Counts ......... what this node has counted of limits that hold for all nodes

    link     Hello .......... the dialling node: who I am, a nonce
             Challenge ...... the answering node: who I am, a nonce, my proof
             Proof .......... the dialling node: my proof; from now on it may open streams
             NotHere ........ the answering node: I don't hold this printer's tunnel
             Who, Holds, StandsBy, Moves .. as on the bus, which may be slow or away
             MakeKey ........ the dialling node: have the agent make an API key
             MadeKey ........ its answer

Nodes of two versions may run side by side, so unknown fields and messages are ignored.
"""

from typing import Annotated, Final, TypeVar

import msgspec

from printreach.contract.codec import BAD_JSON

NodeId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
PrinterId = Annotated[str, msgspec.Meta(max_length=64)]
Word = Annotated[str, msgspec.Meta(max_length=300)]
Nonce = Annotated[bytes, msgspec.Meta(min_length=16, max_length=64)]
Proven = Annotated[bytes, msgspec.Meta(max_length=64)]
NONCE_BYTES: Final = 32

T = TypeVar("T")


class _Message(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", tag_field="Type"):
    """One message; its class name travels as `Type`."""


class Who(_Message, frozen=True, kw_only=True, tag=True):
    node: NodeId
    printer_id: PrinterId


class HeldTunnel(_Message, frozen=True, kw_only=True):
    """address: where other nodes reach this one. epoch: the newest tunnel of a printer has the
    highest. agent_unix_s: the time of the agent's clock. capabilities: of the agent. agent_run: as
    in its Hello; "" of older agents and of older nodes.
    """

    node: NodeId
    address: Word
    printer_id: PrinterId
    epoch: int
    platform: Word
    agent_unix_s: float
    capabilities: list[Word]
    agent_run: Word = ""


class Holds(HeldTunnel, frozen=True, kw_only=True, tag=True):
    """This node holds the printer's primary tunnel, the one that any other gives way to."""


class StandsBy(HeldTunnel, frozen=True, kw_only=True, tag=True):
    """This node holds the agent's standby tunnel; older nodes don't know of it."""


class Left(_Message, frozen=True, kw_only=True, tag=True):
    node: NodeId
    printer_id: PrinterId


class Counts(_Message, frozen=True, kw_only=True, tag=True):
    """spent: limit, caller, seconds that its attempts used up, and seconds of all at once.

    held: what the node has under way, by what it is counted for; 0 for no more.
    """

    node: NodeId
    spent: list[tuple[str, str, float, float]]
    held: dict[str, int]


class Moves(_Message, frozen=True, kw_only=True, tag=True):
    node: NodeId
    printer_id: PrinterId


class Hello(_Message, frozen=True, kw_only=True, tag=True):
    node: NodeId
    nonce: Nonce


class Challenge(_Message, frozen=True, kw_only=True, tag=True):
    node: NodeId
    nonce: Nonce
    proof: Proven


class Proof(_Message, frozen=True, kw_only=True, tag=True):
    proof: Proven


class NotHere(_Message, frozen=True, kw_only=True, tag=True):
    printer_id: PrinterId


class MakeKey(_Message, frozen=True, kw_only=True, tag=True):
    request_id: Word
    printer_id: PrinterId
    app_name: Word


class MadeKey(_Message, frozen=True, kw_only=True, tag=True):
    request_id: Word
    api_key: str | None


Presence = Who | Holds | StandsBy | Left | Moves
FromDialling = Hello | Proof | MakeKey | Who
FromAnswering = Challenge | NotHere | MadeKey | Holds | StandsBy | Moves

_counts = msgspec.json.Decoder(Counts)
_presence = msgspec.json.Decoder(Presence)
_from_dialling = msgspec.json.Decoder(FromDialling)
_from_answering = msgspec.json.Decoder(FromAnswering)


def encode(message: _Message) -> bytes:
    return msgspec.json.encode(message)


def decode_presence(text: str) -> Presence | None:
    """Return what a node says on the bus; None for what this version doesn't know."""
    return _decoded(_presence, text.encode())


def decode_counts(text: str) -> Counts | None:
    """Return what a node has counted; None for what this version doesn't know."""
    return _decoded(_counts, text.encode())


def decode_from_dialling(payload: bytes) -> FromDialling | None:
    """Return what the dialling node says; None for what this version doesn't know."""
    return _decoded(_from_dialling, payload)


def decode_from_answering(payload: bytes) -> FromAnswering | None:
    """Return what the answering node says; None for what this version doesn't know."""
    return _decoded(_from_answering, payload)


def _decoded(decoder: "msgspec.json.Decoder[T]", payload: bytes) -> T | None:
    try:
        return decoder.decode(payload)
    except BAD_JSON:
        return None
