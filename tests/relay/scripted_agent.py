"""An agent whose messages a test scripts: it signs in as real ones do, then runs a script."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from picows import ws_connect

from printreach.contract import signin
from printreach.contract.unset import UNSET, UnsetType
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.printers.signin import Signer, statement
from printreach.tunnel.link import Link
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire import frames
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.heads import Headers, RequestHead, decode_request, encode_response
from printreach.wire.session import Role, Session
from tests.relay.waiting import PATIENCE_S, until

SERVICE_HOST = "relay.example"
NONCE = b"a".ljust(signin.NONCE_BYTES, b"n")


class CountingLink(WebSocketLink):
    """A link that counts the bytes that went over it."""

    sent_bytes = 0

    def send(self, message: bytes) -> None:
        self.sent_bytes += len(message)
        super().send(message)

    def stop_reading(self) -> None:
        """Stop reading from the socket."""
        assert self._transport is not None
        self._transport.underlying_transport.pause_reading()

    def go_on_reading(self) -> None:
        """Read from the socket again."""
        assert self._transport is not None
        self._transport.underlying_transport.resume_reading()


Message = TypeVar("Message", bound=signin.FromService)


def key_of(name: str) -> Ed25519PrivateKey:
    """Return the same key for the same name."""
    return Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b"."))


def printer_id(name: str) -> str:
    return printer_id_of(key_of(name).public_key().public_bytes_raw())


@dataclass
class Asked:
    """One request as it reached the agent."""

    stream: Stream
    opened: StreamOpened
    head: RequestHead
    body: bytes
    is_complete: bool
    reset: Reason | None = None
    credit_came: int = 0
    takes_body: bool = True
    when_complete: "Callable[[Asked], object] | None" = None

    @property
    def target(self) -> bytes:
        return self.head.target

    def all(self, name: bytes) -> list[bytes]:
        """Every value of a header; name in lower case."""
        return [value for key, value in self.head.headers if key.lower() == name]

    def answer(
        self,
        status: int = 200,
        headers: Headers | None = None,
        body: bytes = b"",
        *,
        reason: bytes = b"OK",
        fin: bool = True,
    ) -> bool:
        """Answer, with just these headers. False: some of the body waits for credit."""
        return self.stream.respond(encode_response(status, reason, headers or []), body, fin=fin)

    def answer_with_length(self, body: bytes) -> None:
        self.answer(headers=[(b"Content-Length", b"%d" % len(body))], body=body)

    # --- what the stream tells --------------------------------------------------------------------

    def on_data(self, data: bytes, fin: bool) -> None:
        self.body += data
        self.is_complete = fin
        if self.takes_body:
            self.stream.taken(len(data))
        if fin and self.when_complete is not None:
            self.when_complete(self)

    def on_writable(self) -> None:
        self.credit_came += 1

    def on_reset(self, reason: Reason, _text: str) -> None:
        self.reset = reason

    def on_head(self, _head: bytes, _body: bytes, _fin: bool) -> None:
        raise AssertionError("a relay does not answer")

    def on_interim(self, _head: bytes) -> None:
        raise AssertionError("a relay does not answer")


Script = Callable[[Asked], object]


def echo(asked: Asked) -> None:
    """Answer with what was asked, so that a test sees which request an answer is for."""
    asked.answer_with_length(asked.head.method + b" " + asked.target)


def answer_when_complete(asked: Asked) -> None:
    """Answer at once, or else when the last of the body comes."""
    if asked.is_complete:
        asked.answer_with_length(b"" if asked.head.method == b"HEAD" else asked.target)
    else:
        asked.when_complete = answer_when_complete


def answer_with_size_of_body(asked: Asked) -> None:
    """Answer with the number of bytes that were uploaded, once all are here."""
    if asked.is_complete:
        asked.answer_with_length(b"%d" % len(asked.body))
    else:
        asked.when_complete = answer_with_size_of_body


def ignore(asked: Asked) -> None:
    """Leave the request without an answer."""


def send_for_ever(asked: Asked) -> None:
    """Answer with a body that goes on as long as there is credit."""
    asked.answer(fin=False)
    asked.stream.send(b"x" * 10_000_000)


@dataclass
class ScriptedAgent:
    """One tunnel's agent end.

    asked: every request so far. script: what is done with a new one. closed: why the tunnel
    ended. heard: what the service said of sign-in, in order. understood: its capabilities.
    agent_run: as newer agents say it; of theirs one may be a standby.
    """

    name: str
    script: Script = echo
    takes_bodies: bool = True
    capabilities: tuple[str, ...] = ()
    platform: str = "moonraker"
    agent_run: str | UnsetType = UNSET
    is_standby: bool = False
    asked: list[Asked] = field(default_factory=list)
    heard: list[signin.FromService] = field(default_factory=list)
    closed: tuple[CloseCode | int | None, str] | None = None
    is_ready: bool = False
    understood: frozenset[str] = frozenset()
    is_asked_to_move: bool = False
    link: CountingLink = field(default_factory=CountingLink)
    tunnel: Tunnel = field(init=False)

    @property
    def key(self) -> Ed25519PrivateKey:
        return key_of(self.name)

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    @property
    def printer_id(self) -> str:
        return printer_id(self.name)

    # --- what a test does -------------------------------------------------------------------------

    async def dial(self, port: int) -> None:
        """Connect, up to the other end's HELLO."""
        await ws_connect(
            lambda: self.link,
            f"ws://127.0.0.1:{port}/api/agent/tunnel",
            max_frame_size=frames.MAX_MESSAGE_BYTES,
            websocket_handshake_timeout=PATIENCE_S,
            extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
        )
        await self.begin(self.link)

    async def begin(self, link: Link) -> None:
        """Open the tunnel on a link that is there, up to the other end's HELLO."""
        now = asyncio.get_running_loop().time()
        session = Session(Role.AGENT, now=now, capabilities=self.capabilities)
        self.tunnel = Tunnel(session, link, self)
        self.tunnel.start()
        await until(lambda: self.is_ready or self.closed)

    def say(self, message: signin.FromAgent) -> None:
        self.tunnel.message(signin.encode(message))

    async def hear(self, kind: type[Message]) -> Message:
        """The latest message of a kind, as soon as there is one. Fails when the tunnel ends."""
        await until(lambda: self._latest(kind) is not None or self.closed)
        message = self._latest(kind)
        assert message is not None, self.closed
        return message

    def hello(
        self, *, lan_ip: str | None = None, lan_port: int | UnsetType = UNSET
    ) -> signin.Hello:
        return signin.Hello(
            public_key=self.public_key,
            nonce=NONCE,
            service_host=SERVICE_HOST,
            agent_version="0.1.0",
            platform=self.platform,
            lan_ip=lan_ip,
            lan_port=lan_port,
            agent_run=self.agent_run,
            is_standby=True if self.is_standby else UNSET,
        )

    def proof_for(self, challenge: signin.Challenge) -> signin.Proof:
        return signin.Proof(signature=self.key.sign(self.said_by(Signer.AGENT, challenge)))

    def said_by(self, signer: Signer, challenge: signin.Challenge) -> bytes:
        return statement(
            signer,
            service_host=SERVICE_HOST,
            service_key=challenge.service_key,
            service_nonce=challenge.nonce,
            agent_key=self.public_key,
            agent_nonce=NONCE,
        )

    async def prove(self, *, lan_ip: str | None = None, lan_port: int | UnsetType = UNSET) -> None:
        """Sign in up to our last message."""
        self.say(self.hello(lan_ip=lan_ip, lan_port=lan_port))
        challenge = await self.hear(signin.Challenge)
        Ed25519PublicKey.from_public_bytes(challenge.service_key).verify(
            challenge.signature, self.said_by(Signer.SERVICE, challenge)
        )
        self.say(self.proof_for(challenge))

    async def sign_in(
        self, port: int, *, lan_ip: str | None = None, lan_port: int | UnsetType = UNSET
    ) -> None:
        """Sign in completely, for an agent whose printer is linked."""
        await self.dial(port)
        await self.prove(lan_ip=lan_ip, lan_port=lan_port)
        await self.hear(signin.Welcome)

    async def next(self, number: int = 1) -> Asked:
        """The request of that number, counted from one, as soon as it has come."""
        await until(lambda: len(self.asked) >= number)
        return self.asked[number - 1]

    def send_frame(self, kind: int, stream: int, payload: bytes = b"") -> None:
        """Send a frame without our own session, which would refuse those of a hostile agent."""
        self.link.send(frames.frame(kind, stream, payload))

    def send_head(self, asked: Asked, head: bytes, body: bytes = b"", *, fin: bool = True) -> None:
        """Answer with any bytes as the head."""
        kind = frames.Kind.HEAD | (frames.FIN if fin else 0)
        self.send_frame(kind, asked.stream.id, frames.encode_head(head, body))

    def leave(self) -> None:
        self.link.abort()

    # --- TunnelHandler ----------------------------------------------------------------------------

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        self.is_ready = True
        self.understood = capabilities

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        head = decode_request(opened.head)
        asked = Asked(stream, opened, head, opened.body, opened.fin, takes_body=self.takes_bodies)
        stream.handler = asked
        self.asked.append(asked)
        if self.takes_bodies:
            stream.taken(len(opened.body))
        self.script(asked)

    def on_tunnel_message(self, payload: bytes) -> None:
        self.heard.append(signin.decode_from_service(payload))

    def on_tunnel_draining(self) -> None:
        self.is_asked_to_move = True

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        self.closed = (code, text)

    def _latest(self, kind: type[Message]) -> Message | None:
        said = [message for message in self.heard if isinstance(message, kind)]
        return said[-1] if said else None
