"""The service in one process: every role on one event loop, SQLite and an in-process web role."""

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import cast

from printreach.backends.clock import ServiceClock
from printreach.backends.counts_exchange import shared_over
from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.backends.notify_apprise import AppriseMessenger
from printreach.backends.passwords import Argon2Passwords
from printreach.backends.printer_http import RelayPrinterHttp
from printreach.backends.service_key import ServiceKey, load_or_make_service_key
from printreach.backends.web_push import WebPush, load_or_make_push_key
from printreach.backends.webhook_http import WebhookHttp
from printreach.backends.webhook_keys import open_webhook_keys
from printreach.http1.tracing import Tracing
from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.core import Core
from printreach.hub.detection.gate import flushing
from printreach.hub.payments import Billing
from printreach.hub.watch import CachedDetectorStates
from printreach.ports import Bus, Clock
from printreach.ports.payments import Payments
from printreach.ports.relaying import DetectorStates
from printreach.relay.agent_dependencies import capabilities_of
from printreach.relay.agents import AgentDependencies, Identity
from printreach.relay.asgi import Application
from printreach.relay.node import RelayDependencies, RelayNode
from printreach.relay.other_nodes import NodeDependencies
from printreach.rules.addresses import may_require_https
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.printers import Restart
from printreach.run.dependencies import (
    Dependencies,
    bus_of,
    core_of,
    open_mailer,
    open_webhook_sender,
    payments_of,
    store_of,
    tracing_of,
)
from printreach.run.in_process_relay import InProcessRelay
from printreach.run.monitoring import Readiness, health_of, looking_at, running_monitors_page
from printreach.run.scoring import Scoring, node_address, running_node, scoring_of
from printreach.run.settings import Settings
from printreach.run.sockets import address_of, for_service, port_of, service_listener
from printreach.run.web_services import DOCUMENTS, web_services
from printreach.run.worker import running_worker
from printreach.store.relay import SqlAgents, SqlEventInbox
from printreach.store.relay.grants import SqlGrants
from printreach.store.sealing import DataDirSealer
from printreach.store.store import Store
from printreach.web.app import WebSettings, create_app
from printreach.web.draining import DrainMiddleware

log = logging.getLogger(__name__)

ROLES = ("web", "relay", "worker", "detector")
ONLY_DETECTOR = frozenset({"detector"})
"""This role scores images for others and needs no database."""
SETTLE_S = 5.0
"""After a restart agents are back within a second or two; callers wait for them this long."""


@asynccontextmanager
async def running_service(
    settings: Settings, roles: frozenset[str], listeners: Sequence[socket.socket] = ()
) -> AsyncIterator[str]:
    """Run the roles as `_running_roles` does.

    The web framework wraps each exception that ends it in groups; the exception itself is raised.
    """
    try:
        async with _running_roles(settings, roles, listeners) as address:
            yield address
    except ExceptionGroup as group:
        alone: Exception = group
        while isinstance(alone, ExceptionGroup) and len(alone.exceptions) == 1:
            alone = alone.exceptions[0]
        raise alone from alone.__cause__


@asynccontextmanager
async def _running_roles(
    settings: Settings, roles: frozenset[str], listeners: Sequence[socket.socket]
) -> AsyncIterator[str]:
    """Run the roles; yield the address that accepts connections, as host and port.

    listeners: sockets that already listen. Leaving stops the service: no new requests are accepted,
    running ones get time to finish, and agents are told. Raises StoreUnavailable, DatabaseTooNew,
    KeyFileRefused, SettingsError, DetectorCannotStart, and OSError for an address in use.
    """
    async with AsyncExitStack() as ends:
        scoring = await ends.enter_async_context(scoring_of(settings, roles))
        if roles == ONLY_DETECTOR:
            yield await _start_detector_node(settings, roles, scoring, None, listeners, ends)
            return
        web: DrainMiddleware | None = None
        store = await ends.enter_async_context(store_of(settings))
        key, node_id = load_or_make_service_key(settings.data_dir), _new_node_id()
        relay = InProcessRelay(node_id)
        clock, is_alone = ServiceClock(), _is_alone(settings, roles)
        if not is_alone:
            await ends.enter_async_context(looking_at(store, clock))
        bus = await ends.enter_async_context(bus_of(settings, store, clock, relay))
        readiness = Readiness(store, bus)
        address = await _start_detector_node(settings, roles, scoring, readiness, listeners, ends)
        detector = _detector_states(settings, store, bus, clock, is_alone=is_alone)
        sealer = DataDirSealer(settings.data_dir)
        outbox = SealedOutbox(sealer=sealer, token_bytes=secrets.token_bytes)
        core = core_of(settings, store, clock, Argon2Passwords(), outbox)
        tracing = await ends.enter_async_context(tracing_of(settings, node_id))
        if not is_alone:
            await ends.enter_async_context(shared_over(bus, core.counts, node_id))
        webhook_http = open_webhook_sender(settings, ends, tracing)
        dependencies = Dependencies(
            settings=settings,
            core=core,
            bus=bus,
            printers=_printer_http(settings, relay, key, clock, ends),
            mailer=open_mailer(settings, ends),
            messenger=_open_messenger(settings, ends),
            push_sender=_push_sender(settings, webhook_http, clock),
            sealer=sealer,
            webhook_sender=webhook_http,
            webhook_keys=open_webhook_keys(settings.data_dir),
            scorer=scoring.scorer,
            detector=detector,
            payments=await _payments(settings, roles, clock, ends),
            host_keys=relay,
            restart=await _restart_of(store, clock.now()),
            is_alone=is_alone,
        )
        if "web" in roles:
            web = await _start_web(dependencies, ends)
        nodes = None if is_alone else _node_dependencies(settings, key)
        relay.node = RelayNode(
            _relay_dependencies(
                settings, core, bus, node_id, detector, key, web, nodes, readiness, tracing
            ),
            settle_s=SETTLE_S if "relay" in roles else 0.0,
        )
        ends.push_async_callback(relay.node.stop)
        if "relay" in roles:
            if nodes is not None:
                node_host, node_port = settings.node_listen or ("127.0.0.1", 0)
                await relay.node.listen_for_nodes(node_host, node_port, settings.node_url)
            if web is not None:
                # Otherwise the relay would wait for them until its deadline.
                ends.callback(web.end_streams)
            address = await _listen(settings, relay.node, listeners)
        elif web is not None:
            # granian takes 4 MB, and only a process without a relay needs it.
            from printreach.run.web_node import running_web_node

            listener = service_listener(settings, listeners)
            address = address_of(listener)
            serving = running_web_node(web, settings, listener, readiness, tracing)
            await ends.enter_async_context(serving)
        elif not address:
            health, listener = health_of(settings, readiness), service_listener(settings, listeners)
            address = await ends.enter_async_context(running_monitors_page(health, listener))
        if "worker" in roles:
            await ends.enter_async_context(running_worker(dependencies))
        if settings.stop_notice_s and roles & {"web", "relay"}:
            ends.push_async_callback(readiness.give_notice, settings.stop_notice_s)
        yield address


def _new_node_id() -> str:
    return new_record_id(secrets.token_bytes)


def _is_alone(settings: Settings, roles: frozenset[str]) -> bool:
    """Return whether this process is the whole service."""
    is_whole = roles >= {"web", "relay", "worker"}
    return is_whole and not settings.nats_urls and settings.node_listen is None


def _node_dependencies(settings: Settings, key: ServiceKey) -> NodeDependencies:
    if not settings.node_tls:
        return NodeDependencies(key=key.nodes, token_bytes=secrets.token_bytes)
    from printreach.backends.node_tls import node_tls  # few services have several nodes

    tls = node_tls(key.nodes_tls)
    return NodeDependencies(
        key=key.nodes,
        token_bytes=secrets.token_bytes,
        dialling_tls=tls.dialling,
        answering_tls=tls.answering,
    )


async def _restart_of(store: Store, at: datetime) -> Restart | None:
    """Return what is known of the run before this one."""
    alive_before = await store.read(lambda records: records.printers.last_alive_at())
    return None if alive_before is None else Restart(started_at=at, alive_before=alive_before)


def _detector_states(
    settings: Settings, store: Store, bus: Bus, clock: Clock, *, is_alone: bool
) -> DetectorStates:
    """Return the states of the failure watch; without the watch, stored ones are not consulted."""
    in_memory = MemoryDetectorStates(bus, remembers=is_alone)
    if not settings.detector_watch:
        return in_memory
    return CachedDetectorStates(heard=in_memory, store=store, clock=clock)


async def _start_detector_node(
    settings: Settings,
    roles: frozenset[str],
    scoring: Scoring,
    readiness: Readiness | None,
    listeners: Sequence[socket.socket],
    ends: AsyncExitStack,
) -> str:
    """Score for other processes if configured; return the address, or an empty string."""
    address = node_address(settings, roles)
    if address is None:
        return ""
    has_services_address = address == (settings.listen_host, settings.listen_port)
    node = running_node(
        settings,
        address,
        scoring.engine,
        readiness=readiness,
        listener=next(for_service(settings, listeners), None) if has_services_address else None,
    )
    return await ends.enter_async_context(node)


def _printer_http(
    settings: Settings,
    relay: InProcessRelay,
    key: ServiceKey,
    clock: Clock,
    ends: AsyncExitStack,
) -> RelayPrinterHttp:
    http = RelayPrinterHttp(relay.connect, settings.tunnel_domain, key.internal, clock)
    ends.push_async_callback(http.close)
    return http


def _open_messenger(settings: Settings, ends: AsyncExitStack) -> AppriseMessenger:
    messenger = AppriseMessenger(reach=settings.reach)
    ends.callback(messenger.close)
    return messenger


def _push_sender(settings: Settings, http: WebhookHttp, clock: Clock) -> WebPush:
    return WebPush(
        http=http,
        key=load_or_make_push_key(settings.data_dir),
        clock=clock,
        token_bytes=secrets.token_bytes,
        contact=settings.base_url,
    )


async def _payments(
    settings: Settings, roles: frozenset[str], clock: Clock, ends: AsyncExitStack
) -> Payments | None:
    """Open the payment provider for the roles that speak to it."""
    if roles.isdisjoint({"web", "worker"}):
        return None
    return await ends.enter_async_context(payments_of(settings, clock))


async def _start_web(dependencies: Dependencies, ends: AsyncExitStack) -> DrainMiddleware:
    """Make pages and APIs ready. If there is no operator yet, log a link that makes the first."""
    settings, services = dependencies.settings, web_services(dependencies)
    await _warn_of_unseen_payers(services.billing)
    await ends.enter_async_context(flushing(services.detection_gate))
    ends.push_async_callback(services.close)
    requires_https = may_require_https(settings.base_url) and not settings.tunnel_ports
    pages = WebSettings(
        base_url=settings.base_url,
        has_mail_server=settings.has_mail_server,
        requires_https=requires_https,
    )
    app = create_app(pages, services, DOCUMENTS)
    await ends.enter_async_context(app.lifespan())
    await services.invitations.log_setup_link()
    return DrainMiddleware(app)


async def _warn_of_unseen_payers(billing: Billing) -> None:
    """Warn the operator at the start if people pay while nothing is sold."""
    unseen = await billing.unseen()
    if unseen:
        last = max(subscription.period_ends_at for subscription in unseen)
        log.warning(
            "%d subscriptions go on at the payment provider, and nothing is sold here. What was "
            "paid counts until %s at the latest. End them at the provider, or sell again.",
            len(unseen),
            f"{last:%Y-%m-%d}",
        )


def _relay_dependencies(
    settings: Settings,
    core: Core,
    bus: Bus,
    node_id: str,
    detector: DetectorStates,
    key: ServiceKey,
    web: DrainMiddleware | None,
    nodes: NodeDependencies | None,
    readiness: Readiness,
    tracing: Tracing | None,
) -> RelayDependencies:
    store, clock = core.store, core.clock
    agents = AgentDependencies(
        agents=SqlAgents(store, secrets.token_bytes),
        detector=detector,
        events=SqlEventInbox(store, clock),
        bus=bus,
        clock=clock,
        tries=core.caller_tries,
        identity=Identity(public_key=key.public, sign=key.sign),
        token_bytes=secrets.token_bytes,
        node_id=node_id,
        base_url=settings.base_url,
        capabilities=capabilities_of(
            has_others=nodes is not None, keeps_standbys=settings.standby_tunnels
        ),
    )
    return RelayDependencies(
        grants=SqlGrants(store, clock, secrets.token_bytes, settings.supporters, key.internal),
        agents=agents,
        tunnel_domain=settings.tunnel_domain,
        networks=settings.trusted_proxies,
        detector_url=settings.detector_url,
        web=cast("Application | None", web),  # Litestar names its own types of a scope
        nodes=nodes,
        process_metrics=readiness.metrics(),
        is_ready=readiness.is_ready,
        lacks=readiness.lacks,
        histograms=readiness.histograms(),
        counts=core.counts,
        id_field=settings.request_id_field,
        tracing=tracing,
    )


async def _listen(settings: Settings, node: RelayNode, listeners: Sequence[socket.socket]) -> str:
    """Accept connections on the inherited sockets and open the others; return the service's
    address.
    """
    host, tunnel_ports = settings.listen_host, settings.tunnel_ports
    for listener in listeners:
        await node.listen_on(listener, is_tunnel_port=port_of(listener) in tunnel_ports)
    handed_over = {port_of(listener) for listener in listeners}
    await node.listen_for_tunnels(host, [port for port in tunnel_ports if port not in handed_over])
    for listener in for_service(settings, listeners):
        return address_of(listener)
    port = await node.listen(host, settings.listen_port)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def until_stopped(stop: asyncio.Event, others: list[asyncio.Task[None]]) -> None:
    """Wait for the stop; a task that fails before it ends the service too."""
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([stopping, *others], return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            if task.done():
                task.result()
    finally:
        stopping.cancel()
