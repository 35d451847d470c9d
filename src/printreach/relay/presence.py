"""Which node holds which printer's tunnel: said on the bus, asked for, and remembered for a while.

Nothing is stored, and any message may be lost. A node says so when a tunnel comes or goes; who
doesn't know a printer asks everybody, and the node that holds its tunnel answers. What was heard is
used for LEASE_S. Each tunnel has an epoch: the newest of a printer has the highest, and a node that
hears of a newer one closes its own.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from printreach.contract.node_words import Holds, Left, Who, decode_presence, encode
from printreach.ports import Bus, Clock, Notice, Topic

from .commands import AgentClock
from .route import Route

log = logging.getLogger(__name__)

LEASE_S: Final = 30.0
"""As long as any node uses what it knows without asking again."""
ASK_TIMEOUT_S: Final = 1.0
"""The time in which a node answers that holds the tunnel. A bus in a database takes half of it."""
ABSENT_S: Final = 5.0
"""The time for which nobody is asked again about a printer that no node holds. It is shorter where
its agent connects: that is said."""
MAX_KNOWN: Final = 50_000
MAX_UNSAID: Final = 4096
"""Messages that wait for the bus. Further ones are dropped: whoever misses one asks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldingNode:
    """The node that holds a printer's tunnel, as it said itself. until: the end of the lease."""

    node: str
    address: str
    epoch: int
    platform: str
    capabilities: frozenset[str]
    clock: AgentClock
    until: float


class Presence:
    """What this node says of its tunnels, and knows of those of others."""

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        node_id: str,
        *,
        on_holder: Callable[[str], None],
        on_newer: Callable[[str], None],
    ) -> None:
        """on_holder: another node said that it holds a printer's tunnel.

        on_newer: the one that this node holds is older.
        """
        self.address = ""
        """Where other nodes reach this one; nothing is said before that is known."""
        self._bus = bus
        self._clock = clock
        self._node_id = node_id
        self._on_holder = on_holder
        self._on_newer = on_newer
        self._loop = asyncio.get_running_loop()
        self._held: dict[str, tuple[int, Route]] = {}
        self._known: OrderedDict[str, HoldingNode] = OrderedDict()
        self._absent: OrderedDict[str, float] = OrderedDict()
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._unsaid: asyncio.Queue[Who | Holds | Left] = asyncio.Queue(MAX_UNSAID)
        self._unsubscribe = bus.subscribe(self._on_notice)
        self._saying = asyncio.create_task(self._keep_saying())

    async def close(self) -> None:
        self._unsubscribe()
        self._saying.cancel()
        await asyncio.gather(self._saying, return_exceptions=True)

    # --- own tunnels ------------------------------------------------------------------------------

    def hold(self, printer_id: str, route: Route) -> None:
        """This node holds the printer's newest tunnel."""
        older = self._known.pop(printer_id, None)
        before = self._held.get(printer_id)
        last = max(older.epoch if older else 0, before[0] if before else 0)
        # By a clock, and above every known one, so that clocks that differ do no harm.
        epoch = max(int(self._clock.now().timestamp() * 1000), last + 1)
        self._held[printer_id] = epoch, route
        self._settle(printer_id)
        self._say_holds(printer_id)

    def stop_speaking(self) -> None:
        """Answer for nothing any more; agents are about to connect to other nodes.

        What they say of that closes no tunnel here, on which requests may still be under way.
        """
        self.address = ""
        self._unsubscribe()

    def leave(self, printer_id: str) -> None:
        """This node holds no tunnel of the printer any more."""
        if self._held.pop(printer_id, None) is not None and self.address:
            self._say(Left(node=self._node_id, printer_id=printer_id))

    def holds(self, printer_id: str) -> Holds | None:
        """Return what this node says of a tunnel; None if it doesn't hold it."""
        held = self._held.get(printer_id)
        if held is None or not self.address:
            return None
        epoch, route = held
        return Holds(
            node=self._node_id,
            address=self.address,
            printer_id=printer_id,
            epoch=epoch,
            platform=route.platform,
            agent_unix_s=route.clock.unix_s_at(self._loop.time()),
            capabilities=sorted(route.capabilities),
        )

    # --- those of others --------------------------------------------------------------------------

    def holder(self, printer_id: str) -> HoldingNode | None:
        """Return the node that was last heard to hold the printer's tunnel."""
        return self._known.get(printer_id)

    def leased(self, printer_id: str) -> HoldingNode | None:
        """Return the node that said so within the lease."""
        holder = self._known.get(printer_id)
        return holder if holder is not None and holder.until > self._loop.time() else None

    def is_absent(self, printer_id: str) -> bool:
        """Return whether nobody answered a moment ago."""
        return self._absent.get(printer_id, 0.0) > self._loop.time()

    def note_absent(self, printer_id: str) -> None:
        self._absent[printer_id] = self._loop.time() + ABSENT_S
        if len(self._absent) > MAX_KNOWN:
            self._absent.popitem(last=False)

    async def ask(self, printer_id: str) -> HoldingNode | None:
        """Ask all nodes, once for all who want to know."""
        asked = self._asked.get(printer_id)
        if asked is None:
            asked = self._asked[printer_id] = self._loop.create_future()
            self._loop.call_later(ASK_TIMEOUT_S, self._give_up, printer_id, asked)
            self._say(Who(node=self._node_id, printer_id=printer_id))
        await asyncio.shield(asked)
        return self.leased(printer_id)

    def forget(self, printer_id: str) -> None:
        """What is known of the printer has turned out to be out of date."""
        self._known.pop(printer_id, None)

    def forget_node(self, node: str) -> None:
        """A node can't be reached: whatever it holds may be somewhere else by now."""
        for printer_id in [name for name, holder in self._known.items() if holder.node == node]:
            del self._known[printer_id]

    def hear(self, said: Holds) -> None:
        """Take what another node says of a tunnel that it holds."""
        printer_id, now = said.printer_id, self._loop.time()
        held, known = self._held.get(printer_id), self.leased(printer_id)
        if held is not None:
            # Of two with the same epoch one has to stay, so the names decide.
            if (said.epoch, said.node) < (held[0], self._node_id):
                self._say_holds(printer_id)
                return
            del self._held[printer_id]
            self._on_newer(printer_id)
        if known is not None and known.node != said.node and said.epoch < known.epoch:
            return
        self._known[printer_id] = HoldingNode(
            node=said.node,
            address=said.address,
            epoch=said.epoch,
            platform=said.platform,
            capabilities=frozenset(said.capabilities),
            clock=AgentClock(said.agent_unix_s, now),
            until=now + LEASE_S,
        )
        self._known.move_to_end(printer_id)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        self._settle(printer_id)
        self._on_holder(printer_id)

    # --- helpers ----------------------------------------------------------------------------------

    def _on_notice(self, notice: Notice) -> None:
        if notice.topic is not Topic.NODES:
            return
        match decode_presence(notice.key):
            case Who(node=node, printer_id=printer_id) if node != self._node_id:
                self._say_holds(printer_id)
            case Holds(node=node) as said if node != self._node_id:
                self.hear(said)
            case Left(node=node, printer_id=printer_id):
                holder = self._known.get(printer_id)
                if holder is not None and holder.node == node:
                    self.forget(printer_id)
            case _:
                pass  # its own, or of a version that this one doesn't know

    def _give_up(self, printer_id: str, asked: asyncio.Future[None]) -> None:
        if self._asked.get(printer_id) is asked:
            self._settle(printer_id)

    def _settle(self, printer_id: str) -> None:
        """Answer those who wait for what other nodes say."""
        self._absent.pop(printer_id, None)
        asked = self._asked.pop(printer_id, None)
        if asked is not None and not asked.done():
            asked.set_result(None)

    def _say_holds(self, printer_id: str) -> None:
        if (holds := self.holds(printer_id)) is not None:
            self._say(holds)

    def _say(self, message: Who | Holds | Left) -> None:
        try:
            self._unsaid.put_nowait(message)
        except asyncio.QueueFull:
            log.debug("too much to say on the bus; other nodes will ask")

    async def _keep_saying(self) -> None:
        while True:
            message = await self._unsaid.get()
            try:
                await self._bus.publish(Notice(Topic.NODES, encode(message).decode()))
            except Exception:  # other nodes ask
                log.exception("could not tell other nodes of a tunnel")
