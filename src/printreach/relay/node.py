"""A relay node: its front, and the dispatch of each request."""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from printreach.http1.client import Connect
from printreach.http1.heads import Request
from printreach.http1.tracing import Tracing
from printreach.limiters.shared_counts import SharedCounts
from printreach.ports.relaying import Grants
from printreach.rules.histogram import Histogram
from printreach.wire.heads import Headers

from .admission import Admission
from .agents import AgentConnections, AgentDependencies
from .asgi import Application
from .browser_sign_in import BrowserSignIn
from .caller_exchange import CallerExchange
from .caller_origin import Network, Origin, ProxyWarnings, origin_of
from .commands import CommandStamps
from .connection import FrontConnection, IncomingRequest
from .directory import Directory
from .front import Front
from .health import PATHS, Health
from .hosts import Hosts, PrinterHost
from .other_nodes import NodeDependencies, OtherNodes
from .printer_hosts import PrinterHosts
from .refusals import answer
from .request_ids import RequestIds
from .timeouts import Timeouts
from .web_app import WebApp
from .websocket_upgrade import accept_websocket

log = logging.getLogger(__name__)

TUNNEL_PATH: Final = b"/api/agent/tunnel"
HEARTBEAT_INTERVAL_S: Final = 10.0
STOP_GRACE_S: Final = 10.0
"""The time that running requests have to end in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RelayDependencies:
    """The dependencies of a relay node.

    networks: of proxies whose forwarding headers count, and of clients that may read the metrics.
    web: the application of the web role, if it runs in this process. detector_url: of the
    failure-detection API, "" if it has no name of its own. process_metrics, histograms: further
    ones on /metrics. nodes: for a service of several nodes. is_ready: whether the process can serve
    requests, and goes on to. lacks: what it can't reach. counts: of limits that hold for all nodes.
    id_field: in which those proxies name requests, in lower case; empty where they don't.
    tracing: None where nobody wants traces.
    """

    grants: Grants
    agents: AgentDependencies
    tunnel_domain: str
    networks: Sequence[Network]
    web: Application | None = None
    detector_url: str = ""
    nodes: NodeDependencies | None = None
    process_metrics: Mapping[str, tuple[str, Callable[[], float]]] = field(default_factory=dict)
    is_ready: Callable[[], bool] = lambda: True
    lacks: Callable[[], Sequence[str]] = tuple
    histograms: Mapping[str, tuple[str, Histogram]] = field(default_factory=dict)
    counts: SharedCounts = field(default_factory=SharedCounts)
    id_field: bytes = b""
    tracing: Tracing | None = None


_TEXT: Final[Headers] = [(b"Content-Type", b"text/plain; charset=utf-8")]
_NO_PAGES: Final = b"The pages of this service are served by another process.\n"
_TOO_MANY: Final[Headers] = [*_TEXT, (b"Retry-After", b"1")]
_COME_AGAIN: Final = b"Too many agents are signing in. Try again.\n"


class RelayNode:
    def __init__(
        self,
        dependencies: RelayDependencies,
        timeouts: Timeouts | None = None,
        *,
        settle_s: float = 0.0,
    ) -> None:
        """settle_s: how long after the start a request waits for an agent that isn't here yet.

        Other roles in this process reach printers by connect_inside, with internal grants, and get
        API keys of printers' own software by make_host_key. A node that listens nowhere serves them
        alone, by the tunnels of other nodes.
        """
        self._dependencies = dependencies
        self._tracing = dependencies.tracing
        agents = dependencies.agents
        self._hosts = Hosts(agents.base_url, dependencies.tunnel_domain, dependencies.detector_url)
        self._directory = Directory(settle_s)
        self._admission = Admission(
            dependencies.grants, agents.bus, agents.clock, dependencies.counts
        )
        self._agents = AgentConnections(agents, self._directory)
        self._printer_hosts = PrinterHosts(
            self._hosts,
            self._admission,
            self._directory,
            CommandStamps(agents.node_id, agents.clock.now),
            BrowserSignIn(self._hosts, self._admission, agents.tries, dependencies.networks),
        )
        self._web = WebApp(dependencies.web, agents.clock) if dependencies.web is not None else None
        self._front = Front(self._dispatch, timeouts or Timeouts())
        self.connect_inside: Connect = self._front.connect_inside
        self._other_nodes = self._meet_others(dependencies.nodes)
        self._directory.elsewhere = self._other_nodes
        self._proxy_warnings = ProxyWarnings(dependencies.networks)
        seed = agents.token_bytes(16)
        self._ids = RequestIds(seed, dependencies.networks, dependencies.id_field)
        self._requests = 0
        self.metrics = self._metrics()
        self._health = Health(
            lambda: self._front.is_serving and dependencies.is_ready(),
            self.metrics,
            dependencies.networks,
            dependencies.lacks,
            {
                "printreach_printer_answer_seconds": (
                    "Time until a printer's answer begins.",
                    self._admission.answer_times,
                ),
                **dependencies.histograms,
            },
        )
        self._alive = asyncio.create_task(self._stay_alive())

    async def listen(self, host: str, port: int) -> int:
        """Accept callers and agents; return the port that was bound."""
        return await self._front.listen(host, port)

    async def listen_on(self, listener: socket.socket, *, is_tunnel_port: bool = False) -> None:
        """Accept callers and agents on a socket that listens already."""
        await self._front.listen_on(listener, is_tunnel_port=is_tunnel_port)

    async def listen_for_tunnels(self, host: str, ports: Iterable[int]) -> None:
        """Accept callers on ports that stand for one connection each. Raises OSError."""
        for port in ports:
            await self._front.listen(host, port, is_tunnel_port=True)

    async def listen_for_nodes(self, host: str, port: int, advertised: str = "") -> int:
        """Let other nodes reach the printers whose tunnels end here; return the port.

        advertised: the address that they dial; "" for this one.
        """
        assert self._other_nodes is not None
        return await self._other_nodes.listen(host, port, advertised)

    async def make_host_key(self, printer_id: str, app_name: str) -> str | None:
        """Have the printer's agent make an API key, at whichever node its tunnel ends."""
        if self._other_nodes is None or self._directory.find_here(printer_id) is not None:
            return await self._agents.host_keys.make(printer_id, app_name)
        return await self._other_nodes.make_key(printer_id, app_name)

    def holder_of(self, printer_id: str) -> str | None:
        """Return the id of the node where the printer's primary tunnel ends, as far as it is known
        here.
        """
        route = self._directory.find_here(printer_id)
        if route is not None and not route.is_standby:
            return self._dependencies.agents.node_id
        return None if self._other_nodes is None else self._other_nodes.holder_of(printer_id)

    async def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Finish running requests, then close the agents' tunnels."""
        self._front.close_listeners()
        if grace_s > 0:
            await self._front.drain_new_connections()
        if self._other_nodes is not None:
            await self._other_nodes.drain()
        self._agents.drain()
        await asyncio.gather(
            self._front.stop(grace_s),
            self._agents.finish_requests(grace_s),
            self._until_moved(grace_s),
        )
        await self._agents.close()
        if self._other_nodes is not None:
            await self._other_nodes.close()
        await self._printer_hosts.close()
        if self._web is not None:
            await self._web.close()
        await self._admission.close()
        self._alive.cancel()
        await asyncio.gather(self._alive, return_exceptions=True)

    async def _until_moved(self, grace_s: float) -> None:
        """Until then this node tells the others that the agents move, so that requests wait."""
        if self._other_nodes is not None:
            await self._other_nodes.until_moved(grace_s)

    # --- dispatch -------------------------------------------------------------------------------

    def _dispatch(self, incoming: IncomingRequest) -> CallerExchange | None:
        self._requests += 1
        caller, request = incoming.caller, incoming.request
        request.request_id = self._ids.name(caller.peer, request.headers, caller.is_inside)
        if caller.tunnel_port is not None:
            self._trace(caller, request)
            return self._printer_hosts.serve_port(incoming, caller.tunnel_port)
        named = self._hosts.named(request.host)
        if isinstance(named, PrinterHost):
            self._trace(caller, request)
            return self._printer_hosts.serve(incoming, named.unique_id)
        path = request.target.partition(b"?")[0]
        if path == TUNNEL_PATH and request.upgrade is not None:
            self._accept_agent(incoming)
            return None
        if path in PATHS:
            status, content_type, text = self._health.answer(path, request.headers, caller.peer)
            reason = status.phrase.encode()
            answer(incoming.writer(), status, reason, [content_type], text)
            return None
        if self._hosts.are_ours(request.host, path):
            self._trace(caller, request)
            if self._web is None:
                answer(incoming.writer(), 421, b"Misdirected Request", _TEXT, _NO_PAGES)
                return None
            origin = self._origin(caller.peer, request, self._hosts.scheme)
            return self._web.serve(incoming, origin)
        location = (b"Location", self._hosts.base_url.encode() + b"/")
        answer(incoming.writer(), 307, b"Temporary Redirect", [location])
        return None

    def _trace(self, caller: FrontConnection, request: Request) -> None:
        """Begin the request's span, if traces are wanted."""
        if self._tracing is not None:
            is_inside = caller.is_inside
            parent = self._ids.trace_parent(caller.peer, request.headers, is_inside)
            request.span = caller.span = self._tracing.begin_request(
                request.method, request.request_id, parent, is_inside=is_inside
            )

    def _accept_agent(self, incoming: IncomingRequest) -> None:
        caller, request = incoming.caller, incoming.request
        origin = self._origin(caller.peer, request, self._hosts.scheme)
        slot = self._agents.unsigned.take(origin)
        if slot is None:
            answer(incoming.writer(), 503, b"Service Unavailable", _TOO_MANY, _COME_AGAIN)
            return
        link = accept_websocket(*caller.detach())
        if link is None:
            slot.leave()
        else:
            self._agents.accept(link, origin.address, slot)

    # --- helpers --------------------------------------------------------------------------------

    def _meet_others(self, nodes: NodeDependencies | None) -> OtherNodes | None:
        agents = self._dependencies.agents
        if nodes is None:
            return None
        return OtherNodes(
            nodes,
            agents.bus,
            agents.clock,
            agents.node_id,
            self._directory,
            self._agents.host_keys,
            self._tracing,
        )

    def _origin(self, peer: str, request: Request, scheme: str) -> Origin:
        origin = origin_of(peer, request.headers, self._dependencies.networks, scheme)
        self._proxy_warnings.look_at(peer, request.headers, origin)
        return origin

    async def _stay_alive(self) -> None:
        agents = self._dependencies.agents
        while True:
            try:
                await agents.agents.node_alive(agents.node_id, agents.clock.now())
            except Exception:
                log.exception("could not report that this node is alive")
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)

    def _metrics(self) -> dict[str, tuple[str, Callable[[], float]]]:
        return {
            "printreach_requests_total": ("Requests read.", lambda: self._requests),
            "printreach_connections": (
                "Callers' connections open.",
                lambda: self._front.connection_count,
            ),
            "printreach_connections_refused_total": (
                "Connections refused for want of file descriptors.",
                lambda: self._front.descriptors.refused_count,
            ),
            "printreach_requests_at_printers": (
                "Requests under way at printers, WebSockets included.",
                lambda: self._admission.live_count,
            ),
            "printreach_webcam_streams": (
                "Webcam streams being watched.",
                lambda: self._admission.webcam_count,
            ),
            "printreach_agents": ("Agents connected.", lambda: len(self._agents)),
            "printreach_agents_unsigned": (
                "Agents connected that have not signed in.",
                lambda: len(self._agents.unsigned),
            ),
            "printreach_printers_online": (
                "Printers whose tunnel carries requests.",
                lambda: self._directory.primary_count,
            ),
            "printreach_standby_tunnels": (
                "Tunnels of printers that have their primary one at another node.",
                lambda: self._directory.standby_count,
            ),
            "printreach_node_links": (
                "Links with other nodes.",
                lambda: self._other_nodes.link_count if self._other_nodes else 0,
            ),
            "printreach_requests_of_other_nodes_total": (
                "Requests that came by other nodes.",
                lambda: self._other_nodes.request_count if self._other_nodes else 0,
            ),
            **self._dependencies.process_metrics,
        }
