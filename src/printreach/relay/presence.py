"""Which node holds which printer's tunnel: said on the bus, asked for, and remembered for a while.

Nothing is stored, and any message may be lost. A node says so when a tunnel comes or goes; who
doesn't know a printer asks everybody, and the node that holds its tunnel answers. What was heard is
used for LEASE_S. Each tunnel has an epoch: the newest of a printer has the highest, and a node that
hears of a newer one closes its own. A node that stops says that its agents move; who looks for one
of them waits until it is at another node.

An agent may have a standby tunnel at another node than its primary one. It is remembered beside
that, and gets the requests as soon as the node of the primary is gone or lacks it. A standby of
another run of the agent than the newest primary is closed: that agent was started anew, or a second
one has the same key.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from printreach.contract.node_words import (
    HeldTunnel,
    Holds,
    Left,
    Moves,
    StandsBy,
    Who,
    decode_presence,
    encode,
)
from printreach.ports import Bus, Clock, Notice, Topic

from .commands import AgentClock
from .route import Route

log = logging.getLogger(__name__)

Said = Who | Holds | StandsBy | Left | Moves

LEASE_S: Final = 30.0
"""As long as any node uses what it knows without asking again."""
ASK_TIMEOUT_S: Final = 1.0
"""The time in which a node answers that holds the tunnel. A bus in a database takes half of it."""
ABSENT_S: Final = 5.0
"""The time for which nobody is asked again about a printer that no node holds. It is shorter where
its agent connects: that is said."""
MOVE_S: Final = 10.0
"""The time for which requests wait for an agent that leaves a node; it takes a second or two."""
MOVE_PAUSE_S: Final = 3.0
"""Without news of another agent for so long, the rest has no other node to go to."""
MOVE_POLL_S: Final = 0.05
MAX_KNOWN: Final = 50_000
MAX_UNSAID: Final = 4096
"""Messages that wait for the bus. Further ones are dropped: whoever misses one asks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldingNode:
    """A node that holds a tunnel of a printer, as it said itself. until: the end of the lease."""

    node: str
    address: str
    epoch: int
    platform: str
    capabilities: frozenset[str]
    clock: AgentClock
    until: float
    agent_run: str
    is_standby: bool


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
        self._is_stopping = False
        self._known: OrderedDict[str, HoldingNode] = OrderedDict()
        self._known_standbys: OrderedDict[str, HoldingNode] = OrderedDict()  # standbys beside these
        self._absent: OrderedDict[str, float] = OrderedDict()
        self._moving: OrderedDict[str, float] = OrderedDict()
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._unsaid: asyncio.Queue[Said] = asyncio.Queue(MAX_UNSAID)
        self._unsubscribe = bus.subscribe(self._on_notice, Topic.NODES)
        self._saying = asyncio.create_task(self._keep_saying())

    async def close(self) -> None:
        self._unsubscribe()
        self._saying.cancel()
        await asyncio.gather(self._saying, return_exceptions=True)

    # --- own tunnels ------------------------------------------------------------------------------

    def hold(self, printer_id: str, route: Route) -> None:
        """This node holds the printer's newest tunnel, or the newest standby."""
        known = (self._known.pop(printer_id, None), self._known_standbys.pop(printer_id, None))
        others = [holder for holder in known if holder is not None]
        before = self._held.get(printer_id)
        last = max([before[0] if before else 0, *(holder.epoch for holder in others)])
        # By a clock, and above every known one, so that clocks that differ do no harm.
        epoch = max(int(self._clock.now().timestamp() * 1000), last + 1)
        self._held[printer_id] = epoch, route
        for holder in others:
            if holder.is_standby is not route.is_standby and holder.agent_run == route.agent_run:
                self._known[printer_id] = holder  # the agent's other tunnel
        self._settle(printer_id)
        self._tell(printer_id)

    def begin_stop(self) -> None:
        """Say that agents move; they are about to connect to other nodes.

        What these say of that closes no tunnel here, on which requests may still be under way.
        """
        standbys = [name for name, (_, route) in self._held.items() if route.is_standby]
        for printer_id in standbys:
            self.leave(printer_id)  # nobody waits for another one
        self._is_stopping = True
        for printer_id in self._held:
            self._expect_move(printer_id)

    async def until_moved(self, grace_s: float) -> None:
        """Wait until other nodes hold the tunnels that this one held, and while more of them do."""
        now = self._loop.time()
        end, last_count, counted_at = now + grace_s, len(self._held), now
        while self._held and now < min(end, counted_at + MOVE_PAUSE_S):
            await asyncio.sleep(MOVE_POLL_S)
            now = self._loop.time()
            if len(self._held) < last_count:
                last_count, counted_at = len(self._held), now

    def leave(self, printer_id: str) -> None:
        """This node holds no tunnel of the printer any more."""
        was_held = self._held.pop(printer_id, None) is not None
        if was_held and self.address and not self._is_stopping:
            self._say(Left(node=self._node_id, printer_id=printer_id))

    def told(self, printer_id: str) -> Holds | StandsBy | Moves | None:
        """Return what this node says of a tunnel; None if it doesn't hold it."""
        held = self._held.get(printer_id)
        if held is None or not self.address:
            return None
        if self._is_stopping:
            return Moves(node=self._node_id, printer_id=printer_id)
        epoch, route = held
        message = StandsBy if route.is_standby else Holds
        return message(
            node=self._node_id,
            address=self.address,
            printer_id=printer_id,
            epoch=epoch,
            platform=route.platform,
            agent_unix_s=route.clock.unix_s_at(self._loop.time()),
            capabilities=sorted(route.capabilities),
            agent_run=route.agent_run,
        )

    # --- those of others --------------------------------------------------------------------------

    def holder(self, printer_id: str) -> HoldingNode | None:
        """Return the node that was last heard to hold the printer's tunnel, or its standby."""
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

    def forget(self, printer_id: str, node: str) -> None:
        """The node holds no tunnel of the printer. One that is known beside it takes its place."""
        standby = self._known_standbys.get(printer_id)
        if standby is not None and standby.node == node:
            del self._known_standbys[printer_id]
        known = self._known.get(printer_id)
        if known is None or known.node != node:
            return
        del self._known[printer_id]
        if (standby := self._known_standbys.pop(printer_id, None)) is not None:
            self._know(printer_id, replace(standby, until=self._loop.time() + LEASE_S))

    def forget_node(self, node: str) -> None:
        """A node can't be reached: whatever it holds may be somewhere else by now."""
        for known in (self._known_standbys, self._known):
            for printer_id in [name for name, holder in known.items() if holder.node == node]:
                self.forget(printer_id, node)

    def hear(self, said: Holds | StandsBy) -> None:
        """Take what another node says of a tunnel that it holds."""
        match said:
            case Holds():
                self._hear_of_primary(said)
            case StandsBy():
                self._hear_of_standby(said)

    def hear_of_move(self, said: Moves) -> None:
        """The printer's agent leaves that node, and will soon be at another."""
        holder = self._known.get(said.printer_id)
        if holder is None or holder.node == said.node:
            self.forget(said.printer_id, said.node)
            self._expect_move(said.printer_id)

    def _hear_of_primary(self, said: Holds) -> None:
        printer_id = said.printer_id
        held, known = self._held.get(printer_id), self.leased(printer_id)
        if (
            known is not None
            and not known.is_standby
            and known.node != said.node
            and said.epoch < known.epoch
        ):
            return
        if held is not None:
            epoch, route = held
            if self._is_stopping:
                del self._held[printer_id]
            elif route.is_standby:
                if route.agent_run != said.agent_run:
                    self._give_way(printer_id)
            elif self._is_older(said, epoch):
                self._tell(printer_id)
                return
            else:
                self._give_way(printer_id)
        before, standby = self._known.get(printer_id), self._known_standbys.pop(printer_id, None)
        if before is not None and before.is_standby:
            standby = before
        self._know(printer_id, self._holding_node(said, is_standby=False))
        if standby is not None and standby.agent_run == said.agent_run:
            self._know_standby(printer_id, standby)

    def _hear_of_standby(self, said: StandsBy) -> None:
        printer_id = said.printer_id
        held, known = self._held.get(printer_id), self._known.get(printer_id)
        if held is not None:
            epoch, route = held
            if not route.is_standby and route.agent_run != said.agent_run:
                self._tell(printer_id)  # so that it is closed
                return
            if route.is_standby and self._is_older(said, epoch):
                self._tell(printer_id)
                return
            if route.is_standby:
                self._give_way(printer_id)
        standby = self._holding_node(said, is_standby=True)
        is_asked_for = printer_id in self._asked and self.leased(printer_id) is None
        if known is None or known.is_standby or is_asked_for:
            self._know(printer_id, standby)
        else:
            self._know_standby(printer_id, standby)

    # --- helpers ----------------------------------------------------------------------------------

    def _is_older(self, said: HeldTunnel, epoch: int) -> bool:
        """Return whether it is older than this node's own of that epoch."""
        # Of two with the same epoch one has to stay, so the names decide.
        return (said.epoch, said.node) < (epoch, self._node_id)

    def _give_way(self, printer_id: str) -> None:
        del self._held[printer_id]
        self._on_newer(printer_id)

    def _holding_node(self, said: HeldTunnel, *, is_standby: bool) -> HoldingNode:
        now = self._loop.time()
        return HoldingNode(
            node=said.node,
            address=said.address,
            epoch=said.epoch,
            platform=said.platform,
            capabilities=frozenset(said.capabilities),
            clock=AgentClock(said.agent_unix_s, now),
            until=now + LEASE_S,
            agent_run=said.agent_run,
            is_standby=is_standby,
        )

    def _know(self, printer_id: str, holder: HoldingNode) -> None:
        """Send requests to that node from now on."""
        _remember(self._known, printer_id, holder)
        self._settle(printer_id)
        self._on_holder(printer_id)

    def _know_standby(self, printer_id: str, holder: HoldingNode) -> None:
        _remember(self._known_standbys, printer_id, holder)

    def _on_notice(self, notice: Notice) -> None:
        match decode_presence(notice.key):
            case Who(node=node, printer_id=printer_id) if node != self._node_id:
                self._tell(printer_id)
            case (Holds(node=node) | StandsBy(node=node)) as said if node != self._node_id:
                self.hear(said)
            case Moves(node=node) as said if node != self._node_id:
                self.hear_of_move(said)
            case Left(node=node, printer_id=printer_id):
                self.forget(printer_id, node)
            case _:
                pass  # its own, or of a version that this one doesn't know

    def _expect_move(self, printer_id: str) -> None:
        now = self._loop.time()
        if self._moving.get(printer_id, 0.0) <= now:
            self._moving[printer_id] = now + MOVE_S
            if len(self._moving) > MAX_KNOWN:
                self._moving.popitem(last=False)

    def _give_up(self, printer_id: str, asked: asyncio.Future[None]) -> None:
        if self._asked.get(printer_id) is not asked:
            return
        expected_until = self._moving.get(printer_id, 0.0)
        if expected_until > self._loop.time():
            self._loop.call_at(expected_until, self._give_up, printer_id, asked)
        else:
            self._settle(printer_id)

    def _settle(self, printer_id: str) -> None:
        """Answer those who wait for what other nodes say."""
        self._absent.pop(printer_id, None)
        self._moving.pop(printer_id, None)
        asked = self._asked.pop(printer_id, None)
        if asked is not None and not asked.done():
            asked.set_result(None)

    def _tell(self, printer_id: str) -> None:
        if (told := self.told(printer_id)) is not None:
            self._say(told)

    def _say(self, message: Said) -> None:
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
                log.exception("could not announce a tunnel to other nodes")


def _remember(known: OrderedDict[str, HoldingNode], printer_id: str, holder: HoldingNode) -> None:
    known[printer_id] = holder
    known.move_to_end(printer_id)
    if len(known) > MAX_KNOWN:
        known.popitem(last=False)
