"""The cost of the tunnel's bytes: both ends of a session in one process, without I/O.

    python bench/wire.py

Each figure is the best of many short rounds, in microseconds of one core: what else the machine
does meanwhile only adds.
"""

import timeit
from collections.abc import Callable

from printreach.wire import heads
from printreach.wire.events import DataReceived, HeadReceived, StreamOpened
from printreach.wire.frames import CHUNK_BYTES
from printreach.wire.session import Role, Session

REQUEST = heads.encode_request(
    b"GET",
    b"/api/version?x=1",
    [
        (b"Host", b"app-abc.example.org"),
        (b"User-Agent", b"Mozilla/5.0 (X11; Linux x86_64)"),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"gzip"),
        (b"X-Api-Key", b"0123456789abcdef"),
        (b"Cookie", b"a=b; c=d"),
    ],
)
RESPONSE = heads.encode_response(
    200,
    b"OK",
    [
        (b"Server", b"nginx"),
        (b"Date", b"Mon, 01 Jan 2024 00:00:00 GMT"),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"1024"),
        (b"Cache-Control", b"no-store"),
    ],
)
ROUNDS = 200
REPEATS = 500


class Ends:
    """Both ends; each method is one operation to measure."""

    def __init__(self) -> None:
        self.hub = Session(Role.HUB, now=0.0)
        self.agent = Session(Role.AGENT, now=0.0)
        self.agent.receive(self.hub.take_output(), 0.0)
        self.hub.receive(self.agent.take_output(), 0.0)
        self.upload = self.hub.open(REQUEST, fin=False)
        self.agent.receive(self.hub.take_output(), 0.0)

    def exchange(self, body: bytes) -> tuple[bytes, bytes]:
        """Make a request with its whole response; return the heads as they arrived."""
        self.hub.open(REQUEST, fin=True)
        (opened,) = self.agent.receive(self.hub.take_output(), 1.0)
        assert isinstance(opened, StreamOpened)
        self.agent.respond(opened.stream, RESPONSE, body, fin=True)
        (answer,) = self.hub.receive(self.agent.take_output(), 1.0)
        assert isinstance(answer, HeadReceived)
        return opened.head, answer.head

    def round_trip(self, body: bytes) -> None:
        """Do the same and decode both heads, as relay and agent do."""
        request, response = self.exchange(body)
        heads.decode_request(request)
        heads.decode_response(response)

    def chunk(self, data: bytes) -> None:
        """Send a chunk of an upload that is consumed at once, with the credit that goes back for
        it.
        """
        self.hub.send(self.upload, data, fin=False)
        (arrived,) = self.agent.receive(self.hub.take_output(), 1.0)
        assert isinstance(arrived, DataReceived)
        self.agent.taken(self.upload, len(arrived.data))
        if self.agent.has_output:
            self.hub.receive(self.agent.take_output(), 1.0)


def best_us(measured: Callable[[], object]) -> float:
    return min(timeit.repeat(measured, number=REPEATS, repeat=ROUNDS)) / REPEATS * 1e6


def settle_malloc() -> None:
    """Free one large block. Until then glibc returns the top of its heap to the kernel each time
    some chunks have been freed there, and page faults drown what is measured; any process that has
    served a while is past that.
    """
    bytes(4 * 1024 * 1024)


def main() -> None:
    settle_malloc()
    ends, small, large = Ends(), bytes(1024), bytes(CHUNK_BYTES)
    hops = heads.decode_response(RESPONSE).headers
    rows: list[tuple[str, Callable[[], object]]] = [
        ("round trip, 1 KiB answer", lambda: ends.round_trip(small)),
        ("  session alone", lambda: ends.exchange(small)),
        ("  decode_request", lambda: heads.decode_request(REQUEST)),
        ("  decode_response", lambda: heads.decode_response(RESPONSE)),
        ("strip_hop_by_hop", lambda: heads.strip_hop_by_hop(hops)),
        ("round trip, 64 KiB answer", lambda: ends.round_trip(large)),
        ("a chunk of 64 KiB", lambda: ends.chunk(large)),
        ("a chunk of 1 KiB", lambda: ends.chunk(small)),
    ]
    for name, measured in rows:
        print(f"{name:28}{best_us(measured):8.2f} us")


if __name__ == "__main__":
    main()
