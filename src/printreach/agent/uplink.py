"""The agent's side of the tunnel: connect, sign in, serve, and connect again."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from printreach.agent.addresses import WebAddress
from printreach.agent.descriptors import Shortage
from printreach.agent.dialling import NotConnected, dial
from printreach.agent.freshness import FreshLink
from printreach.agent.local_http import LocalRequests
from printreach.agent.runtime import AgentContext
from printreach.agent.serve import StreamServer
from printreach.agent.signin import Conversation, ServiceRefused
from printreach.contract.signin import (
    DETECTOR_NEWS,
    EVENTS,
    HOST_API_KEYS,
    LOWER_CASE_METHODS,
)
from printreach.http1.client import Client, Connect
from printreach.http1.request_queue import RequestQueue
from printreach.printers.connecting import unverified_tls
from printreach.rules.backoff import Backoff
from printreach.tunnel.link import Link
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.events import StreamOpened
from printreach.wire.session import Role, Session

log = logging.getLogger(__name__)

STEADY_S = 10.0
"""A tunnel that lasted less counts as a failure: a service that drops us is not to be hammered."""
RECONNECT = Backoff.doubling(0.5, 30.0)
"""A restart of the service costs little; after a long outage it finds its agents within half
a minute."""
MOVE_WITHIN_S = 1.0
"""Agents of a service that restarts come back spread over this long."""
LOOK_FOR_LAN_EVERY_S = 60.0
LONG_WAIT_S = 60.0
"""After a refusal: nothing changes until a person does something."""
MOST_UNANSWERED = 64
"""Requests that the printer has to answer at once: a page asks for fewer, and they are as many as a
Raspberry Pi can do with. What is being answered doesn't count, so neither do webcams."""
CAPABILITIES = (DETECTOR_NEWS, HOST_API_KEYS, LOWER_CASE_METHODS)
"""What this agent understands beside the first version of the protocol."""

_REFUSALS = {
    CloseCode.REPLACED: "Another agent with the same key has connected; two must not share one.",
    CloseCode.NOT_WELCOME: "The service refused the sign-in.",
    CloseCode.VERSION_UNSUPPORTED: "The service speaks another version: update the agent.",
}


class Uplink:
    """Keeps one tunnel to the service while the agent runs."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._is_stopping = asyncio.Event()
        self._visits: set[Visit] = set()  # more than one while the agent moves

    async def run(self) -> None:
        server, client = _stream_server(self._context)
        loop = asyncio.get_running_loop()
        failures = 0
        has_told = False  # that the agent is linked
        try:
            while not self._is_stopping.is_set():
                began_at = loop.time()
                visit = Visit(self._context, server, self._visits.discard, was_linked=has_told)
                self._visits.add(visit)
                ended = await visit.run()
                has_told = visit.was_linked
                lasted = ended.has_served and loop.time() - began_at > STEADY_S
                failures = 1 if lasted else failures + 1
                if not self._is_stopping.is_set():
                    await self._wait(ended, failures)
        finally:
            for visit in list(self._visits):
                visit.leave()
            if client is not None:
                await client.close()

    async def stop(self) -> None:
        self._is_stopping.set()
        for visit in list(self._visits):
            visit.leave()

    async def _wait(self, ended: "Ended", failures: int) -> None:
        context = self._context
        if ended.is_moving:
            # No announcement: the old tunnel still serves what it carries.
            await self._sleep(context.machine.uniform(0.0, MOVE_WITHIN_S))
            return
        delay_s = RECONNECT.jittered_s(failures, context.machine.uniform)
        if ended.is_refusal:
            delay_s += LONG_WAIT_S
        retry_at = context.machine.monotonic() + delay_s
        if ended.is_refusal:
            context.state.refused(ended.sentence, retry_at)
        else:
            context.state.disconnected(ended.sentence, retry_at)
        log.warning("%s Next try in %.1f s.", ended.sentence, delay_s)
        context.announce.disconnected(delay_s)
        await self._sleep(delay_s)

    async def _sleep(self, delay_s: float) -> None:
        try:
            async with asyncio.timeout(delay_s):
                await self._is_stopping.wait()
        except TimeoutError:
            pass  # time for the next try


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a visit ended. is_moving: it goes on with what it carries while the next one begins."""

    sentence: str
    is_refusal: bool = False
    has_served: bool = False
    is_moving: bool = False


class Visit:
    """One connection to the service, from dialling to its end."""

    def __init__(
        self,
        context: AgentContext,
        server: StreamServer,
        on_closed: Callable[["Visit"], None],
        *,
        was_linked: bool,
    ) -> None:
        self._context = context
        self._server = server
        self._on_closed = on_closed
        self._was_linked = was_linked
        self._over: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._tunnel: Tunnel | None = None
        self._conversation: Conversation | None = None

    @property
    def was_linked(self) -> bool:
        """Whether the last that was announced is that the agent is linked."""
        return self._conversation.was_linked if self._conversation else self._was_linked

    async def run(self) -> Ended:
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
        if self._conversation is not None:
            self._conversation.end()
        if self._tunnel is not None:
            self._tunnel.close(CloseCode.NORMAL, "the agent stops")
        self._end(Ended(sentence="The agent stops."))

    # --- TunnelHandler ----------------------------------------------------------------------------

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        tunnel = self._tunnel
        assert tunnel is not None  # it is what tells
        self._conversation = Conversation(
            self._context,
            tunnel.message,
            was_linked=self._was_linked,
            stores_events=EVENTS in capabilities,
        )
        self._conversation.begin()

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        if self._conversation is None or not self._conversation.is_serving:
            stream.reset(Reason.REFUSED, "This agent has not signed in.")
            return
        try:
            self._server.serve(stream, opened)
        except RemoteProtocolError as fault:
            stream.reset(Reason.REFUSED, fault.text)

    def on_tunnel_message(self, payload: bytes) -> None:
        if self._conversation is None:
            return
        try:
            self._conversation.heard(payload)
        except ServiceRefused as refusal:
            self._end(Ended(sentence=str(refusal), is_refusal=True))
            if self._tunnel is not None:
                self._tunnel.close(CloseCode.NOT_WELCOME, str(refusal))

    def on_tunnel_draining(self) -> None:
        """Begin the next visit, because the service restarts; what runs here is finished here."""
        if self._conversation is not None and self._conversation.is_serving:
            self._conversation.end()
            self._end(Ended(sentence="The service restarts.", has_served=True, is_moving=True))

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        self._on_closed(self)
        has_served = self._conversation is not None and self._conversation.is_serving
        if self._conversation is not None:
            self._conversation.end()
        refusal = _REFUSALS.get(code) if isinstance(code, CloseCode) else None
        if refusal is not None:
            self._end(Ended(sentence=f"{refusal} ({text})", is_refusal=True, has_served=has_served))
        else:
            why = text or "the service said no more"
            self._end(Ended(sentence=f"The tunnel ended: {why}.", has_served=has_served))

    # --- helpers --------------------------------------------------------------------------------

    async def _watch_lan(self) -> None:
        """Routers hand out new addresses."""
        while True:
            await asyncio.sleep(LOOK_FOR_LAN_EVERY_S)
            if self._conversation is not None:
                self._conversation.look_for_lan_address()

    async def _dial(self) -> None:
        service = self._context.config.service
        try:
            link = await dial(service)
        except NotConnected as error:
            self._end(Ended(sentence=str(error)))
        except Exception as error:
            log.exception("dialling failed in a way nobody thought of")
            self._end(Ended(sentence=f"No connection to {service}: {error!r}."))
        else:
            self._begin(link)

    def _begin(self, link: Link) -> None:
        now = asyncio.get_running_loop().time()
        session = Session(Role.AGENT, now=now, capabilities=CAPABILITIES)
        self._tunnel = Tunnel(session, FreshLink(link, self._context.machine.monotonic), self)
        self._tunnel.start()

    def _end(self, ended: Ended) -> None:
        if not self._over.done():
            self._over.set_result(ended)


def _stream_server(context: AgentContext) -> tuple[StreamServer, Client | None]:
    kind, server = context.config.kind, context.config.web_server
    allowed = context.config.limits.allowed
    commands = context.commanded.api if context.commanded is not None else None
    if server is None:
        no_server = f"A {kind.facts.title} printer has no web server."
        return StreamServer(None, no_server, commands, allowed=allowed), None
    shortage = Shortage(context.machine.monotonic)
    client = Client(_connect_to(server, shortage), queue=RequestQueue(MOST_UNANSWERED))
    local = LocalRequests(client, server, wants_outside_host=kind.wants_outside_host)
    return StreamServer(local, "", commands, allowed=allowed), client


def _connect_to(server: WebAddress, shortage: Shortage) -> Connect:
    """Connect to the printer's web server."""
    loop = asyncio.get_running_loop()
    context = unverified_tls() if server.is_tls else None

    async def connect(protocol: Callable[[], asyncio.Protocol]) -> object:
        try:
            return await loop.create_connection(protocol, server.host, server.port, ssl=context)
        except OSError as failure:
            shortage.look_at(failure)
            raise

    return connect
