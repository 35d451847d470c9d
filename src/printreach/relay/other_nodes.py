"""The other nodes of the service: which of them holds which tunnel, and the links to them."""

import asyncio
import logging
import ssl
from collections import Counter
from dataclasses import dataclass
from typing import Final

from picows import (
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
    ws_create_server,
)

from printreach.contract.node_words import Holds, Moves, StandsBy
from printreach.http1.tracing import Tracing
from printreach.ports import Bus, Clock
from printreach.rules.connections.credentials import TokenBytes
from printreach.rules.nodes import NodeKey
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.errors import CloseCode
from printreach.wire.frames import MAX_MESSAGE_BYTES

from .directory import Directory, replace
from .host_keys import HostKeyRequests
from .node_link import DIAL_TIMEOUT_S, NODE_PATH, InwardLink, NotReached, OutwardLink, dial
from .presence import HoldingNode, Presence
from .route import Route

log = logging.getLogger(__name__)

MAX_UNPROVEN: Final = 64
"""Links at once whose other end has not proven that it is a node. One more ends one of the address
that has the most, so that an outsider can't keep nodes away."""
MAX_ROUTES: Final = 50_000
DRAIN_TIMEOUT_S: Final = 1.0
"""The time in which other nodes say that they open no stream any more; older versions don't."""
TRIES: Final = 2
"""A holder that is out of date is asked about once more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeDependencies:
    """What a node needs to meet the others. token_bytes: random.

    tls: for links to `wss://` addresses, and for those that come; None for links without it.
    """

    key: NodeKey
    token_bytes: TokenBytes
    dialling_tls: ssl.SSLContext | None = None
    answering_tls: ssl.SSLContext | None = None


class OtherNodes:
    """Implements directory.Elsewhere by presence on the bus and links to other nodes."""

    def __init__(
        self,
        dependencies: NodeDependencies,
        bus: Bus,
        clock: Clock,
        node_id: str,
        directory: Directory,
        host_keys: HostKeyRequests,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._dependencies = dependencies
        self._node_id = node_id
        self._directory = directory
        self._host_keys = host_keys
        self._presence = Presence(
            bus, clock, node_id, on_holder=directory.on_arrival, on_newer=self._close_older
        )
        self._routes: dict[str, tuple[HoldingNode, Route]] = {}
        self._outward: dict[str, OutwardLink] = {}
        self._dialling: dict[str, asyncio.Task[None]] = {}
        self._inward: set[InwardLink] = set()
        self._server: asyncio.Server | None = None
        self.request_count = 0  # of other nodes, to printers here

    async def listen(self, host: str, port: int, advertised: str) -> int:
        """Accept links of other nodes; return the port that was bound.

        advertised: the address that others dial; "" for this one.
        """
        tls = self._dependencies.answering_tls
        server = self._server = await ws_create_server(
            self._accept,
            host,
            port,
            ssl=tls,
            websocket_handshake_timeout=DIAL_TIMEOUT_S,
            max_frame_size=MAX_MESSAGE_BYTES,
            enable_auto_pong=False,  # the link answers pings
            use_aiofastnet=False,  # it breaks the log where a handshake fails
        )
        bound: int = server.sockets[0].getsockname()[1]
        scheme = "wss" if tls is not None else "ws"
        authority = f"[{host}]:{bound}" if ":" in host else f"{host}:{bound}"
        self._presence.address = advertised or f"{scheme}://{authority}"
        return bound

    async def drain(self) -> None:
        """Take no new streams of other nodes; running ones finish.

        Those that are on their way still find the tunnels here, which must not be drained before.
        """
        if self._server is not None:
            self._server.close()
        self._presence.begin_stop()
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await asyncio.gather(*(link.drain() for link in self._inward))
        except TimeoutError:
            log.info("not every node has confirmed that it sends no further requests")

    async def until_moved(self, grace_s: float) -> None:
        """Wait until agents that were asked to move are at other nodes."""
        await self._presence.until_moved(grace_s)

    async def close(self) -> None:
        for dialling in self._dialling.values():
            dialling.cancel()
        await asyncio.gather(*self._dialling.values(), return_exceptions=True)
        outward = [link.tunnel for link in self._outward.values()]
        for tunnel in [*outward, *(link.tunnel for link in self._inward)]:
            tunnel.close(CloseCode.RESTARTING, "the node stops")
        await self._presence.close()

    @property
    def link_count(self) -> int:
        return len(self._outward) + len(self._inward)

    # --- Elsewhere --------------------------------------------------------------------------------

    def find(self, printer_id: str) -> Route | None:
        holder = self._presence.holder(printer_id)
        link = self._outward.get(holder.node) if holder is not None else None
        if holder is None or link is None or not link.is_open:
            return None
        known = self._routes.get(printer_id)
        if known is None or known[0] is not holder or known[1].tunnel is not link.tunnel:
            if len(self._routes) >= MAX_ROUTES:
                self._routes.clear()  # they are made anew
            route = Route(
                tunnel=link.tunnel,
                clock=holder.clock,
                platform=holder.platform,
                capabilities=holder.capabilities,
                printer_id=printer_id,
            )
            known = self._routes[printer_id] = holder, route
        return known[1]

    def holder_of(self, printer_id: str) -> str | None:
        """Return the node that was last heard to hold the printer's primary tunnel."""
        holder = self._presence.holder(printer_id)
        return None if holder is None or holder.is_standby else holder.node

    def may_find(self, printer_id: str) -> bool:
        return not self._presence.is_absent(printer_id)

    async def look_for(self, printer_id: str) -> None:
        for _ in range(TRIES):
            if self._directory.find(printer_id) is not None or not self.may_find(printer_id):
                return
            holder = self._presence.leased(printer_id) or await self._ask(printer_id)
            if holder is None:
                break
            await self._link_to(holder)
        if self._directory.find(printer_id) is None:
            self._presence.note_absent(printer_id)

    async def _ask(self, printer_id: str) -> HoldingNode | None:
        """Ask the nodes that this one is linked to, and all by the bus."""
        for link in self._outward.values():
            if link.may_ask:
                link.ask(printer_id)
        return await self._presence.ask(printer_id)

    def on_put(self, printer_id: str, route: Route) -> None:
        self._presence.hold(printer_id, route)

    def on_drop(self, printer_id: str) -> None:
        self._presence.leave(printer_id)

    # --- keys of printers' own software -----------------------------------------------------------

    async def make_key(self, printer_id: str, app_name: str) -> str | None:
        """Have a key made by the printer's agent at another node."""
        await self.look_for(printer_id)
        holder = self._presence.holder(printer_id)
        link = self._outward.get(holder.node) if holder is not None else None
        return None if link is None else await link.make_key(printer_id, app_name)

    # --- links ------------------------------------------------------------------------------------

    async def _link_to(self, holder: HoldingNode) -> None:
        """Link this node to the holder, once for all who wait; forget it if it can't be reached."""
        link = self._outward.get(holder.node)
        if link is not None and link.is_open:
            return
        dialling = self._dialling.get(holder.node)
        if dialling is None:
            dialling = self._dialling[holder.node] = asyncio.create_task(self._dial(holder))
            dialling.add_done_callback(lambda _: self._dialling.pop(holder.node, None))
        await asyncio.shield(dialling)

    async def _dial(self, holder: HoldingNode) -> None:
        outward: OutwardLink | None = None
        try:
            async with asyncio.timeout(DIAL_TIMEOUT_S):
                link = await dial(holder.address, self._dependencies.dialling_tls)
                outward = OutwardLink(
                    link,
                    self._dependencies.key,
                    self._node_id,
                    holder.node,
                    self._dependencies.token_bytes,
                    on_not_here=self._presence.forget,
                    on_holds=self._presence.hear,
                    on_moves=self._presence.hear_of_move,
                    on_draining=self._presence.forget_node,
                    on_closed=self._on_outward_closed,
                )
                await outward.is_proven
        except (NotReached, TimeoutError) as error:
            log.warning("node %s at %s can't be reached: %s", holder.node, holder.address, error)
            if outward is not None:
                outward.tunnel.abort("no proof came in time")
            self._presence.forget_node(holder.node)
        else:
            self._outward[holder.node] = outward
            log.info("linked to node %s at %s", holder.node, holder.address)

    def _on_outward_closed(self, link: OutwardLink) -> None:
        if self._outward.get(link.node) is link:
            del self._outward[link.node]
            self._presence.forget_node(link.node)
            self._routes.clear()  # they hold the tunnel; those of other links are made anew

    def _accept(self, request: WSUpgradeRequest) -> WSUpgradeResponseWithListener | None:
        if request.path.decode("latin-1") != NODE_PATH:
            return None
        self._evict_unproven()
        link = WebSocketLink(is_trusted=False)
        self._inward.add(
            InwardLink(
                link,
                self._dependencies.key,
                self._node_id,
                self._dependencies.token_bytes,
                self,
                self._inward.discard,
                self._tracing,
            )
        )
        response = WSUpgradeResponse.create_101_response({"Sec-WebSocket-Protocol": SUBPROTOCOL})
        return WSUpgradeResponseWithListener(response, link)

    def _evict_unproven(self) -> None:
        unproven = [link for link in self._inward if not link.is_proven]
        if len(unproven) < MAX_UNPROVEN:
            return
        [(crowded, _count)] = Counter(link.address for link in unproven).most_common(1)
        evicted = next(link for link in unproven if link.address == crowded)
        evicted.tunnel.abort("too many links have not proven that they are nodes")
        self._inward.discard(evicted)

    # --- Held -------------------------------------------------------------------------------------

    def find_here(self, printer_id: str) -> Route | None:
        self.request_count += 1
        return self._directory.find_here(printer_id)

    def told(self, printer_id: str) -> Holds | StandsBy | Moves | None:
        return self._presence.told(printer_id)

    async def make_key_here(self, printer_id: str, app_name: str) -> str | None:
        return await self._host_keys.make(printer_id, app_name)

    # --- helpers ----------------------------------------------------------------------------------

    def _close_older(self, printer_id: str) -> None:
        route = self._directory.find_here(printer_id)
        if route is not None:
            log.info("printer %s has a newer tunnel at another node", printer_id)
            replace(route)
