"""A real relay node on loopback, with everything around it in memory."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.backends.counts_exchange import shared_over
from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.backends.node_tls import NodeTls
from printreach.contract.cameras import CameraChoice
from printreach.contract.unset import UNSET, UnsetType
from printreach.http1.tracing import Tracing
from printreach.hub.tries import CallerTries
from printreach.limiters.shared_counts import SharedCounts
from printreach.ports import Notice, Topic
from printreach.relay.agents import AgentDependencies, Identity
from printreach.relay.asgi import Application
from printreach.relay.caller_origin import Network
from printreach.relay.node import RelayDependencies, RelayNode
from printreach.relay.other_nodes import NodeDependencies
from printreach.relay.timeouts import Timeouts
from printreach.rules.connections import DEFAULT_LIMITS, ConnectionKind, Grant, Limits
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.connections.permissions import FULL_ACCESS
from printreach.rules.connections.permissions import Access as Granted
from printreach.rules.nodes import NodeKey
from tests.fakes.agents import MemoryAgents
from tests.fakes.clock import FakeClock
from tests.fakes.events import MemoryEventInbox
from tests.fakes.grants import MemoryGrants
from tests.fakes.memory_bus import MemoryBus
from tests.relay.scripted_agent import Script, ScriptedAgent, echo, printer_id
from tests.relay.waiting import PATIENCE_S, until
from tests.relay.web_role import WebRole

OWN = b"relay.example"
TUNNEL_DOMAIN = "tunnel.example"
NODE_ID = "node-1"
SERVICE_KEY = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
RUN = "run-of-the-agent"
QUICK = Timeouts(head=2 * PATIENCE_S, ended=0.2, sweep=0.01)
"""The real deadlines, looked at all the time. But who has connected may take its time to ask: the
test does much in between, and a busy machine stands still."""


@dataclass(frozen=True, slots=True)
class Access:
    """A connection to a printer, with the credentials of its app."""

    unique_id: str
    token: bytes

    @property
    def host(self) -> bytes:
        return f"{self.unique_id}.{TUNNEL_DOMAIN}".encode()

    @property
    def bearer(self) -> bytes:
        """The header line that opens it."""
        return b"Authorization: Bearer " + self.token


@dataclass
class Rig:
    """One node, with its address and the fakes that it uses."""

    node: RelayNode
    clock: FakeClock
    bus: MemoryBus
    grants: MemoryGrants
    agents: MemoryAgents
    detector: MemoryDetectorStates
    events: MemoryEventInbox
    web: WebRole
    port: int = 0
    node_port: int = 0
    running: list[ScriptedAgent] = field(default_factory=list)
    stopping: asyncio.Task[None] | None = None

    def connect(
        self,
        unique_id: str = "app-one",
        *,
        printer: str = "one",
        account: str = "ada",
        kind: ConnectionKind = ConnectionKind.APP,
        limits: Limits = DEFAULT_LIMITS,
        supporter: bool = True,
        port: int | None = None,
        may: Granted = FULL_ACCESS,
        cameras: tuple[CameraChoice, ...] = (),
    ) -> Access:
        """Make a connection to the printer of the agent of that name."""
        access = Access(unique_id, f"token-of-{unique_id}".encode())
        grant = Grant(
            unique_id=unique_id,
            connection_id=f"id-of-{unique_id}",
            kind=kind,
            printer_id=printer_id(printer),
            account_id=account,
            digests=_digests(kind, access.token),
            ended=False,
            expires_at=None,
            owner_is_supporter=supporter,
            limits=limits,
            access=may,
            cameras=cameras,
        )
        self.grants.put(grant, port=port)
        return access

    async def permit(self, access: Access, may: Granted) -> None:
        """Change a connection's permissions, with a notice."""
        grant = await self.grants.grant(access.unique_id)
        assert grant is not None
        self.grants.put(replace(grant, access=may))
        await self.notify(Topic.CONNECTION, access.unique_id)

    async def agent(
        self,
        name: str = "one",
        script: Script = echo,
        *,
        platform: str = "moonraker",
        capabilities: tuple[str, ...] = (),
        agent_run: str | UnsetType = UNSET,
    ) -> ScriptedAgent:
        """Run the agent of a linked printer; requests reach it from now on."""
        agent = ScriptedAgent(
            name, script, platform=platform, capabilities=capabilities, agent_run=agent_run
        )
        self.agents.link(agent.printer_id)
        await agent.sign_in(self.port)
        self.running.append(agent)
        await until(lambda: agent.printer_id in self.agents.presence)
        return agent

    async def standby(
        self,
        name: str = "one",
        script: Script = echo,
        *,
        capabilities: tuple[str, ...] = (),
        agent_run: str = RUN,
    ) -> ScriptedAgent:
        """Open the second tunnel of an agent; requests reach it from now on."""
        agent = ScriptedAgent(
            name, script, capabilities=capabilities, agent_run=agent_run, is_standby=True
        )
        await agent.sign_in(self.port)
        self.running.append(agent)
        return agent

    def figure(self, name: str) -> float:
        """Return the current value of a metric."""
        return self.node.metrics[f"printreach_{name}"][1]()

    def begin_stop(self, grace_s: float) -> asyncio.Task[None]:
        """Stop as the service does; the end of the test waits for it."""
        self.stopping = asyncio.create_task(self.node.stop(grace_s))
        return self.stopping

    async def notify(self, topic: Topic, key: str) -> None:
        await self.bus.publish(Notice(topic, key))

    async def revoke(self, access: Access) -> None:
        """End a connection, with a notice."""
        self.grants.end(access.unique_id)
        await self.notify(Topic.CONNECTION, access.unique_id)


def _digests(kind: ConnectionKind, token: bytes) -> tuple[bytes, ...]:
    if kind is ConnectionKind.OWN:
        return ()
    pair = b"user:" + token
    return (digest(CredentialKind.BASIC, pair), digest(CredentialKind.BEARER, token))


@asynccontextmanager
async def relay(
    *,
    timeouts: Timeouts = QUICK,
    networks: Sequence[Network] = (),
    scheme: str = "http",
    settle_s: float = 0.0,
    web_app: Application | None = None,
    has_web: bool = True,
    detector_url: str = "",
    node_id: str = NODE_ID,
    beside: Rig | None = None,
    node_key: NodeKey | None = None,
    listens: bool = True,
    tls: NodeTls | None = None,
    id_field: bytes = b"",
    tracing: Tracing | None = None,
) -> AsyncIterator[Rig]:
    """Run a node. Leaving stops it at once; whatever still runs is broken off.

    web_app: the web role, instead of one that tells what it was asked. beside: another node of the
    same service. node_key: what nodes prove that they have; None for a service of one node.
    listens: False for a node of another role, which reaches printers by other nodes alone. tls:
    between nodes. id_field: in which proxies of `networks` name requests. tracing: is
    told of requests.
    """
    clock, bus, agents, web = FakeClock(), MemoryBus(), MemoryAgents(), WebRole()
    detector, events = MemoryDetectorStates(bus), MemoryEventInbox()
    numbers = count()
    grants = MemoryGrants(clock, agents)
    if beside is not None:
        clock, bus, agents, grants = beside.clock, beside.bus, beside.agents, beside.grants
        detector, events = beside.detector, beside.events
    nodes, counts = None, SharedCounts()
    if node_key is not None:
        nodes = NodeDependencies(
            key=node_key,
            token_bytes=os.urandom,
            dialling_tls=tls.dialling if tls else None,
            answering_tls=tls.answering if tls else None,
        )
    outside = RelayDependencies(
        grants=grants,
        agents=AgentDependencies(
            agents=agents,
            detector=detector,
            events=events,
            bus=bus,
            clock=clock,
            tries=CallerTries(clock, counts=counts),
            identity=Identity(
                public_key=SERVICE_KEY.public_key().public_bytes_raw(), sign=SERVICE_KEY.sign
            ),
            token_bytes=lambda size: next(numbers).to_bytes(size, "big"),
            node_id=node_id,
            base_url=f"{scheme}://{OWN.decode()}",
        ),
        tunnel_domain=TUNNEL_DOMAIN,
        networks=networks,
        web=(web_app or web) if has_web else None,
        detector_url=detector_url,
        nodes=nodes,
        counts=counts,
        id_field=id_field,
        tracing=tracing,
    )
    node = RelayNode(outside, timeouts, settle_s=settle_s)
    rig = Rig(node, clock, bus, grants, agents, detector, events, web)
    ends = AsyncExitStack()
    try:
        if nodes is not None:
            await ends.enter_async_context(shared_over(bus, counts, node_id))
        if listens:
            rig.port = await rig.node.listen("127.0.0.1", 0)
        if listens and nodes is not None:
            rig.node_port = await rig.node.listen_for_nodes("127.0.0.1", 0)
        yield rig
    finally:
        for agent in rig.running:
            agent.leave()
        await (rig.stopping or rig.node.stop(grace_s=0.0))
        await ends.aclose()
