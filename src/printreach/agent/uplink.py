"""The agent's side of the tunnel: connect, sign in, serve, and connect again.

Where the service offers that, the agent keeps a second tunnel, a standby, to another node. It
carries requests. Once the primary tunnel ends, the standby becomes the primary one.
"""

import asyncio
import errno
import logging
from collections.abc import Callable
from typing import Final

from printreach.agent.addresses import WebAddress
from printreach.agent.local_http import LocalRequests
from printreach.agent.runtime import AgentContext
from printreach.agent.serve import StreamServer
from printreach.agent.service_connection import ConnectionEnd, ServiceConnection
from printreach.http1.client import Client, Connect
from printreach.limiters.request_queue import RequestQueue
from printreach.printers.connecting import unverified_tls
from printreach.rules.backoff import Backoff
from printreach.rules.printers import RECONNECT

log = logging.getLogger(__name__)

STEADY_S = 10.0
"""A tunnel that lasted less counts as a failure, so that the agent backs off."""
MOVE_WITHIN_S = 1.0
"""The time over which agents reconnect to a service that restarts."""
STANDBY_WITHIN_S = 2.0
"""The time over which agents dial their standby tunnels once they are connected. There is no hurry,
and where a relay died thousands do so."""
STANDBY_RETRY: Final = Backoff.doubling(0.5, 600.0)
"""The pauses of an agent without a standby. A proxy may choose the node of the primary tunnel some
times in a row; in a service with one relay it always does."""
LONG_WAIT_S = 60.0
"""Seconds to wait after a refusal: nothing changes until a person acts."""
MAX_UNANSWERED = 64
"""How many requests may wait for the printer's answer: a page sends fewer, and a Raspberry Pi can
handle as many. A request that is being answered doesn't count, so webcams don't either."""
TELL_EVERY_S: Final = 60.0
_SHORT_OF_DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE})


class Uplink:
    """Keeps a tunnel to the service while the agent runs, and a standby where that offers one."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._is_stopping = asyncio.Event()
        self._agent_run = context.machine.token_bytes(16).hex()
        self._connections: set[ServiceConnection] = set()  # more than one while the agent moves
        self._standby: ServiceConnection | None = None

    async def run(self) -> None:
        server, client = _stream_server(self._context)
        loop = asyncio.get_running_loop()
        failures = 0
        was_linked = False  # that the agent is linked
        primary: ServiceConnection | None = None
        try:
            while not self._is_stopping.is_set():
                began_at = loop.time()
                primary = primary or self._connect(server, was_linked=was_linked)
                end = await self._end_of(primary, server)
                was_linked = primary.was_linked
                primary = self._take_over(end)
                lasted = end.has_served and loop.time() - began_at > STEADY_S
                failures = 1 if lasted else failures + 1
                if primary is None and not self._is_stopping.is_set():
                    await self._wait(end, failures)
        finally:
            for connection in list(self._connections):
                connection.leave()
            if client is not None:
                await client.close()

    async def stop(self) -> None:
        self._is_stopping.set()
        for connection in list(self._connections):
            connection.leave()

    def _connect(
        self, server: StreamServer, *, was_linked: bool, is_standby: bool = False
    ) -> ServiceConnection:
        return ServiceConnection(
            self._context,
            server,
            self._connections,
            was_linked=was_linked,
            agent_run=self._agent_run,
            is_standby=is_standby,
        )

    async def _end_of(self, primary: ServiceConnection, server: StreamServer) -> ConnectionEnd:
        """Keep a standby until the primary connection ends."""
        keeping = asyncio.create_task(self._keep_standby(primary, server))
        try:
            return await asyncio.shield(primary.ended)
        finally:
            keeping.cancel()

    async def _keep_standby(self, primary: ServiceConnection, server: StreamServer) -> None:
        """Dial a standby as soon as the service offers one, and again whenever it ends."""
        await primary.until_it_serves()
        if not primary.offers_standby:
            return
        uniform, loop = self._context.machine.uniform, asyncio.get_running_loop()
        failures, delay_s = 0, uniform(0.0, STANDBY_WITHIN_S)
        while True:
            await asyncio.sleep(delay_s)
            began_at = loop.time()
            self._standby = self._connect(server, was_linked=True, is_standby=True)
            end = await asyncio.shield(self._standby.ended)
            self._standby = None
            level = logging.WARNING if end.is_refusal else logging.DEBUG
            log.log(level, "There is no standby tunnel for now: %s", end.sentence)
            lasted = end.has_served and loop.time() - began_at > STEADY_S
            failures = 1 if lasted else failures + 1
            delay_s = STANDBY_RETRY.jittered_s(failures, uniform)
            if end.is_moving:
                failures, delay_s = 0, uniform(0.0, MOVE_WITHIN_S)

    def _take_over(self, end: ConnectionEnd) -> ServiceConnection | None:
        """Go on with the standby after the end of the primary, if it serves and may."""
        standby, self._standby = self._standby, None
        if standby is None:
            return None
        if end.ends_all or self._is_stopping.is_set() or not standby.is_serving:
            standby.leave("the primary tunnel has ended")
            return None
        log.log(
            logging.INFO if end.is_moving else logging.WARNING,
            "%s The standby tunnel takes its place.",
            end.sentence,
        )
        standby.become_primary()
        return standby

    async def _wait(self, end: ConnectionEnd, failures: int) -> None:
        context = self._context
        if end.is_moving:
            # No announcement: the old tunnel still serves what it carries.
            await self._sleep(context.machine.uniform(0.0, MOVE_WITHIN_S))
            return
        delay_s = RECONNECT.jittered_s(failures, context.machine.uniform)
        if end.is_refusal:
            delay_s += LONG_WAIT_S
        retry_at = context.machine.monotonic() + delay_s
        if end.is_refusal:
            context.state.refused(end.sentence, retry_at)
        else:
            context.state.disconnected(end.sentence, retry_at)
        log.warning("%s Next try in %.1f s.", end.sentence, delay_s)
        context.announce.disconnected(delay_s)
        await self._sleep(delay_s)

    async def _sleep(self, delay_s: float) -> None:
        try:
            async with asyncio.timeout(delay_s):
                await self._is_stopping.wait()
        except TimeoutError:
            pass  # time for the next try


def _stream_server(context: AgentContext) -> tuple[StreamServer, Client | None]:
    kind, server = context.config.kind, context.config.web_server
    allowed, remote_lock = context.config.limits.allowed, context.remote_lock
    commands = context.commanded.api if context.commanded is not None else None
    if server is None:
        no_server = f"A {kind.title} printer has no web server."
        streams = StreamServer(None, no_server, commands, remote_lock=remote_lock, allowed=allowed)
        return streams, None
    shortage = DescriptorShortage(context.machine.monotonic)
    client = Client(_connect_to(server, shortage), queue=RequestQueue(MAX_UNANSWERED))
    local = LocalRequests(client, server, wants_outside_host=kind.wants_outside_host)
    streams = StreamServer(local, "", commands, remote_lock=remote_lock, allowed=allowed)
    return streams, client


class DescriptorShortage:
    """Logs connections that failed for want of descriptors. monotonic: a clock, in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._logged_at: float | None = None

    def log_if_short(self, failure: OSError) -> None:
        """Log a failed connection to the printer if descriptors have run out."""
        if failure.errno not in _SHORT_OF_DESCRIPTORS:
            return
        now = self._monotonic()
        if self._logged_at is not None and now < self._logged_at + TELL_EVERY_S:
            return
        self._logged_at = now
        log.error(
            "file descriptors run out: new requests to the printer are refused until some end;"
            " LimitNOFILE= in the unit or `ulimit -n` allows more"
        )


def _connect_to(server: WebAddress, shortage: DescriptorShortage) -> Connect:
    """Connect to the printer's web server."""
    loop = asyncio.get_running_loop()
    context = unverified_tls() if server.is_tls else None

    async def connect(protocol: Callable[[], asyncio.Protocol]) -> object:
        try:
            return await loop.create_connection(protocol, server.host, server.port, ssl=context)
        except OSError as failure:
            shortage.log_if_short(failure)
            raise

    return connect
