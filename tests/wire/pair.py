"""Two sessions joined in memory, with a clock that a test moves by hand."""

from typing import NamedTuple

from printreach.wire import frames, heads
from printreach.wire.events import Event
from printreach.wire.session import Role, Session

GET_PAGE = heads.encode_request(b"GET", b"/", [(b"Host", b"app-1.example.org")])
GET_CAMERA = heads.encode_request(b"GET", b"/webcam", [(b"Host", b"app-1.example.org")])
POST_FILE = heads.encode_request(b"POST", b"/files", [(b"Content-Length", b"1000000")])
OK = heads.encode_response(200, b"OK", [(b"Content-Type", b"text/html")])
EARLY_HINTS = heads.encode_response(103, b"Early Hints", [(b"Link", b"</style.css>")])


class FakeClock:
    """Seconds of a monotonic clock that only a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def advance(self, seconds: float) -> None:
        self.now += seconds


class SettledPair(NamedTuple):
    """The reports of each end until nothing was left to send."""

    at_hub: list[Event]
    at_agent: list[Event]


class SessionPair:
    """A hub's and an agent's session. What one has to send reaches the other in settle()."""

    def __init__(
        self,
        *,
        window: int = frames.WINDOW_BYTES,
        hub_capabilities: tuple[str, ...] = (),
        agent_capabilities: tuple[str, ...] = (),
        greeted: bool = True,
    ) -> None:
        self.clock = FakeClock()
        self.hub = Session(
            Role.HUB, now=self.clock.now, window=window, capabilities=hub_capabilities
        )
        self.agent = Session(
            Role.AGENT, now=self.clock.now, window=window, capabilities=agent_capabilities
        )
        if greeted:
            self.settle()

    def end(self, name: str) -> Session:
        """hub or agent, for tests of both."""
        return self.hub if name == "hub" else self.agent

    def settle(self) -> SettledPair:
        """Pass output to the other end until neither has any."""
        settled = SettledPair([], [])
        while self.hub.has_output or self.agent.has_output:
            if self.hub.has_output:
                arrived = self.agent.receive(self.hub.take_output(), self.clock.now)
                settled.at_agent.extend(arrived)
            if self.agent.has_output:
                arrived = self.hub.receive(self.agent.take_output(), self.clock.now)
                settled.at_hub.extend(arrived)
        return settled

    def opened(self, head: bytes = GET_PAGE, *, fin: bool = False) -> int:
        """A stream that both ends know."""
        stream = self.hub.open(head, fin=fin)
        self.settle()
        return stream
