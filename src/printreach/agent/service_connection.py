"""One connection of the agent to the service, from dialling to the end of its tunnel."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

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
from printreach.tunnel.link import Link
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.events import StreamOpened
from printreach.wire.session import Role, Session

log = logging.getLogger(__name__)

LOOK_FOR_LAN_EVERY_S: Final = 60.0
CAPABILITIES = (DETECTOR_NEWS, HOST_API_KEYS, LOWER_CASE_METHODS, REMOTE_CONTROL, REQUEST_IDS)
"""The agent's capabilities beyond the first version of the protocol."""

_REFUSALS: dict[int, str] = {
    CloseCode.REPLACED: "Another agent with the same key has connected; two must not share one.",
    CloseCode.NOT_WELCOME: "The service refused the sign-in.",
    CloseCode.VERSION_UNSUPPORTED: "The service speaks another version: update the agent.",
}


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
