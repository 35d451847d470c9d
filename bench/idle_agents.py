"""Thousands of agents in one process that sign in as real ones do and then stay idle.

    python -m bench.idle_agents PORT COUNT [FIRST]

FIRST: the number of the first one's key. Prints "ready" once the service has welcomed all of them.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import uvloop
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from picows import ws_connect

from printreach import __version__
from printreach.contract import signin
from printreach.rules.printers.signin import Signer, statement
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.frames import MAX_MESSAGE_BYTES
from printreach.wire.session import Role, Session

AT_ONCE: Final = 50
TUNNEL_PATH: Final = "/api/agent/tunnel"  # docs/protocol.md


def keys_of(count: int, first: int = 0) -> Iterator[Ed25519PrivateKey]:
    """Return keys that are the same in every process."""
    for number in range(first, first + count):
        seed = sha256(b"printreach benchmark %d" % number).digest()
        yield Ed25519PrivateKey.from_private_bytes(seed)


class IdleAgent:
    """Signs in and answers pings; it refuses requests."""

    capabilities: tuple[str, ...] = ()

    def __init__(self, key: Ed25519PrivateKey, host: str, link: WebSocketLink) -> None:
        loop = asyncio.get_running_loop()
        self.welcomed: asyncio.Future[None] = loop.create_future()
        self._key = key
        self._public_key = key.public_key().public_bytes_raw()
        self._host = host
        self._nonce = os.urandom(signin.NONCE_BYTES)
        self._tunnel = Tunnel(
            Session(Role.AGENT, now=loop.time(), capabilities=self.capabilities), link, self
        )
        self._tunnel.start()

    def on_tunnel_ready(self, _capabilities: frozenset[str]) -> None:
        self._say(
            signin.Hello(
                public_key=self._public_key,
                nonce=self._nonce,
                service_host=self._host,
                agent_version=__version__,
                platform="duet",
            )
        )

    def on_tunnel_message(self, payload: bytes) -> None:
        match signin.decode_from_service(payload):
            case signin.Challenge() as challenge:
                self._say(signin.Proof(signature=self._key.sign(self._said(challenge))))
            case signin.Welcome():
                self.welcomed.set_result(None)
            case other:
                self._fail(f"the service said {type(other).__name__}")

    def on_stream(self, stream: Stream, _opened: StreamOpened) -> None:
        stream.reset(Reason.REFUSED, "This agent is idle.")

    def on_tunnel_draining(self) -> None:
        pass

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        self._fail(f"the tunnel ended ({code}): {text}")

    def _said(self, challenge: signin.Challenge) -> bytes:
        return statement(
            Signer.AGENT,
            service_host=self._host,
            service_key=challenge.service_key,
            service_nonce=challenge.nonce,
            agent_key=self._public_key,
            agent_nonce=self._nonce,
        )

    def _say(self, message: signin.FromAgent) -> None:
        self._tunnel.message(signin.encode(message))

    def _fail(self, sentence: str) -> None:
        if not self.welcomed.done():
            self.welcomed.set_exception(ConnectionError(sentence))
        else:
            print(sentence, file=sys.stderr, flush=True)


async def _connect(key: Ed25519PrivateKey, host: str, turn: asyncio.Semaphore) -> IdleAgent:
    async with turn:
        link = WebSocketLink()
        await ws_connect(
            lambda: link,
            f"ws://{host}{TUNNEL_PATH}",
            max_frame_size=MAX_MESSAGE_BYTES,
            extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
        )
        agent = IdleAgent(key, host, link)
        await agent.welcomed
        return agent


async def _run(port: int, count: int, first: int = 0) -> None:
    turn = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_connect(key, f"127.0.0.1:{port}", turn))
            for key in keys_of(count, first)
        ]
    # References, since the event loop holds only weak ones.
    agents = [task.result() for task in tasks]
    print("ready", len(agents), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_run(*map(int, sys.argv[1:])))
