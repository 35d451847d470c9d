"""What agent and service sign when an agent signs in.

Each signs who both are, what both have drawn, and the address that was dialled: a signature made
for one sign-in, one service or one side is worth nothing in another. The agent has pinned the
service's key when it was linked, so an impostor is refused whatever certificate it shows.
"""

from collections.abc import Callable
from enum import Enum

Verify = Callable[[bytes, bytes, bytes], bool]
"""Ed25519: public key (32 bytes), signature (64 bytes), message -> is it good?"""


class Signer(Enum):
    SERVICE = b"service"
    AGENT = b"agent"


def statement(
    signer: Signer,
    *,
    service_host: str,
    service_key: bytes,
    service_nonce: bytes,
    agent_key: bytes,
    agent_nonce: bytes,
) -> bytes:
    """The bytes to sign: every part with its length before it, none can run into another."""
    parts = (
        b"printreach sign-in v1",
        signer.value,
        service_host.lower().encode(),
        service_key,
        service_nonce,
        agent_key,
        agent_nonce,
    )
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)
