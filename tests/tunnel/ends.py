"""Two tunnels joined in memory, and applications that record their callbacks."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from printreach.tunnel.link import Link
from printreach.tunnel.shared_timer import Timers
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire import heads
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.frames import WINDOW_BYTES
from printreach.wire.session import Role, Session
from tests.fakes.hasty_loop import hasty_loop, settle
from tests.fakes.memory_link import MemoryLink

GET_PAGE = heads.encode_request(b"GET", b"/", [(b"Host", b"app-1.example.org")])
OK = heads.encode_response(200, b"OK", [(b"Content-Type", b"text/html")])


class Ending(NamedTuple):
    reason: Reason
    text: str


class Listener:
    """A stream's handler that acknowledges all bytes, unless it is told not to."""

    def __init__(self, *, takes: bool = True) -> None:
        self.takes = takes
        self.arrivals: list[Listener] = []  # may be shared: whose piece came when
        self.stream: Stream
        self.interims: list[bytes] = []
        self.heads: list[bytes] = []
        self.pieces: list[bytes] = []
        self.fins = 0
        self.has_head = asyncio.Event()
        self.is_whole = asyncio.Event()
        self.is_over = asyncio.Event()
        self.then: Callable[[], None] = lambda: None  # done whenever something is heard
        self.writable = 0
        self.endings: list[Ending] = []
        self.untaken = 0

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    def take(self) -> None:
        """Acknowledge all bytes, those that came already and later ones."""
        self.takes = True
        self.untaken, size = 0, self.untaken
        self.stream.taken(size)

    def on_interim(self, head: bytes) -> None:
        self.interims.append(head)
        self.then()

    def on_head(self, head: bytes, body: bytes, fin: bool) -> None:
        self.heads.append(head)
        self.has_head.set()
        self._came(body, fin)

    def on_data(self, data: bytes, fin: bool) -> None:
        self._came(data, fin)

    def on_writable(self) -> None:
        self.writable += 1
        self.then()

    def on_reset(self, reason: Reason, text: str) -> None:
        self.endings.append(Ending(reason, text))
        self.is_over.set()
        self.then()

    def _came(self, data: bytes, fin: bool) -> None:
        self.pieces.append(data)
        if data:
            self.arrivals.append(self)
        self.fins += fin
        if fin:
            self.is_whole.set()
        if self.takes:
            self.stream.taken(len(data))
        else:
            self.untaken += len(data)
        self.then()


Serve = Callable[[Stream, StreamOpened], None]


class End:
    """One end: a tunnel and its handler."""

    def __init__(
        self,
        role: Role,
        link: Link,
        idle_timers: Timers | None = None,
        window: int = WINDOW_BYTES,
    ) -> None:
        self.serve: Serve | None = None
        self.capabilities: list[frozenset[str]] = []
        self.messages: list[bytes] = []
        self.drainings = 0
        self.closings: list[tuple[CloseCode | int | None, str]] = []
        self.served: list[Listener] = []
        now = asyncio.get_running_loop().time()
        session = Session(role, now=now, window=window, capabilities=(role.value,))
        self.tunnel = Tunnel(session, link, self, idle_timers)

    @property
    def stream_count(self) -> int:
        """The number of streams that the tunnel remembers."""
        return len(self.tunnel._streams)

    def open(
        self, body: bytes = b"", *, fin: bool = True, head: bytes = GET_PAGE, takes: bool = True
    ) -> Listener:
        """A stream that a listener handles."""
        listener = Listener(takes=takes)
        listener.stream = self.tunnel.open(listener, head, body, fin=fin)
        return listener

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        self.capabilities.append(capabilities)

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        listener = Listener()
        listener.stream = stream
        listener._came(opened.body, opened.fin)
        stream.handler = listener
        self.served.append(listener)
        if self.serve is not None:
            self.serve(stream, opened)

    def on_tunnel_message(self, payload: bytes) -> None:
        self.messages.append(payload)

    def on_tunnel_draining(self) -> None:
        self.drainings += 1

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        self.closings.append((code, text))


class Ends:
    """A hub and an agent. hub_link and agent_link: where each sends."""

    def __init__(
        self,
        hub_link: Link,
        agent_link: Link,
        hub_timers: Timers | None = None,
        hub_window: int = WINDOW_BYTES,
    ) -> None:
        self.hub = End(Role.HUB, hub_link, hub_timers, hub_window)
        self.agent = End(Role.AGENT, agent_link)

    async def greet(self) -> None:
        self.hub.tunnel.start()
        self.agent.tunnel.start()
        await settle()


class CuttableLink(MemoryLink):
    """A link that counts its messages, and drops them silently once it is cut."""

    is_cut = False
    messages = 0

    def send(self, message: bytes) -> None:
        self.messages += 1
        if not self.is_cut:
            super().send(message)


class MemoryEnds(Ends):
    """Joined by a link whose congestion the test decides on."""

    def __init__(self, hub_timers: Timers | None = None, hub_window: int = WINDOW_BYTES) -> None:
        self.hub_link = CuttableLink(hasty_loop())
        self.agent_link = CuttableLink(hasty_loop())
        self.hub_link.join(self.agent_link)
        self.agent_link.join(self.hub_link)
        super().__init__(self.hub_link, self.agent_link, hub_timers, hub_window)


async def greeted(hub_timers: Timers | None = None, hub_window: int = WINDOW_BYTES) -> MemoryEnds:
    ends = MemoryEnds(hub_timers, hub_window)
    await ends.greet()
    return ends
