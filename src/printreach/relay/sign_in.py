"""The service's side of an agent's sign-in: the agent's identity, and the proof of it."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from printreach.contract import signin
from printreach.rules.printers.signin import Signer, is_ours, statement

_HOST = re.compile(r"[0-9A-Za-z._:\[\]-]{1,300}")


class SignInRefused(Exception):
    """Sign-in failed; the text goes to the agent and into the log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """The service's own Ed25519 key, which agents pin when they are linked."""

    public_key: bytes
    sign: Callable[[bytes], bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInTransport:
    """Receives and sends the messages of one agent's sign-in."""

    receive: Callable[[], Awaitable[signin.FromAgent]]
    send: Callable[[signin.FromService], None]


async def sign_in(
    agent: SignInTransport, identity: Identity, *, own_host: str, nonce: bytes, now: datetime
) -> signin.Hello:
    """Return the agent's Hello, once it has proved its key. Raises SignInRefused.

    own_host: the base URL's, which the agent must have dialled, or a local name of this service.
    nonce: drawn for this sign-in alone.
    """
    hello = await agent.receive()
    if not isinstance(hello, signin.Hello):
        raise SignInRefused("sign-in begins with Hello")
    _check(hello, own_host)

    def said_by(signer: Signer) -> bytes:
        return statement(
            signer,
            service_host=hello.service_host,
            service_key=identity.public_key,
            service_nonce=nonce,
            agent_key=hello.public_key,
            agent_nonce=hello.nonce,
        )

    challenge = signin.Challenge(
        service_key=identity.public_key,
        nonce=nonce,
        signature=identity.sign(said_by(Signer.SERVICE)),
        time_unix_sec=int(now.timestamp()),
        time_unix_ms=int(now.timestamp() * 1000),
    )
    agent.send(challenge)
    proof = await agent.receive()
    if not isinstance(proof, signin.Proof):
        raise SignInRefused("Proof was due")
    if not _is_signed(hello.public_key, proof.signature, said_by(Signer.AGENT)):
        raise SignInRefused("the signature is not this key's")
    return hello


def _check(hello: signin.Hello, own_host: str) -> None:
    if len(hello.public_key) != 32 or len(hello.nonce) != signin.NONCE_BYTES:
        raise SignInRefused("a key and a nonce have 32 bytes each")
    if _HOST.fullmatch(hello.service_host) is None:
        raise SignInRefused("the service's host is a name with an optional port")
    if not is_ours(hello.service_host, own_host):
        raise SignInRefused(f"this service is {own_host}, not the host that the agent dialled")


def _is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
