"""The agent's side of the tunnel: connect, sign in, serve, and connect again."""

import asyncio
import errno
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from printreach.agent.addresses import WebAddress
from printreach.agent.local_http import LocalRequests
from printreach.agent.runtime import AgentContext
from printreach.agent.serve import StreamServer
from printreach.agent.service_link import NotConnected, SuspendAwareLink, dial
from printreach.agent.signin import AgentHandshake, ServiceRefused
from printreach.contract.signin import (
    DETECTOR_NEWS,
    EVENTS,
    HOST_API_KEYS,
    LOWER_CASE_METHODS,
    REMOTE_CONTROL,
    REQUEST_IDS,
    SEVERAL_NODES,
)
from printreach.http1.client import Client, Connect
from printreach.limiters.request_queue import RequestQueue
from printreach.printers.connecting import unverified_tls
from printreach.rules.printers import RECONNECT
from printreach.tunnel.link import Link
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.events import StreamOpened
from printreach.wire.session import Role, Session

log = logging.getLogger(__name__)

STEADY_S = 10.0
"""A tunnel that lasted less counts as a failure, so that the agent backs off."""
MOVE_WITHIN_S = 1.0
"""The time over which agents reconnect to a service that restarts."""
LOOK_FOR_LAN_EVERY_S = 60.0
LONG_WAIT_S = 60.0
"""Seconds to wait after a refusal: nothing changes until a person acts."""
MAX_UNANSWERED = 64
"""How many requests may wait for the printer's answer: a page sends fewer, and a Raspberry Pi can
handle as many. A request that is being answered doesn't count, so webcams don't either."""
CAPABILITIES = (DETECTOR_NEWS, HOST_API_KEYS, LOWER_CASE_METHODS, REMOTE_CONTROL, REQUEST_IDS)
"""The agent's capabilities beyond the first version of the protocol."""

_REFUSALS: dict[int, str] = {
    CloseCode.REPLACED: "Another agent with the same key has connected; two must not share one.",
    CloseCode.NOT_WELCOME: "The service refused the sign-in.",
    CloseCode.VERSION_UNSUPPORTED: "The service speaks another version: update the agent.",
}
TELL_EVERY_S: Final = 60.0
_SHORT_OF_DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE})


class Uplink:
    """Keeps one tunnel to the service while the agent runs."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._is_stopping = asyncio.Event()
        self._connections: set[ServiceConnection] = set()  # more than one while the agent moves

    async def run(self) -> None:
        server, client = _stream_server(self._context)
        loop = asyncio.get_running_loop()
        failures = 0
        was_linked = False  # that the agent is linked
        try:
            while not self._is_stopping.is_set():
                began_at = loop.time()
                connection = ServiceConnection(
                    self._context, server, self._connections.discard, was_linked=was_linked
                )
                self._connections.add(connection)
                end = await connection.run()
                was_linked = connection.was_linked
                lasted = end.has_served and loop.time() - began_at > STEADY_S
                failures = 1 if lasted else failures + 1
                if not self._is_stopping.is_set():
                    await self._wait(end, failures)
        finally:
            for connection in list(self._connections):
                connection.leave()
            if client is not None:
                await client.close()

    async def stop(self) -> None:
        self._is_stopping.set()
        for connection in list(self._connections):
            connection.leave()

    async def _wait(self, end: "ConnectionEnd", failures: int) -> None:
        context = self._context
        if end.is_moving:
            # No announcement: the old tunnel still serves what it carries.
            await self._sleep(context.machine.uniform(0.0, MOVE_WITHIN_S))
            return
        delay_s = RECONNECT.jittered_s(failures, context.machine.uniform)
        if end.is_refusal:
            delay_s += LONG_WAIT_S
        retry_at = context.machine.monotonic() + delay_s
        if end.is_refusal:
            context.state.refused(end.sentence, retry_at)
        else:
            context.state.disconnected(end.sentence, retry_at)
        log.warning("%s Next try in %.1f s.", end.sentence, delay_s)
        context.announce.disconnected(delay_s)
        await self._sleep(delay_s)

    async def _sleep(self, delay_s: float) -> None:
        try:
            async with asyncio.timeout(delay_s):
                await self._is_stopping.wait()
        except TimeoutError:
            pass  # time for the next try


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectionEnd:
    """The end of a connection. is_moving: its streams continue while the next one begins."""

    sentence: str
    is_refusal: bool = False
    has_served: bool = False
    is_moving: bool = False


class ServiceConnection:
    """One connection to the service, from dialling to its end."""

    def __init__(
        self,
        context: AgentContext,
        server: StreamServer,
        on_closed: Callable[["ServiceConnection"], None],
        *,
        was_linked: bool,
    ) -> None:
        self._context = context
        self._server = server
        self._on_closed = on_closed
        self._was_linked = was_linked
        self._over: asyncio.Future[ConnectionEnd] = asyncio.get_running_loop().create_future()
        self._tunnel: Tunnel | None = None
        self._handshake: AgentHandshake | None = None

    @property
    def was_linked(self) -> bool:
        """True if it was last announced that the agent is linked."""
        return self._handshake.was_linked if self._handshake else self._was_linked

    async def run(self) -> ConnectionEnd:
        self._context.state.connecting()
        tasks = [asyncio.create_task(self._dial()), asyncio.create_task(self._watch_lan())]
        try:
            return await self._over
        finally:
            for task in tasks:
                task.cancel()
            if self._tunnel is None or self._tunnel.is_closed:
                self._on_closed(self)

    def leave(self) -> None:
        """Close the tunnel because the agent stops."""
        if self._handshake is not None:
            self._handshake.end()
        if self._tunnel is not None:
            self._tunnel.close(CloseCode.NORMAL, "the agent stops")
        self._end(ConnectionEnd(sentence="The agent stops."))

    # --- TunnelHandler ----------------------------------------------------------------------------

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        tunnel = self._tunnel
        assert tunnel is not None  # it is what tells
        if SEVERAL_NODES in capabilities:
            tunnel.session.notice_sooner()
        self._handshake = AgentHandshake(
            self._context,
            tunnel.message,
            was_linked=self._was_linked,
            stores_events=EVENTS in capabilities,
        )
        self._handshake.begin()

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        if self._handshake is None or not self._handshake.is_serving:
            stream.reset(Reason.REFUSED, "This agent has not signed in.")
            return
        try:
            self._server.serve(stream, opened)
        except RemoteProtocolError as fault:
            stream.reset(Reason.REFUSED, fault.text)

    def on_tunnel_message(self, payload: bytes) -> None:
        if self._handshake is None:
            return
        try:
            self._handshake.on_message(payload)
        except ServiceRefused as refusal:
            self._end(ConnectionEnd(sentence=str(refusal), is_refusal=True))
            if self._tunnel is not None:
                self._tunnel.close(CloseCode.NOT_WELCOME, str(refusal))

    def on_tunnel_draining(self) -> None:
        """Begin the next connection, because the service restarts; streams are finished here."""
        if self._handshake is not None and self._handshake.is_serving:
            self._handshake.end()
            self._end(
                ConnectionEnd(sentence="The service restarts.", has_served=True, is_moving=True)
            )

    def on_tunnel_closed(self, code: int | None, text: str) -> None:
        self._on_closed(self)
        has_served = self._handshake is not None and self._handshake.is_serving
        if self._handshake is not None:
            self._handshake.end()
        refusal = None if code is None else _REFUSALS.get(code)
        if refusal is not None:
            self._end(
                ConnectionEnd(
                    sentence=f"{refusal} ({text})", is_refusal=True, has_served=has_served
                )
            )
        else:
            why = text or "the service said no more"
            self._end(ConnectionEnd(sentence=f"The tunnel ended: {why}.", has_served=has_served))

    # --- helpers --------------------------------------------------------------------------------

    async def _watch_lan(self) -> None:
        """Routers hand out new addresses."""
        while True:
            await asyncio.sleep(LOOK_FOR_LAN_EVERY_S)
            if self._handshake is not None:
                self._handshake.look_for_lan_address()

    async def _dial(self) -> None:
        service = self._context.config.service
        try:
            link = await dial(service)
        except NotConnected as error:
            self._end(ConnectionEnd(sentence=str(error)))
        except Exception as error:
            log.exception("dialling failed unexpectedly")
            self._end(ConnectionEnd(sentence=f"No connection to {service}: {error!r}."))
        else:
            self._begin(link)

    def _begin(self, link: Link) -> None:
        now = asyncio.get_running_loop().time()
        session = Session(Role.AGENT, now=now, capabilities=CAPABILITIES)
        self._tunnel = Tunnel(
            session, SuspendAwareLink(link, self._context.machine.monotonic), self
        )
        self._tunnel.start()

    def _end(self, end: ConnectionEnd) -> None:
        if not self._over.done():
            self._over.set_result(end)


def _stream_server(context: AgentContext) -> tuple[StreamServer, Client | None]:
    kind, server = context.config.kind, context.config.web_server
    allowed, remote_lock = context.config.limits.allowed, context.remote_lock
    commands = context.commanded.api if context.commanded is not None else None
    if server is None:
        no_server = f"A {kind.title} printer has no web server."
        streams = StreamServer(None, no_server, commands, remote_lock=remote_lock, allowed=allowed)
        return streams, None
    shortage = DescriptorShortage(context.machine.monotonic)
    client = Client(_connect_to(server, shortage), queue=RequestQueue(MAX_UNANSWERED))
    local = LocalRequests(client, server, wants_outside_host=kind.wants_outside_host)
    streams = StreamServer(local, "", commands, remote_lock=remote_lock, allowed=allowed)
    return streams, client


class DescriptorShortage:
    """Logs connections that failed for want of descriptors. monotonic: a clock, in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._logged_at: float | None = None

    def log_if_short(self, failure: OSError) -> None:
        """Log a failed connection to the printer if descriptors have run out."""
        if failure.errno not in _SHORT_OF_DESCRIPTORS:
            return
        now = self._monotonic()
        if self._logged_at is not None and now < self._logged_at + TELL_EVERY_S:
            return
        self._logged_at = now
        log.error(
            "file descriptors run out: new requests to the printer are refused until some end;"
            " LimitNOFILE= in the unit or `ulimit -n` allows more"
        )


def _connect_to(server: WebAddress, shortage: DescriptorShortage) -> Connect:
    """Connect to the printer's web server."""
    loop = asyncio.get_running_loop()
    context = unverified_tls() if server.is_tls else None

    async def connect(protocol: Callable[[], asyncio.Protocol]) -> object:
        try:
            return await loop.create_connection(protocol, server.host, server.port, ssl=context)
        except OSError as failure:
            shortage.log_if_short(failure)
            raise

    return connect
