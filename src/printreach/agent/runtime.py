"""One agent from start to stop: folder, key, state, LAN page, and then the uplink.

`run_agent` is all that composition calls: beside the printer from `run/agent.py`, and inside the
service for the home with one machine. The uplink comes in as a factory, so that everything
around it is tested without one.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol

from printreach import __version__
from printreach.agent.addresses import WebAddress, find_lan_address, join_host_port
from printreach.agent.builtin import printer_of
from printreach.agent.config import AgentConfig
from printreach.agent.data_dir import DataDirLock, DataDirRefused, prepare
from printreach.agent.keys import AgentKey, ServicePins, load_or_make_key
from printreach.agent.lan import LanSite
from printreach.agent.printer import CommandedPrinter, commanded_printer
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.state import AgentState, Phase, Snapshot
from printreach.agent.status import Announcer, StatusFile
from printreach.http1.connection import ServerLimits
from printreach.http1.server import serve

# Streams are ended and the service is told to expect the agent back; this takes no longer.
STOP_WITHIN_S: Final = 10.0
# `agent status` holds the lock for an instant; an agent that runs holds it for good.
_LOCK_TRIES: Final = 5
_LOCK_RETRY_S: Final = 0.1
# Some people with the page open, and some apps that ask; never enough to fill a small machine.
_LAN_LIMITS: Final = ServerLimits(idle_timeout_s=20.0, max_connections=32)
_SAME_MACHINE: Final = frozenset({"127.0.0.1", "::1", "localhost"})

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Clocks, randomness and standard output, which only composition may provide.

    monotonic: seconds, also while the machine sleeps. unix_time: seconds. uniform: a random
    number between two. token_bytes: N unguessable bytes. stdout: the file for announcements, or
    None.
    """

    monotonic: Callable[[], float]
    unix_time: Callable[[], float]
    uniform: Callable[[float, float], float]
    token_bytes: Callable[[int], bytes]
    stdout: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LanPlace:
    """The agent's address on the LAN.

    ip: None while it isn't known. port: of the LAN page at that address; 0 where there is none.
    """

    ip: str | None
    port: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentContext:
    """Everything that an uplink needs.

    config: its `printer` is set wherever the kind has a web server, the built-in one included.
    find_lan_address: finds the present address, which routers may change; notes it in the state.
    remote_lock: whether anybody may control the printer remotely.
    commanded: answers the command API; None where nothing does.
    """

    config: AgentConfig
    machine: Machine
    key: AgentKey
    pins: ServicePins
    state: AgentState
    announce: Announcer
    find_lan_address: Callable[[], LanPlace]
    remote_lock: RemoteLock
    commanded: CommandedPrinter | None = None


class Uplink(Protocol):
    """The agent's side of the tunnel."""

    async def run(self) -> None:
        """Connect, link, serve, and connect again; returns after stop()."""

    async def stop(self) -> None:
        """Take leave of the service and make run() return."""


UplinkFactory = Callable[[AgentContext], Uplink]


async def run_agent(
    config: AgentConfig, *, machine: Machine, make_uplink: UplinkFactory, stop: asyncio.Event
) -> None:
    """Run one agent until stop is set.

    Raises DataDirRefused and CannotStart, whose messages are sentences for the user.
    """
    prepare(config.data_dir)
    async with AsyncExitStack() as ends:
        ends.enter_context(await _take_lock(config))
        key, pins = load_or_make_key(config.data_dir), ServicePins.load(config.data_dir)
        config = replace(config, printer=await ends.enter_async_context(printer_of(config)))
        state = AgentState(_first_snapshot(config, key, pins, machine), machine.monotonic)
        status_file = StatusFile(config.data_dir)
        ends.callback(status_file.remove)
        state.observe(status_file)
        remote_lock = RemoteLock()
        commanded = await ends.enter_async_context(
            commanded_printer(config, machine, key.printer_id, remote_lock)
        )
        lan_port = await ends.enter_async_context(_lan_page(config, state, machine, commanded))
        context = AgentContext(
            config=config,
            machine=machine,
            key=key,
            pins=pins,
            state=state,
            announce=Announcer(machine.stdout),
            find_lan_address=lambda: _find_lan_address(config, state, lan_port),
            remote_lock=remote_lock,
            commanded=commanded,
        )
        context.find_lan_address()
        _log.info("Printer %s, for %s", key.printer_id, config.service)
        _warn_of_plain_text(config.service)
        await _run_until(stop, make_uplink(context), state)


async def _take_lock(config: AgentConfig) -> DataDirLock:
    for _ in range(_LOCK_TRIES):
        lock = DataDirLock.take(config.data_dir)
        if lock is not None:
            return lock
        await asyncio.sleep(_LOCK_RETRY_S)
    raise DataDirRefused(
        f"Another agent runs with the data directory {config.data_dir}: stop it, or give this one"
        " a directory of its own with --data-dir."
    )


def _first_snapshot(
    config: AgentConfig, key: AgentKey, pins: ServicePins, machine: Machine
) -> Snapshot:
    pin = pins.get(str(config.service))
    return Snapshot(
        phase=Phase.STARTING,
        phase_since=machine.monotonic(),
        printer_id=key.printer_id,
        service_url=config.service_url,
        agent_version=__version__,
        printer_name="" if pin is None else pin.printer_name,
        is_linked=pin is not None,
    )


def _warn_of_plain_text(service: WebAddress) -> None:
    """Without TLS the two ends still prove who they are, but everyone between them can listen."""
    if not service.is_tls and service.host not in _SAME_MACHINE:
        _log.warning("The way to %s is not encrypted: use https outside your own network", service)


@asynccontextmanager
async def _lan_page(
    config: AgentConfig, state: AgentState, machine: Machine, commanded: CommandedPrinter
) -> AsyncIterator[int | None]:
    """Serve the LAN page; gives its port, or None where it is not wanted or cannot listen.

    The tunnel matters more: another program on the port must not keep the printer unreachable.
    """
    listen = config.lan_listen
    if listen is None:
        yield None
        return
    try:
        popup = commanded.smart_pause_popup
        site = LanSite(state, machine.monotonic, popup)
        server = await serve(site, listen.host, listen.port, limits=_LAN_LIMITS)
    except OSError as error:
        _log.warning("No LAN page: --lan-listen %s is not available: %s", listen, error.strerror)
        yield None
        return
    try:
        yield server.port
    finally:
        await server.close()


def _find_lan_address(config: AgentConfig, state: AgentState, lan_port: int | None) -> LanPlace:
    witnesses = [config.printer.host] if config.printer else []
    address = find_lan_address([*witnesses, config.service.host])
    page = _lan_page_at(config, address, lan_port)
    state.on_lan(address, page)
    is_there = address is not None and page == join_host_port(address, lan_port or 0)
    return LanPlace(ip=address, port=lan_port or 0 if is_there else 0)


def _lan_page_at(config: AgentConfig, address: str | None, port: int | None) -> str | None:
    """Return where a person on the network finds the page, as host and port."""
    if port is None or config.lan_listen is None:
        return None
    host = config.lan_listen.host
    listens_everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    return join_host_port(address if listens_everywhere and address else host, port)


async def _run_until(stop: asyncio.Event, uplink: Uplink, state: AgentState) -> None:
    """Run the uplink to its end, or until stop is set and it had its time to take leave."""
    running = asyncio.create_task(uplink.run(), name="uplink")
    stopping = asyncio.create_task(stop.wait(), name="wait for stop")
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            state.stopping()
            await _take_leave(uplink, running)
        if running.done():
            running.result()
    finally:
        running.cancel()
        stopping.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)


async def _take_leave(uplink: Uplink, running: asyncio.Task[None]) -> None:
    try:
        async with asyncio.timeout(STOP_WITHIN_S):
            await uplink.stop()
            await asyncio.wait({running})
    except TimeoutError:
        _log.warning("The uplink did not end within %d s and is cut off", STOP_WITHIN_S)
