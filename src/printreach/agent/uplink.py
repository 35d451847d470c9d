"""The agent's side of the tunnel: connect, sign in, serve, and connect again."""

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
from printreach.rules.printers import RECONNECT

log = logging.getLogger(__name__)

STEADY_S = 10.0
"""A tunnel that lasted less counts as a failure, so that the agent backs off."""
MOVE_WITHIN_S = 1.0
"""The time over which agents reconnect to a service that restarts."""
LONG_WAIT_S = 60.0
"""Seconds to wait after a refusal: nothing changes until a person acts."""
MAX_UNANSWERED = 64
"""How many requests may wait for the printer's answer: a page sends fewer, and a Raspberry Pi can
handle as many. A request that is being answered doesn't count, so webcams don't either."""
TELL_EVERY_S: Final = 60.0
_SHORT_OF_DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE})


class Uplink:
    """Keeps one tunnel to the service while the agent runs."""

    def __init__(self, context: AgentContext) -> None:
        self._context = context
        self._is_stopping = asyncio.Event()
        self._connections: set[ServiceConnection] = set()  # more than one while the agent moves

    async def run(self) -> None:
        server, client = _stream_server(self._context)
        loop = asyncio.get_running_loop()
        failures = 0
        was_linked = False  # that the agent is linked
        try:
            while not self._is_stopping.is_set():
                began_at = loop.time()
                connection = ServiceConnection(
                    self._context, server, self._connections.discard, was_linked=was_linked
                )
                self._connections.add(connection)
                end = await connection.run()
                was_linked = connection.was_linked
                lasted = end.has_served and loop.time() - began_at > STEADY_S
                failures = 1 if lasted else failures + 1
                if not self._is_stopping.is_set():
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
