"""Several accounts, their printers and connections on a real store, behind a real relay node."""

import asyncio
import base64
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.backends.bus_rows import SqliteBus, open_bus
from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.contract import signin
from printreach.hub.connections import Shared
from printreach.hub.connections.own import LIFETIMES, OwnConnections
from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import CallerTries
from printreach.ports import Notice, Topic
from printreach.relay.agents import AgentDependencies, Identity
from printreach.relay.node import RelayDependencies, RelayNode
from printreach.rules.connections.credentials import AppSecrets
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import Printer
from printreach.store.relay import SqlEventInbox
from tests.hub.world import OpenWorld, World
from tests.relay.caller import Answer, Caller, request
from tests.relay.scripted_agent import SERVICE_HOST, Asked, ScriptedAgent
from tests.relay.waiting import settle, until
from tests.relay.web_role import WebRole

APP = "app"
GRANT_TTL_S = 30.0
"""So long, at most, the relay goes by what it knew of a connection before it lost a notice."""
COOKIE = b"__Host-printreach_own"


class PatientLoop(asyncio.SelectorEventLoop):
    """A loop whose clock a test can put forward."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


class LossyBus:
    """A bus that may lose notices, as buses may."""

    def __init__(self, bus: SqliteBus) -> None:
        self._bus = bus
        self._marks = 0
        self.is_losing = False

    @property
    def is_available(self) -> bool:
        return not self.is_losing

    async def publish(self, notice: Notice) -> None:
        await self._bus.publish(notice)

    def subscribe(
        self, callback: Callable[[Notice], None], *wanted: Topic | Notice
    ) -> Callable[[], None]:
        def pass_on(notice: Notice) -> None:
            if not self.is_losing:
                callback(notice)

        return self._bus.subscribe(pass_on, *wanted)

    async def catch_up(self) -> None:
        """Wait until all that was published so far has been told, or lost."""
        self._marks += 1
        mark, is_told = Notice(Topic.EVENT, f"mark {self._marks}"), asyncio.Event()
        unsubscribe = self._bus.subscribe(lambda _: is_told.set(), mark)
        await self._bus.publish(mark)
        await is_told.wait()
        unsubscribe()


@dataclass(frozen=True)
class Proof:
    """What opens a connection: header lines, or a query."""

    fields: tuple[bytes, ...] = ()
    query: bytes = b""


@dataclass
class Access:
    """One connection as whoever uses it knows it.

    port: its own, where connections have ports. secrets: what no printer may ever see. surely_at:
    from then on the relay knows of it for sure. ended_at: seconds of the loop's clock, once it
    has ended; was_told: whether the relay knows of that. expires_at: by the service's clock.
    """

    host: bytes
    port: int | None
    connection_id: str
    printer: str
    proofs: list[Proof]
    secrets: list[bytes]
    is_own: bool = False
    surely_at: float = 0.0
    expires_at: datetime | None = None
    ended_at: float | None = None
    was_told: bool = False


@dataclass(frozen=True)
class Reached:
    """A request that arrived at a printer."""

    printer: str
    asked: Asked


@dataclass
class Isolation:
    """The world, the node, and what has happened."""

    hub: World
    node: RelayNode
    bus: LossyBus
    port: int
    agents: dict[str, ScriptedAgent] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    _account_ids: dict[str, str] = field(default_factory=dict)
    _tunnels: list[ScriptedAgent] = field(default_factory=list)  # older ones too, while they last
    _callers: dict[int, Caller] = field(default_factory=dict)

    # --- what people do ---------------------------------------------------------------------------

    async def connect_agent(self, name: str) -> None:
        """The agent dials, for the first time or anew; an older tunnel of its is replaced."""
        agent = ScriptedAgent(name, script=answer)
        await agent.dial(self.port)
        await agent.prove()
        kind = signin.Welcome if name in self.owners else signin.LinkOffer
        await until(lambda: any(isinstance(said, kind) for said in agent.heard))
        self.agents[name] = agent
        self._tunnels.append(agent)
        await settle(5)

    async def disconnect_agent(self, name: str) -> None:
        self.agents[name].leave()
        await self._settle()

    async def link(self, name: str, email: str) -> None:
        """The account takes the printer whose agent shows a code."""
        await self.connect_agent(name)  # for a code of now: the clock leaps hours ahead at times
        agent = self.agents[name]
        code = await agent.hear(signin.LinkOffer)
        linked = await self.hub.printers.link(code.link_code, email, name)
        assert isinstance(linked, Printer), linked
        await agent.hear(signin.Linked)
        self.owners[name] = email
        self._account_ids[name] = linked.account_id
        await self.bus.catch_up()

    async def unlink(self, name: str) -> None:
        """The account gives the printer up; all connections to it end."""
        await self.hub.printers.remove(self._printer_id(name))
        del self.owners[name]
        for access in self.accesses:
            if access.printer == name:
                self._ended(access, was_told=not self.bus.is_losing)
        await self.bus.catch_up()
        if not self.bus.is_losing and name in self.agents:
            await until(lambda: self.agents[name].closed)
        await self._settle()

    async def add_connection(self, name: str) -> None:
        """An app gets a connection, unless no port is left for it."""
        made = await self.hub.connections.add_for_app(APP, self._printer_id(name))
        if not self._no_port_is_left(made):
            assert isinstance(made, Completion), made
            self._remember(name, made.connection_id, made.url, made.secrets)
        await self.bus.catch_up()  # the port may have been another's

    async def share(self, name: str, hours: str) -> None:
        """The owner shares the printer, for a while. hours: a key of LIFETIMES."""
        hub = self.hub
        own = OwnConnections(core=hub.core, connections=hub.connections)
        made = await own.share(self._account_ids[name], self._printer_id(name), hours)
        if not self._no_port_is_left(made):
            assert isinstance(made, Shared), made
            access = self._remember(name, made.connection.connection_id, made.url, made.secrets)
            access.expires_at = hub.clock.now() + LIFETIMES[hours]
        await self.bus.catch_up()

    async def open_own_host(self, name: str) -> None:
        """The owner's browser opens the printer by a single-use link, unless no port is left."""
        url = await self.hub.connections.open_own(self._printer_id(name))
        await self.bus.catch_up()  # the port may have been another's
        if self._no_port_is_left(url):
            return
        assert isinstance(url, str), url
        link, now = urlsplit(url), asyncio.get_running_loop().time()
        host = link.netloc.encode()
        target = f"{link.path}?{link.query}".encode()
        answer = await self.ask(request(host, target=target), link.port)
        if self.bus.is_losing and link.port and answer.status in (603, 606):
            return  # the relay takes the port for another's yet
        assert answer.status in (200, 303), answer
        cookie = (answer.get(b"set-cookie") or b"").partition(b";")[0]
        secret = cookie.partition(b"=")[2]
        connections = await self.hub.connections.all()
        opened = [
            one
            for one in connections
            if self.hub.connections.core.addresses.of_connection(one)
            == f"{link.scheme}://{link.netloc}"
        ]
        self.accesses.append(
            Access(
                host=host,
                port=link.port,
                connection_id=opened[-1].connection_id,
                printer=name,
                proofs=[Proof((b"Sec-Fetch-Site: none", b"Cookie: theme=dark; " + cookie))],
                secrets=[secret, link.query.encode()],
                is_own=True,
                surely_at=now + GRANT_TTL_S if self.bus.is_losing and link.port else now,
            )
        )

    async def revoke(self, access: Access) -> None:
        """Somebody ends a connection; several cookies may belong to one."""
        await self.hub.connections.revoke(access.connection_id)
        for one in self.accesses:
            if one.connection_id == access.connection_id:
                self._ended(one, was_told=not self.bus.is_losing)
        await self.bus.catch_up()

    async def let_half_a_day_pass(self) -> None:
        """What browsers were signed in with is over, and some of what was shared."""
        now = self.hub.clock.advance(timedelta(hours=13))
        for access in self.accesses:
            if access.is_own:
                self._ended(access, was_told=False)
            elif access.expires_at is not None and now >= access.expires_at:
                self._ended(access, was_told=True)  # it knew from the beginning

    async def pass_time(self, seconds: int) -> None:
        """Let the loop's clock go forward, a second at a time, so that pings are answered."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PatientLoop)
        for _ in range(seconds):
            loop.ahead_s += 1.0
            await settle(2)
        await self._settle()

    # --- what a caller sees, and what printers see ------------------------------------------------

    async def ask(self, raw: bytes, port: int | None = None) -> Answer:
        """Send a request. All to one port go over one connection, as through a proxy."""
        port = port or self.port
        if port not in self._callers:
            self._callers[port] = await Caller.connect(port)
        self._callers[port].send(raw)
        return await self._callers[port].answer()

    def news(self) -> list[Reached]:
        """What has reached any printer since the last look."""
        found = [Reached(agent.name, asked) for agent in self._tunnels for asked in agent.asked]
        for agent in self._tunnels:
            agent.asked.clear()
        return found

    @property
    def to_be_linked(self) -> list[str]:
        """Printers that belong to nobody, and whose agents show a code."""
        return [name for name in self.agents if name not in self.owners]

    def planted_cookies(self, to: Access) -> bytes:
        """A Cookie line with the secrets of everybody's connections, under our cookies' names.

        to: whose port they go to. What opens that port now is left out.
        """
        ports = {access.port for access in self.accesses if access.port is not None}
        names = [COOKIE, *(b"%b_%d" % (COOKIE, port) for port in sorted(ports))]
        others = [one for one in self.accesses if one.port is None or one.port != to.port]
        known = [secret for access in others for secret in access.secrets]
        return b"; ".join(b"%b=%b" % (name, secret) for name in names for secret in known)

    async def _settle(self) -> None:
        """Let what has happened be noticed by agents."""
        await settle(5)
        self._tunnels = [agent for agent in self._tunnels if agent.closed is None]
        self.agents = {name: agent for name, agent in self.agents.items() if agent.closed is None}

    def _no_port_is_left(self, made: object) -> bool:
        return isinstance(made, Denied) and made.reason is Reason.NO_PORT_LEFT

    def _remember(self, name: str, connection_id: str, url: str, told: AppSecrets) -> Access:
        parts, token = urlsplit(url), told.bearer_token.encode()
        pair = base64.b64encode(f"{told.basic_user}:{told.basic_password}".encode())
        now = asyncio.get_running_loop().time()
        access = Access(
            host=parts.netloc.encode(),
            port=parts.port,
            connection_id=connection_id,
            printer=name,
            proofs=[
                Proof((b"Authorization: Basic " + pair,)),
                Proof((b"Authorization: Bearer " + token,)),
                Proof(query=b"?service_api_key=" + token),
                Proof(query=b"?service_api_key=" + pair.replace(b"=", b"%3D")),
            ],
            secrets=[pair, token, told.basic_password.encode()],
            # Its port may have been another's, and the notice of that was lost.
            surely_at=now + GRANT_TTL_S if self.bus.is_losing and parts.port else now,
        )
        self.accesses.append(access)
        return access

    def _ended(self, access: Access, *, was_told: bool) -> None:
        if access.ended_at is None:
            access.ended_at = asyncio.get_running_loop().time()
        access.was_told = access.was_told or was_told

    def _printer_id(self, name: str) -> str:
        return ScriptedAgent(name).printer_id


def answer(asked: Asked) -> None:
    """As a printer does."""
    asked.answer_with_length(asked.target)


async def begin(path: Path, ends: AsyncExitStack, ports: range) -> Isolation:
    """Everything, with two accounts and nothing linked. ports: those that connections get."""
    hub = await ends.enter_async_context(OpenWorld(path)(ports))
    bus = LossyBus(await ends.enter_async_context(open_bus(hub.store, hub.clock)))
    key = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
    outside = RelayDependencies(
        grants=hub.grants,
        agents=AgentDependencies(
            agents=hub.agents,
            detector=MemoryDetectorStates(bus),
            events=SqlEventInbox(hub.store, hub.clock),
            bus=bus,
            clock=hub.clock,
            tries=CallerTries(hub.clock),
            identity=Identity(public_key=key.public_key().public_bytes_raw(), sign=key.sign),
            token_bytes=secrets.token_bytes,
            node_id="node-1",
            base_url=f"https://{SERVICE_HOST}",
        ),
        tunnel_domain="tunnel.example",
        networks=(),
        web=WebRole(),
    )
    node = RelayNode(outside)
    ends.push_async_callback(node.stop, 0.0)
    port = await node.listen("127.0.0.1", 0)
    await node.listen_for_tunnels("127.0.0.1", ports)
    return Isolation(hub, node, bus, port)
