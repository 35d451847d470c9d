"""A service in this process, over a real WebSocket, that says at sign-in what a test wants."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from picows import WSUpgradeRequest, ws_create_server

from printreach.contract import signin
from printreach.rules.printers.signin import Signer, statement
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.tunnel.websocket_link import WebSocketLink
from printreach.wire.errors import CloseCode
from printreach.wire.events import StreamOpened
from printreach.wire.frames import MAX_MESSAGE_BYTES
from printreach.wire.session import Role, Session
from tests.agent.contexts import ServiceKey

TIMEOUT_S = 30.0
"""Longer than a busy machine stands still."""
NONCE = b"n" * 32
OFFER = signin.LinkOffer(
    link_code="ACDEFG34", link_url="http://print.example.org/link", expires_in_sec=600
)


class ServiceVisit:
    """One agent's tunnel, at the service."""

    def __init__(
        self, link: WebSocketLink, key: ServiceKey, path: str, capabilities: tuple[str, ...] = ()
    ) -> None:
        self.path = path
        self._key = key
        self._inbox: asyncio.Queue[signin.FromAgent] = asyncio.Queue()
        self.hello: signin.Hello
        self.is_closed = asyncio.Event()
        self.closing: tuple[CloseCode | int | None, str] = (None, "")
        now = asyncio.get_running_loop().time()
        session = Session(Role.HUB, now=now, capabilities=capabilities)
        self.tunnel = Tunnel(session, link, self)

    async def heard(self) -> signin.FromAgent:
        """The agent's next message."""
        async with asyncio.timeout(TIMEOUT_S):
            return await self._inbox.get()

    def says(self, message: signin.FromService) -> None:
        self.tunnel.message(signin.encode(message))

    async def challenge(self) -> None:
        """Hear who it is, and say who we are."""
        hello = await self.heard()
        assert isinstance(hello, signin.Hello)
        self.hello = hello
        signed = statement(
            Signer.SERVICE,
            service_host=hello.service_host,
            service_key=self._key.public,
            service_nonce=NONCE,
            agent_key=hello.public_key,
            agent_nonce=hello.nonce,
        )
        self.says(
            signin.Challenge(
                service_key=self._key.public,
                nonce=NONCE,
                signature=self._key.sign(signed),
                time_unix_sec=1_777_636_800,
            )
        )

    async def sign_in(self) -> None:
        """Until the agent has proved itself."""
        await self.challenge()
        assert isinstance(await self.heard(), signin.Proof)

    async def welcome(self) -> None:
        await self.sign_in()
        self.says(signin.Welcome(printer_id="printer", printer_name="Voron"))

    async def end(self) -> tuple[CloseCode | int | None, str]:
        """Wait for the end of the tunnel."""
        async with asyncio.timeout(TIMEOUT_S):
            await self.is_closed.wait()
        return self.closing

    def unheard(self) -> list[signin.FromAgent]:
        """The agent's messages that no test has read."""
        return [self._inbox.get_nowait() for _ in range(self._inbox.qsize())]

    # --- TunnelHandler ----------------------------------------------------------------------------

    def on_tunnel_ready(self, _capabilities: frozenset[str]) -> None: ...
    def on_stream(self, _stream: Stream, _opened: StreamOpened) -> None: ...
    def on_tunnel_draining(self) -> None: ...

    def on_tunnel_message(self, payload: bytes) -> None:
        self._inbox.put_nowait(signin.decode_from_agent(payload))

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        self.closing = (code, text)
        self.is_closed.set()


class Service:
    """Accepts agents. key: whose it says to be, for the visits from now on."""

    def __init__(self) -> None:
        self.key = ServiceKey()
        self.capabilities: tuple[str, ...] = ()
        self.port = 0
        self.visits: asyncio.Queue[ServiceVisit] = asyncio.Queue()
        self.accepted = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def visit(self) -> ServiceVisit:
        """The next agent, or the next try of one."""
        async with asyncio.timeout(TIMEOUT_S):
            return await self.visits.get()

    def arrived(self, request: WSUpgradeRequest) -> WebSocketLink:
        self.accepted += 1
        link = WebSocketLink()
        visit = ServiceVisit(link, self.key, request.path.decode(), self.capabilities)
        self.visits.put_nowait(visit)
        asyncio.get_running_loop().call_soon(visit.tunnel.start)
        return link


@asynccontextmanager
async def scripted_service() -> AsyncIterator[Service]:
    service = Service()
    server = await ws_create_server(
        service.arrived,
        "127.0.0.1",
        0,
        max_frame_size=MAX_MESSAGE_BYTES,
        enable_auto_pong=False,
        websocket_handshake_timeout=TIMEOUT_S,
    )
    service.port = server.sockets[0].getsockname()[1]
    try:
        yield service
    finally:
        server.close()


@asynccontextmanager
async def answering(answer: bytes, *, hangs: bool = False) -> AsyncIterator[str]:
    """A server that says this to whoever asks, and closes; its URL."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        if hangs:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
