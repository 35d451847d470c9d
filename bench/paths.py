"""The cost of one small request in Python at each end: its whole path, without sockets.

    python -m bench.paths

The best of many short rounds, in microseconds of one core; wrk's figures have the kernel's share.
"""

import asyncio
import gc
import timeit
from collections.abc import Callable
from itertools import cycle
from typing import Any, cast

import uvloop

from printreach.agent.addresses import WebAddress
from printreach.agent.local_http import LocalRequests
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.serve import StreamServer
from printreach.contract.signin import REQUEST_IDS
from printreach.http1.client import Client
from printreach.hub.tries import CallerTries
from printreach.limiters.shared_counts import SharedCounts
from printreach.relay.admission import Admission
from printreach.relay.browser_sign_in import BrowserSignIn
from printreach.relay.caller_exchange import CallerExchange
from printreach.relay.commands import AgentClock, CommandStamps
from printreach.relay.connection import FrontConnection, IncomingRequest
from printreach.relay.directory import Directory
from printreach.relay.front import Front
from printreach.relay.hosts import Hosts, PrinterHost
from printreach.relay.printer_hosts import PrinterHosts
from printreach.relay.request_ids import RequestIds
from printreach.relay.route import Route
from printreach.relay.timeouts import Timeouts
from printreach.rules.connections import ConnectionKind, Grant
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.tunnel.link import LinkReceiver
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire import events
from printreach.wire.frames import FIN, HEADER, HEADER_BYTES, Kind, encode_head, encode_open, frame
from printreach.wire.heads import REQUEST_ID_FIELD, encode_fields
from printreach.wire.session import Role, Session
from tests.fakes.clock import FakeClock
from tests.fakes.grants import MemoryGrants
from tests.fakes.memory_bus import MemoryBus

BODY = b"x" * 1024
HOST = "app-abcdefghijklmnopqrstuvwxyz234567.tunnel.example"
FIELDS = [
    (b"Host", HOST.encode()),
    (b"User-Agent", b"Mozilla/5.0 (X11; Linux x86_64)"),
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"gzip"),
    (b"Authorization", b"Basic YWJjZGVmZ2g6YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo="),
]
REQUEST = b"GET /api/printer?x=1 HTTP/1.1\r\n%b\r\n" % b"".join(b"%b: %b\r\n" % f for f in FIELDS)
ANSWER_FIELDS = (
    b"Server: nginx\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1024\r\nCache-Control: no-store\r\n"
)
ANSWER = b"HTTP/1.1 200 OK\r\n" + ANSWER_FIELDS + b"Connection: keep-alive\r\n\r\n" + BODY
MANY = 997
"""Requests with an id each, so that none is the same as one just before."""
ROUNDS = 200
REPEATS = 300


class NoLink:
    """A link that drops its messages."""

    def start(self, receiver: LinkReceiver) -> None: ...
    def send(self, message: bytes) -> None:
        self.sent = message

    def close(self) -> None: ...
    def abort(self) -> None: ...


class NoSocket:
    """A transport that discards what is written."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written = data

    def get_extra_info(self, _name: str) -> None:
        return None

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...


class Owner:
    """Nobody in particular; opened streams go to `serve`."""

    serve: Callable[[Stream, events.StreamOpened], None]

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None: ...
    def on_stream(self, stream: Stream, opened: events.StreamOpened) -> None:
        self.serve(stream, opened)

    def on_tunnel_message(self, payload: bytes) -> None: ...
    def on_tunnel_draining(self) -> None: ...
    def on_tunnel_closed(self, code: Any, text: str) -> None: ...


def _tunnel(role: Role) -> tuple[Tunnel, NoLink, Owner]:
    other = Session(
        Role.AGENT if role is Role.HUB else Role.HUB, now=0.0, capabilities=(REQUEST_IDS,)
    )
    link, owner = NoLink(), Owner()
    tunnel = Tunnel(Session(role, now=0.0), link, owner)
    tunnel.start()
    tunnel.on_link_message(other.take_output())
    return tunnel, link, owner


class RelayPath:
    """A caller's connection at one end, a tunnel at the other."""

    def __init__(self) -> None:
        self.tunnel, self.link, _ = _tunnel(Role.HUB)
        clock, bus = FakeClock(), MemoryBus()
        grants = MemoryGrants(clock)
        unique_id = HOST.partition(".")[0]
        secret = b"abcdefgh:abcdefghijklmnopqrstuvwxyz"
        grant = Grant(
            unique_id=unique_id,
            connection_id="c",
            kind=ConnectionKind.APP,
            printer_id="p",
            account_id="a",
            digests=(digest(CredentialKind.BASIC, secret), digest(CredentialKind.BEARER, b"t")),
            ended=False,
            expires_at=None,
            owner_is_supporter=True,
        )
        hosts = Hosts("https://relay.example", "tunnel.example")
        admission = Admission(grants, bus, clock, SharedCounts())
        admission._remember(unique_id, grant)
        directory = Directory()
        route = Route(
            tunnel=self.tunnel,
            clock=AgentClock(clock.now().timestamp(), 0.0),
            platform="",
            capabilities=self.tunnel.capabilities,
        )
        directory.put("p", route)
        browser_sign_in = BrowserSignIn(hosts, admission, CallerTries(clock), ())
        stamps = CommandStamps("n", clock.now)
        printers = PrinterHosts(hosts, admission, directory, stamps, browser_sign_in)

        ids = RequestIds(b"seed")

        def dispatch(incoming: IncomingRequest) -> CallerExchange | None:
            caller, request = incoming.caller, incoming.request
            request.request_id = ids.name(caller.peer, request.headers, caller.is_inside)
            named = hosts.named(request.host)
            assert isinstance(named, PrinterHost)
            return printers.serve(incoming, named.unique_id)

        self.socket = NoSocket()
        self.connection = FrontConnection(Front(dispatch, Timeouts()), None)
        self.connection.connection_made(cast("asyncio.Transport", self.socket))
        self.answer = encode_head(b"200 OK\r\n" + ANSWER_FIELDS, BODY)
        self.stream = 0

    def exchange(self) -> None:
        self.connection.data_received(REQUEST)
        self.tunnel._flush()
        self.stream += 1
        self.tunnel.on_link_message(frame(Kind.HEAD | FIN, self.stream, self.answer))
        if self.tunnel.session.has_output:
            self.tunnel._flush()


_PRINTER = WebAddress(scheme="http", host="printer", port=80)


class AgentPath:
    """A tunnel at one end, a kept connection to the printer at the other."""

    def __init__(self) -> None:
        self.tunnel, self.link, owner = _tunnel(Role.AGENT)
        self.socket = NoSocket()
        self.connections: list[asyncio.Protocol] = []
        client = Client(self._connect)
        local = LocalRequests(client, _PRINTER, wants_outside_host=False)
        owner.serve = StreamServer(local, "", remote_lock=RemoteLock()).serve
        ids, lines = RequestIds(b"seed"), encode_fields(FIELDS[:-1])
        start = b"GET /api/printer?x=1\r\n" + REQUEST_ID_FIELD + b": %b\r\n" + lines
        heads = [start % ids.name("", [], False) for _ in range(MANY)]
        self.opened = cycle([encode_open(0, head, b"") for head in heads])
        self.stream = 0

    async def _connect(self, make: Callable[[], asyncio.Protocol]) -> None:
        connection = make()
        self.connections.append(connection)
        connection.connection_made(cast("asyncio.Transport", self.socket))

    def ask(self) -> None:
        self.stream += 1
        self.tunnel.on_link_message(frame(Kind.OPEN | FIN, self.stream, next(self.opened)))

    def exchange(self) -> None:
        self.ask()
        self.connections[0].data_received(ANSWER)
        self.tunnel._flush()


async def main() -> None:
    relay, agent = RelayPath(), AgentPath()
    agent.ask()
    await asyncio.sleep(0.01)
    agent.connections[0].data_received(ANSWER)
    agent.tunnel._flush()
    for name, run in (("relay", relay.exchange), ("agent", agent.exchange)):
        run()
        best = min(timeit.repeat(run, number=ROUNDS, repeat=REPEATS)) / ROUNDS * 1e6
        print(f"{name}: {best:5.1f} µs a request")
    assert relay.socket.written.endswith(BODY)
    length, _, kind = HEADER.unpack_from(agent.link.sent)
    assert kind == Kind.HEAD | FIN
    assert len(agent.link.sent) == HEADER_BYTES + length


if __name__ == "__main__":
    gc.disable()
    uvloop.run(main())
