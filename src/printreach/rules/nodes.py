"""How two nodes of a service prove to each other that they belong to it."""

import hashlib
import hmac
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class NodeKey:
    """32 secret bytes, the same in every node of a service."""

    secret: bytes = field(repr=False)


class Side(StrEnum):
    """The end of a link between two nodes."""

    DIALLING = "dialling"
    ANSWERING = "answering"


@dataclass(frozen=True, kw_only=True, slots=True)
class Meeting:
    """What both ends of a link prove that they have seen. Nonces are random."""

    dialling_node: str
    answering_node: str
    dialling_nonce: bytes
    answering_nonce: bytes


def proof_of(key: NodeKey, side: Side, meeting: Meeting) -> bytes:
    """Return what proves that this side has the key. It fits no other link or side."""
    parts = (
        f"printreach node link v1 {side.value}",
        meeting.dialling_node,
        meeting.answering_node,
        meeting.dialling_nonce.hex(),
        meeting.answering_nonce.hex(),
    )
    return hmac.new(key.secret, "\n".join(parts).encode(), hashlib.sha256).digest()


def is_proof(key: NodeKey, side: Side, meeting: Meeting, given: bytes) -> bool:
    return hmac.compare_digest(proof_of(key, side, meeting), given)
