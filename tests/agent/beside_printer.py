"""A hub, a tunnel, and an agent's server of streams beside a printer that a test scripts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from printreach.agent.addresses import WebAddress
from printreach.agent.local_http import LocalRequests
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.serve import StreamServer
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.http1.client import Client
from printreach.tunnel.stream import Stream
from printreach.wire import heads
from printreach.wire.events import StreamOpened
from printreach.wire.heads import Headers
from printreach.wire.session import Role
from tests.fakes.memory_link import MemoryLink, memory_link_pair
from tests.http1.scripted_server import Server, scripted_server
from tests.tunnel.ends import End, Listener

HOST = (b"Host", b"app-1.example.org")
TIMEOUT_S = 30.0
"""Longer than a busy machine stands still."""


class PrinterEnd(End):
    """The agent's end: every stream is served."""

    def __init__(self, link: MemoryLink, server: StreamServer) -> None:
        super().__init__(Role.AGENT, link)
        self._server = server

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        self._server.serve(stream, opened)


class Rig:
    """One agent beside one printer. hub: where callers' requests come from.

    client: what the agent asks the printer with.
    """

    client: Client

    def __init__(self, printer: Server, server: StreamServer) -> None:
        self.printer = printer
        hub_link, self.agent_link = memory_link_pair()
        self.hub = End(Role.HUB, hub_link)
        self.agent = PrinterEnd(self.agent_link, server)

    async def start(self) -> None:
        self.hub.tunnel.start()
        self.agent.tunnel.start()
        await eventually(lambda: bool(self.hub.capabilities))

    def ask(
        self,
        method: bytes = b"GET",
        target: bytes = b"/",
        headers: Headers | None = None,
        body: bytes = b"",
        *,
        fin: bool = True,
        upgrade: bool = False,
        secure: bool = False,
        takes: bool = True,
        host: tuple[bytes, bytes] | None = HOST,
    ) -> Listener:
        listener = Listener(takes=takes)
        named = [host] if host is not None else []
        head = heads.encode_request(method, target, [*named, *(headers or [])])
        listener.stream = self.hub.tunnel.open(
            listener, head, body, fin=fin, upgrade=upgrade, secure=secure
        )
        return listener


async def fill(listener: Listener) -> int:
    """Upload until the stream holds bytes back; how many bytes that took."""
    for count in range(1, 1000):
        if not listener.stream.send(b"x" * 50_000):
            return count * 50_000
        await asyncio.sleep(0.001)
    raise AssertionError("nothing held the upload up")


async def until(event: asyncio.Event) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        await event.wait()


async def eventually(holds: Callable[[], bool]) -> None:
    """Return once it holds."""
    async with asyncio.timeout(TIMEOUT_S):
        while not holds():  # noqa: ASYNC110 - what it waits for has no event
            await asyncio.sleep(0.001)


@asynccontextmanager
async def beside_printer(
    *,
    wants_outside_host: bool = False,
    buffer_bytes: int = 2**16,
    first_byte_s: float = 600.0,
    port: int | None = None,
    allowed: frozenset[Permission] = ALL_PERMISSIONS,
    is_locked: bool = False,
) -> AsyncIterator[Rig]:
    """port: of a printer that isn't there. is_locked: the service has told of a lock."""
    remote_lock = RemoteLock()
    remote_lock.set_locked(is_locked=is_locked)
    loop = asyncio.get_running_loop()
    async with scripted_server(buffer_bytes=buffer_bytes) as printer:
        address = port or printer.port
        client = Client(
            lambda protocol: loop.create_connection(protocol, "127.0.0.1", address),
            first_byte_s=first_byte_s,
        )
        server = WebAddress(scheme="http", host="127.0.0.1", port=address)
        local = LocalRequests(client, server, wants_outside_host=wants_outside_host)
        rig = Rig(printer, StreamServer(local, "", remote_lock=remote_lock, allowed=allowed))
        rig.client = client
        await rig.start()
        try:
            yield rig
        finally:
            rig.hub.tunnel.abort("the test is over")
            await client.close()
