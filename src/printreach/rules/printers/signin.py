"""The statements that agent and service sign in the handshake.

Each signs both identities, both nonces and the address that was dialled: a signature made for one
sign-in, one service or one side is useless in another. The agent has pinned the service's key when
it was linked, so an impostor is refused whatever certificate it shows.
"""

from enum import Enum
from ipaddress import ip_address

_LOCAL_SUFFIXES = (".local", ".lan", ".home.arpa", ".internal", ".localhost")


class Signer(Enum):
    SERVICE = b"service"
    AGENT = b"agent"


def is_ours(dialled: str, own: str) -> bool:
    """Whether an agent that dialled this host meant this service.

    dialled, own: hosts with an optional port; own is the base URL's. Names of a local network and
    private addresses count too, since agents in the house may not reach the public name. Anything
    else was dialled for another service, which then passes a sign-in on to us: were it taken, that
    service would answer for a printer of ours.
    """
    name = _name(dialled)
    if name == _name(own) or ("." not in name and ":" not in name):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return name.endswith(_LOCAL_SUFFIXES)
    return address.is_private or address.is_loopback or address.is_link_local


def _name(host: str) -> str:
    """Lower case, without port, brackets and final dot."""
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")


def statement(
    signer: Signer,
    *,
    service_host: str,
    service_key: bytes,
    service_nonce: bytes,
    agent_key: bytes,
    agent_nonce: bytes,
) -> bytes:
    """Return the bytes to sign: every part with its length before it, none can run into another."""
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
