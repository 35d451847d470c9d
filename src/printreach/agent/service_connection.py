"""One connection of the agent to the service, from dialling to the end of its tunnel."""

import asyncio
import logging
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
    STANDBY_TUNNELS,
)
from printreach.rules.connections.permissions import is_command
from printreach.tunnel.link import Link
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.events import StreamOpened
from printreach.wire.frames import MAX_STREAMS
from printreach.wire.heads import decode_request_line
from printreach.wire.session import Role, Session

log = logging.getLogger(__name__)

LOOK_FOR_LAN_EVERY_S: Final = 60.0
CAPABILITIES = (DETECTOR_NEWS, HOST_API_KEYS, LOWER_CASE_METHODS, REMOTE_CONTROL, REQUEST_IDS)
"""The agent's capabilities beyond the first version of the protocol."""
MAX_STREAMS_OF_ALL: Final = MAX_STREAMS - 64
"""Streams at once of all the agent's tunnels, but for commands: as many as a relay opens in one for
apps. The service's own orders, all of them commands, find the rest."""

_REFUSALS: dict[int, str] = {
    CloseCode.REPLACED: "Another agent with the same key has connected; two must not share one.",
    CloseCode.NOT_WELCOME: "The service refused the sign-in.",
    CloseCode.VERSION_UNSUPPORTED: "The service speaks another version: update the agent.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectionEnd:
    """The end of a connection. is_moving: its streams continue while the next one begins.

    ends_all: what the service said of it holds for the agent's other tunnel, too.
    """

    sentence: str
    is_refusal: bool = False
    has_served: bool = False
    is_moving: bool = False
    ends_all: bool = False


class ServiceConnection:
    """One connection to the service, from dialling to its end. It begins at once.

    ended: its end, while its streams may continue.
    """

    def __init__(
        self,
        context: AgentContext,
        server: StreamServer,
        open_ones: set["ServiceConnection"],
        *,
        was_linked: bool,
        agent_run: str,
        is_standby: bool = False,
    ) -> None:
        """open_ones: all of this agent whose tunnel may carry streams; this one adds and removes
        itself. was_linked, agent_run, is_standby: see AgentHandshake.
        """
        self._context = context
        self._server = server
        self._open_ones = open_ones
        self._was_linked = was_linked
        self._agent_run = agent_run
        self._is_standby = is_standby
        self._has_served = asyncio.Event()
        self._over: asyncio.Future[ConnectionEnd] = asyncio.get_running_loop().create_future()
        self._tunnel: Tunnel | None = None
        self._handshake: AgentHandshake | None = None
        open_ones.add(self)
        self.ended = asyncio.create_task(self._run())

    @property
    def was_linked(self) -> bool:
        """True if it was last announced that the agent is linked."""
        return self._handshake.was_linked if self._handshake else self._was_linked

    @property
    def is_serving(self) -> bool:
        """True while requests may come, and the service has not asked the agent to leave."""
        is_serving = self._handshake is not None and self._handshake.is_serving
        return is_serving and not self._over.done()

    @property
    def offers_standby(self) -> bool:
        """True where the service keeps a second tunnel; known once it serves."""
        return self._tunnel is not None and STANDBY_TUNNELS in self._tunnel.capabilities

    @property
    def stream_count(self) -> int:
        return 0 if self._tunnel is None else self._tunnel.session.stream_count

    async def until_it_serves(self) -> None:
        await self._has_served.wait()

    def become_primary(self) -> None:
        """Go on with this standby, which serves, because the primary connection has ended."""
        assert self._tunnel is not None
        assert self._handshake is not None
        self._is_standby = False
        self._tunnel.notice_sooner()
        self._handshake.become_primary()

    async def _run(self) -> ConnectionEnd:
        if not self._is_standby:
            self._context.state.connecting()
        tasks = [asyncio.create_task(self._dial()), asyncio.create_task(self._watch_lan())]
        try:
            return await self._over
        finally:
            for task in tasks:
                task.cancel()
            if self._tunnel is None or self._tunnel.is_closed:
                self._open_ones.discard(self)

    def leave(self, why: str = "the agent stops") -> None:
        """Close the tunnel for a reason of the agent's own."""
        if self._handshake is not None:
            self._handshake.end()
        if self._tunnel is not None:
            self._tunnel.close(CloseCode.NORMAL, why)
        self._end(ConnectionEnd(sentence=f"The tunnel was left: {why}."))

    # --- TunnelHandler ----------------------------------------------------------------------------

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        tunnel = self._tunnel
        assert tunnel is not None  # it is what tells
        has_standbys = STANDBY_TUNNELS in capabilities
        if self._is_standby and not has_standbys:
            self.leave("this node knows no standby tunnels")  # it would take it for a new primary
            return
        if SEVERAL_NODES in capabilities and not self._is_standby:
            tunnel.notice_sooner()
        self._handshake = AgentHandshake(
            self._context,
            tunnel.message,
            was_linked=self._was_linked,
            stores_events=EVENTS in capabilities,
            agent_run=self._agent_run if has_standbys else None,
            is_standby=self._is_standby,
        )
        self._handshake.begin()

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        if self._handshake is None or not self._handshake.is_serving:
            stream.reset(Reason.REFUSED, "This agent has not signed in.")
            return
        if len(self._open_ones) > 1 and self._is_too_much(opened):
            stream.reset(Reason.REFUSED, "More requests wait for the printer than it can take.")
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
            if self._handshake.is_serving:
                self._has_served.set()
        except ServiceRefused as refusal:
            self._end(ConnectionEnd(sentence=str(refusal), is_refusal=True, ends_all=True))
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
        self._open_ones.discard(self)
        has_served = self._handshake is not None and self._handshake.is_serving
        if self._handshake is not None:
            self._handshake.end()
        refusal = None if code is None else _REFUSALS.get(code)
        if refusal is not None:
            self._end(
                ConnectionEnd(
                    sentence=f"{refusal} ({text})",
                    is_refusal=True,
                    has_served=has_served,
                    ends_all=True,
                )
            )
        else:
            why = text or "the service said no more"
            self._end(
                ConnectionEnd(
                    sentence=f"The tunnel ended: {why}.",
                    has_served=has_served,
                    ends_all=code == CloseCode.UNLINKED,
                )
            )

    # --- helpers --------------------------------------------------------------------------------

    def _is_too_much(self, opened: StreamOpened) -> bool:
        """Return whether the agent's tunnels together carry too many streams for this one."""
        if sum(one.stream_count for one in self._open_ones) <= MAX_STREAMS_OF_ALL:
            return False
        try:
            return not is_command(decode_request_line(opened.head).target)
        except RemoteProtocolError:
            return False  # as the server will tell

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
