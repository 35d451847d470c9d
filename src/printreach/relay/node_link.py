"""A standing link between two nodes: the dialling one opens streams to printers of the other.

It is the tunnel's own protocol, so flow control reaches from the caller to the printer, and many
printers share it. Both ends prove that they have the service's key before any stream is opened.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Final, Protocol

from picows import WSError, ws_connect

from printreach.contract.node_words import (
    NONCE_BYTES,
    Challenge,
    Hello,
    Holds,
    MadeKey,
    MakeKey,
    Moves,
    NotHere,
    Proof,
    StandsBy,
    Who,
    decode_from_answering,
    decode_from_dialling,
    encode,
)
from printreach.http1.request_ids import about
from printreach.http1.tracing import Span, Tracing
from printreach.rules.connections.credentials import TokenBytes, new_record_id
from printreach.rules.nodes import Meeting, NodeKey, Side, is_proof, proof_of
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.events import StreamOpened
from printreach.wire.frames import MAX_MESSAGE_BYTES
from printreach.wire.heads import decode_request_line, request_id_in
from printreach.wire.session import Role, Session

from .route import TRACE_PARENTS, Prefix, Route, split_prefix
from .splice import splice

log = logging.getLogger(__name__)

NODE_PATH: Final = "/api/node/tunnel"
DIAL_TIMEOUT_S: Final = 3.0
"""The time-out of a link, with both proofs: nodes are in one network."""
KEY_TIMEOUT_S: Final = 28.0
"""Longer than the node waits for its agent."""
MAX_LINK_STREAMS: Final = 16_384
"""Streams at once between two nodes, of all printers; each printer's own tunnel has its limit."""


class NotReached(Exception):
    """A node can't be reached; the text is a sentence."""


class OutwardLink:
    """The dialling end of a link to the node that holds a printer's tunnel."""

    def __init__(
        self,
        link: WebSocketLink,
        key: NodeKey,
        own_id: str,
        node: str,
        token_bytes: TokenBytes,
        *,
        on_not_here: Callable[[str, str], None],
        on_holds: Callable[[Holds | StandsBy], None],
        on_moves: Callable[[Moves], None],
        on_draining: Callable[[str], None],
        on_closed: Callable[["OutwardLink"], None],
    ) -> None:
        """node: the id that the other end must have. on_not_here: is told of a printer and of the
        node, on_draining of the node.
        """
        self._on_holds = on_holds
        self._on_moves = on_moves
        self._on_draining = on_draining
        self.node = node
        self._key = key
        self._own_id = own_id
        self._token_bytes = token_bytes
        self._nonce = token_bytes(NONCE_BYTES)
        self._on_not_here = on_not_here
        self._on_closed = on_closed
        loop = asyncio.get_running_loop()
        self.is_proven: asyncio.Future[None] = loop.create_future()
        self._asked: dict[str, asyncio.Future[str | None]] = {}
        session = Session(Role.HUB, now=loop.time(), max_streams=MAX_LINK_STREAMS)
        session.notice_sooner()
        self.tunnel = Tunnel(session, link, self)
        self.tunnel.start()

    @property
    def is_open(self) -> bool:
        """True while it may open streams."""
        return self.is_proven.done() and self.tunnel.session.may_open

    @property
    def may_ask(self) -> bool:
        """True while the other end answers, also one that stops."""
        return self.is_proven.done() and not self.tunnel.is_closed

    def ask(self, printer_id: str) -> None:
        """Ask the other end whether it holds the printer's tunnel."""
        self.tunnel.message(encode(Who(node=self._own_id, printer_id=printer_id)))

    async def make_key(self, printer_id: str, app_name: str) -> str | None:
        """Have the printer's agent make an API key."""
        request_id = new_record_id(self._token_bytes)
        asked: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = asked
        wanted = MakeKey(request_id=request_id, printer_id=printer_id, app_name=app_name)
        try:
            async with asyncio.timeout(KEY_TIMEOUT_S):
                self.tunnel.message(encode(wanted))
                return await asked
        except TimeoutError:
            return None
        finally:
            del self._asked[request_id]

    # --- TunnelHandler --------------------------------------------------------------------------

    def on_tunnel_ready(self, _capabilities: frozenset[str]) -> None:
        self.tunnel.message(encode(Hello(node=self._own_id, nonce=self._nonce)))

    def on_stream(self, stream: Stream, _opened: StreamOpened) -> None:
        stream.reset(Reason.REFUSED)  # unreachable: the session refuses it before

    def on_tunnel_message(self, payload: bytes) -> None:
        match decode_from_answering(payload):
            case Challenge() as challenge:
                self._on_challenge(challenge)
            case NotHere(printer_id=printer_id):
                self._on_not_here(printer_id, self.node)
            case (Holds(node=node) | StandsBy(node=node)) as said if node == self.node:
                self._on_holds(said)
            case Moves(node=node) as said if node == self.node:
                self._on_moves(said)
            case Holds() | StandsBy() | Moves():
                pass  # a node speaks for itself alone
            case MadeKey(request_id=request_id, api_key=api_key):
                asked = self._asked.get(request_id)
                if asked is not None and not asked.done():
                    asked.set_result(api_key)
            case None:
                pass  # of a newer version

    def on_tunnel_draining(self) -> None:
        """The node stops: tell it that no further stream is on its way; running ones finish."""
        self.tunnel.drain()
        self._on_draining(self.node)

    def on_tunnel_closed(self, _code: int | None, text: str) -> None:
        if not self.is_proven.done():
            self.is_proven.set_exception(NotReached(text or "it said no more"))
        for asked in self._asked.values():
            if not asked.done():
                asked.set_result(None)
        self._on_closed(self)

    def _on_challenge(self, challenge: Challenge) -> None:
        meeting = Meeting(
            dialling_node=self._own_id,
            answering_node=self.node,
            dialling_nonce=self._nonce,
            answering_nonce=challenge.nonce,
        )
        if self.is_proven.done() or not is_proof(
            self._key, Side.ANSWERING, meeting, challenge.proof
        ):
            self.tunnel.close(CloseCode.NOT_WELCOME, "this is not the node that was dialled")
            return
        self.tunnel.message(encode(Proof(proof=proof_of(self._key, Side.DIALLING, meeting))))
        self.is_proven.set_result(None)


class Held(Protocol):
    """What a node does for others with the tunnels that it holds."""

    def find_here(self, printer_id: str) -> Route | None: ...
    def told(self, printer_id: str) -> Holds | StandsBy | Moves | None:
        """Return what this node says of a tunnel; None if it doesn't hold it."""
        ...

    async def make_key_here(self, printer_id: str, app_name: str) -> str | None: ...


class InwardLink:
    """The answering end: streams of another node go to printers whose tunnels end here, and no
    further.
    """

    def __init__(
        self,
        link: WebSocketLink,
        key: NodeKey,
        own_id: str,
        token_bytes: TokenBytes,
        held: Held,
        on_closed: Callable[["InwardLink"], None],
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._link = link
        self._key = key
        self._own_id = own_id
        self._nonce = token_bytes(NONCE_BYTES)
        self._held = held
        self._on_closed = on_closed
        self._meeting: Meeting | None = None
        self.is_proven = False
        self._is_quiet = asyncio.Event()  # the other end opens no stream any more
        self._tasks: set[asyncio.Task[None]] = set()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(DIAL_TIMEOUT_S, self._end_unproven)
        session = Session(
            Role.AGENT,
            now=loop.time(),
            capabilities=(TRACE_PARENTS,),
            max_streams=MAX_LINK_STREAMS,
        )
        session.notice_sooner()
        self.tunnel = Tunnel(session, link, self)
        self.tunnel.start()

    @property
    def address(self) -> str:
        """The other end's IP address; "" while its handshake goes on."""
        return self._link.peer_address

    # --- TunnelHandler --------------------------------------------------------------------------

    def on_tunnel_ready(self, _capabilities: frozenset[str]) -> None:
        pass  # the other end speaks first

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        if not self.is_proven:
            stream.reset(Reason.REFUSED)
            return
        prefix, head = split_prefix(opened.head)
        printer_id = prefix.printer_id
        route = self._held.find_here(printer_id)
        if log.isEnabledFor(logging.DEBUG):
            self._log_request(printer_id, head, "passed on" if route else "not here any more")
        if route is None:
            # It is not looked for at a third node: two that are out of date could go in circles.
            self.tunnel.message(encode(NotHere(printer_id=printer_id)))
            stream.reset(Reason.PRINTER_LOST)
        else:
            span = None if self._tracing is None else self._begin_span(prefix, head)
            splice(stream, opened, head, route, is_own=prefix.is_own, span=span)

    def on_tunnel_message(self, payload: bytes) -> None:
        match decode_from_dialling(payload):
            case Hello() as hello if self._meeting is None:
                self._on_hello(hello)
            case Proof(proof=proof) if self._meeting is not None and not self.is_proven:
                self._on_proof(self._meeting, proof)
            case Who(printer_id=printer_id) if self.is_proven:
                if (told := self._held.told(printer_id)) is not None:
                    self.tunnel.message(encode(told))
            case MakeKey() as wanted if self.is_proven:
                task = asyncio.create_task(self._make_key(wanted))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case None:
                pass  # of a newer version
            case _:
                self.tunnel.close(CloseCode.NOT_WELCOME, "a message has no place here")

    def on_tunnel_draining(self) -> None:
        self._is_quiet.set()

    async def drain(self) -> None:
        """Take no new streams; wait until those that are on their way have come."""
        if self.is_proven:
            self.tunnel.drain()
            await self._is_quiet.wait()

    def on_tunnel_closed(self, _code: int | None, _text: str) -> None:
        self._is_quiet.set()
        self._deadline.cancel()
        for task in self._tasks:
            task.cancel()
        self._on_closed(self)

    # --- helpers --------------------------------------------------------------------------------

    def _on_hello(self, hello: Hello) -> None:
        meeting = self._meeting = Meeting(
            dialling_node=hello.node,
            answering_node=self._own_id,
            dialling_nonce=hello.nonce,
            answering_nonce=self._nonce,
        )
        proof = proof_of(self._key, Side.ANSWERING, meeting)
        self.tunnel.message(encode(Challenge(node=self._own_id, nonce=self._nonce, proof=proof)))

    def _on_proof(self, meeting: Meeting, proof: bytes) -> None:
        if not is_proof(self._key, Side.DIALLING, meeting, proof):
            log.warning(
                "refused to link with %r: it doesn't have this service's key", meeting.dialling_node
            )
            self.tunnel.close(CloseCode.NOT_WELCOME, "this is no node of the service")
            return
        self.is_proven = True
        self._deadline.cancel()
        self._link.trust()

    def _log_request(self, printer_id: str, head: bytes, outcome: str) -> None:
        node = self._meeting.dialling_node if self._meeting else ""
        words, request_id = "printer %s: a request by node %s: %s", request_id_in(head)
        log.debug(words, printer_id, node, outcome, extra=about(request_id))

    def _begin_span(self, prefix: Prefix, head: bytes) -> Span | None:
        try:
            line = decode_request_line(head)
        except RemoteProtocolError:
            return None  # the agent will refuse it
        assert self._tracing is not None
        return self._tracing.begin_passing_on(
            line.method, line.request_id, prefix.trace_parent, prefix.printer_id
        )

    def _end_unproven(self) -> None:
        if not self.is_proven:
            self.tunnel.close(CloseCode.NOT_WELCOME, "no proof came in time")

    async def _make_key(self, wanted: MakeKey) -> None:
        api_key = await self._held.make_key_here(wanted.printer_id, wanted.app_name)
        self.tunnel.message(encode(MadeKey(request_id=wanted.request_id, api_key=api_key)))


async def dial(address: str, tls: ssl.SSLContext | None) -> WebSocketLink:
    """Connect to a node. address: `ws://HOST:PORT` or `wss://HOST:PORT`. Raises NotReached."""
    link = WebSocketLink()
    try:
        await ws_connect(
            lambda: link,
            address + NODE_PATH,
            ssl_context=tls if address.startswith("wss:") else None,
            websocket_handshake_timeout=DIAL_TIMEOUT_S,
            max_frame_size=MAX_MESSAGE_BYTES,
            max_redirects=0,
            enable_auto_pong=False,  # the link answers pings
            extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
        )
    except (WSError, OSError, ValueError) as error:
        raise NotReached(str(error) or type(error).__name__) from error
    except asyncio.CancelledError:
        link.abort()
        raise
    if not link.is_connected:
        raise NotReached("it closed the connection")
    return link
