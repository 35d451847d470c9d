"""Keys that any process can make from an agent's number."""

from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.agent.keys import AgentKey


def key_of(number: int) -> AgentKey:
    """The key of the agent with this number."""
    seed = sha256(b"printreach fleet %d" % number).digest()
    return AgentKey(Ed25519PrivateKey.from_private_bytes(seed))
