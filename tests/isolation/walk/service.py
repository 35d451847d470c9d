"""The whole service of the walk in one process: real but for the network, and quick to restart.

Real are the store, the bus, the use cases, the pages and APIs, the worker, and the relay from the
bytes of a request to the frames of a tunnel. In memory are the links to agents, and whatever mails,
messages, webhooks and Home Assistant would receive.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from litestar import Litestar

from printreach.backends.bus_rows import SqliteBus, open_bus
from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.backends.printer_http import RelayPrinterHttp
from printreach.http1.client import Client
from printreach.http1.fetch import FetchedAnswer, Fetcher
from printreach.hub.core import Core
from printreach.hub.home_assistant import HomeAssistant
from printreach.hub.printers.live import LiveStatus
from printreach.hub.tries import CallerTries
from printreach.relay.agents import AgentDependencies, Identity
from printreach.relay.asgi import Application
from printreach.relay.caller_origin import Origin
from printreach.relay.connection import FrontConnection
from printreach.relay.node import RelayDependencies, RelayNode
from printreach.rules.connections.internal_grants import InternalKey
from printreach.run.dependencies import Dependencies, core_of
from printreach.run.in_process_relay import InProcessRelay
from printreach.run.settings import Settings, settings_from
from printreach.run.web_services import web_services
from printreach.run.worker import running_worker
from printreach.store.relay import SqlAgents, SqlEventInbox
from printreach.store.relay.grants import SqlGrants
from printreach.store.sealing import KeySealer
from printreach.store.store import Store
from printreach.web.app import WebSettings, build_app
from printreach.web.draining import DrainMiddleware
from printreach.web.services import Services
from printreach.wire.heads import Headers
from tests.fakes.mails import RecordingMailer
from tests.fakes.messages import RecordingMessenger
from tests.fakes.passwords import PlainPasswords
from tests.fakes.push import RecordingPush
from tests.fakes.scorer import FakeScorer
from tests.fakes.webhook_sender import FakeKeys, FakeSender
from tests.isolation.walk.agents import AgentLink
from tests.isolation.walk.home import MemoryBroker
from tests.isolation.walk.virtual_time import VirtualClock
from tests.relay.scripted_agent import SERVICE_HOST

BASE_URL: Final = f"https://{SERVICE_HOST}"
TUNNEL_DOMAIN: Final = "tunnel.example"
PROXY: Final = "127.0.0.1"
SERVICE_KEY: Final = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
INTERNAL_KEY: Final = InternalKey(b"i" * 32)


@dataclass
class Outbox:
    """What left the service. It stays over restarts, until the oracle has looked."""

    mails: RecordingMailer = field(default_factory=RecordingMailer)
    messages: RecordingMessenger = field(default_factory=RecordingMessenger)
    webhooks: FakeSender = field(default_factory=FakeSender)
    broker: MemoryBroker = field(default_factory=MemoryBroker)


class ProxiedConnection(FrontConnection):
    """A caller's connection that comes through the operator's proxy."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.peer = PROXY


class LossyBus:
    """ports.Bus, which may lose notices as buses may."""

    def __init__(self, bus: SqliteBus) -> None:
        self._bus = bus
        self.is_losing = False

    @property
    def is_available(self) -> bool:
        return not self.is_losing

    async def publish(self, notice: Any) -> None:
        await self._bus.publish(notice)

    def subscribe(self, callback: Callable[[Any], None], *wanted: Any) -> Callable[[], None]:
        def pass_on(notice: Any) -> None:
            if not self.is_losing:
                callback(notice)

        return self._bus.subscribe(pass_on, *wanted)


class WebApp:
    """The application, built once: to register its routes takes longer than all else of a start."""

    services: Services

    def __init__(self, settings: Settings) -> None:
        web = WebSettings(base_url=settings.base_url, has_mail_server=True)
        self.app: Litestar = build_app(web, lambda: self.services, None)


@dataclass(kw_only=True)
class Service:
    """One run of the service, from its start to its stop."""

    node: RelayNode
    core: Core
    services: Services
    bus: LossyBus
    store: Store
    application: Application
    clock: VirtualClock
    _client: Client

    async def ask(
        self, host: str, method: str, target: str, headers: Headers, body: bytes = b""
    ) -> FetchedAnswer:
        """Ask as a caller behind the proxy does, and read the whole answer."""
        fetcher = Fetcher(self._client, host.encode())
        return await fetcher.fetch(method.encode(), target.encode(), headers, body, may_repeat=True)

    def fetcher(self, host: str) -> Fetcher:
        """For answers that go on."""
        return Fetcher(self._client, host.encode())

    def accept_agent(self, link: AgentLink, address: str) -> None:
        """As if an agent had dialled and its WebSocket was there."""
        desk = self.node._agents
        place = desk.unsigned.take(Origin("https", address, is_proven=True))
        assert place is not None, "too many agents sign in at once"
        desk.accept(link, address, place)


def walk_settings(folder: Path) -> Settings:
    """Of the installation; only supporters have App Connections, so that status matters."""
    return settings_from(
        {
            "PRINTREACH_DATA_DIR": str(folder),
            "PRINTREACH_BASE_URL": BASE_URL,
            "PRINTREACH_TUNNEL_DOMAIN": TUNNEL_DOMAIN,
            "PRINTREACH_TRUSTED_PROXIES": PROXY,
            "PRINTREACH_SUPPORTERS": "granted",
            "PRINTREACH_DETECTOR_WATCH": "false",
            "PRINTREACH_SMTP_URL": "smtp://mail.example:25",
        }
    )


@asynccontextmanager
async def running(
    settings: Settings, clock: VirtualClock, outbox: Outbox, web: WebApp
) -> AsyncIterator[Service]:
    """Start the service on its database, with nothing in memory of an earlier run."""
    async with AsyncExitStack() as ends:
        store = Store(settings.database_path, KeySealer(b"s" * 32, secrets.token_bytes))
        store.start()
        ends.push_async_callback(store.close)
        bus = LossyBus(await ends.enter_async_context(open_bus(store, clock)))
        inside = InProcessRelay("node")
        http = RelayPrinterHttp(inside.connect, TUNNEL_DOMAIN, INTERNAL_KEY, clock)
        ends.push_async_callback(http.close)
        detector = MemoryDetectorStates(bus)
        core = core_of(settings, store, clock, PlainPasswords(), outbox.mails)
        scorer = FakeScorer()
        dependencies = Dependencies(
            settings=settings,
            core=core,
            mailer=outbox.mails,
            messenger=outbox.messages,
            push_sender=RecordingPush(),
            sealer=KeySealer(b"s" * 32, secrets.token_bytes),
            webhook_sender=outbox.webhooks,
            webhook_keys=FakeKeys(),
            bus=bus,
            printers=http,
            detector=detector,
            scorer=scorer,
            host_keys=inside,
        )
        services = web_services(dependencies)
        web.services = services
        ends.push_async_callback(services.close)
        draining = DrainMiddleware(web.app)
        application = cast("Application", draining)
        node = inside.node = RelayNode(_relay(settings, store, bus, clock, detector, application))
        ends.push_async_callback(node.stop, 0.0)
        ends.callback(draining.end_streams)
        await ends.enter_async_context(running_worker(dependencies))
        await ends.enter_async_context(_home_assistant(core, http, outbox.broker))
        client = Client(_connect_to(node), first_byte_s=60.0)
        ends.push_async_callback(client.close)
        yield Service(
            node=node,
            core=core,
            services=services,
            bus=bus,
            store=store,
            application=application,
            clock=clock,
            _client=client,
        )


def _relay(
    settings: Settings,
    store: Store,
    bus: LossyBus,
    clock: VirtualClock,
    detector: MemoryDetectorStates,
    application: Application,
) -> RelayDependencies:
    agents = AgentDependencies(
        agents=SqlAgents(store, secrets.token_bytes),
        detector=detector,
        events=SqlEventInbox(store, clock),
        bus=bus,
        clock=clock,
        tries=CallerTries(clock),
        identity=Identity(
            public_key=SERVICE_KEY.public_key().public_bytes_raw(), sign=SERVICE_KEY.sign
        ),
        token_bytes=secrets.token_bytes,
        node_id=secrets.token_hex(12),
        base_url=BASE_URL,
    )
    return RelayDependencies(
        grants=SqlGrants(store, clock, secrets.token_bytes, settings.supporters, INTERNAL_KEY),
        agents=agents,
        tunnel_domain=TUNNEL_DOMAIN,
        networks=(ip_network(PROXY),),
        web=application,
    )


@asynccontextmanager
async def _home_assistant(
    core: Core, http: RelayPrinterHttp, broker: MemoryBroker
) -> AsyncIterator[None]:
    live = LiveStatus(http, core.clock)
    home = HomeAssistant(core=core, broker=broker, live=live, printers=http, version="1.0")
    task = asyncio.create_task(home.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await live.close()


def _connect_to(node: RelayNode) -> Callable[[Callable[[], asyncio.Protocol]], Any]:
    """http1.client.Connect: to the front, as its proxy does."""
    loop = asyncio.get_running_loop()

    async def connect(protocol: Callable[[], asyncio.Protocol]) -> object:
        caller, ours = socket.socketpair()
        for end in (caller, ours):
            end.setblocking(False)
        await loop.connect_accepted_socket(lambda: ProxiedConnection(node._front, None), ours)
        return await loop.create_unix_connection(protocol, sock=caller)

    return connect
