"""Streams of all kinds that callers hold open, each judged by how it ended."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from websockets.exceptions import ConnectionClosed

from tests.rigs.behaviour.pattern import digest, pattern
from tests.rigs.behaviour.rig import fresh_key
from tests.rigs.calls import call, opened
from tests.rigs.sockets import websocket
from tests.rigs.ways import Header, Way

SHORT_S: Final = 5.0
"""A stream that no restart may touch."""
DRAIN_S: Final = 10.0
"""A node that stops gives what is under way this long, so an older stream may be cut."""
UPLOAD: Final = pattern(200_000)


@dataclass
class Judged:
    """faults: what no restart may do. ended: streams that ended well, or old enough, by kind."""

    faults: list[str] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Streams:
    """What is held open. pictures: of a printer with a webcam. echo: of the behaviour printer.

    pages: the service's own host. cookie: of somebody who is signed in there.
    """

    pictures: Way
    echo: Way
    pages: Way
    cookie: Header

    def websocket(self, seconds: float) -> None:
        """Send a message to and fro until the time is over."""
        end = time.monotonic() + seconds
        with websocket(self.echo, "/ws-echo") as connected:
            while time.monotonic() < end:
                connected.send("to and fro")
                assert connected.recv(timeout=DRAIN_S) == "to and fro"
                time.sleep(0.1)

    def webcam(self, seconds: float) -> None:
        """Watch until the time is over."""
        end = time.monotonic() + seconds
        with opened(self.pictures, "/webcam/?action=stream") as answer:
            assert answer.status == 200, answer.status
            while time.monotonic() < end:
                if not answer.read1(65536):
                    raise ConnectionResetError("the pictures ended")

    def events(self, seconds: float) -> None:
        """Follow a page until the time is over, or the stream is ended as it should be."""
        end = time.monotonic() + seconds
        with opened(self.pages, "/printers/events", headers=[self.cookie]) as answer:
            assert answer.status == 200, answer.status
            # Chunked: a stream that is cut raises IncompleteRead.
            while time.monotonic() < end and answer.read1(65536):
                pass

    def upload(self, seconds: float) -> None:
        """Send a body slowly; the printer says what has come."""
        pieces, size = 10, len(UPLOAD) // 10

        def slowly() -> Iterator[bytes]:
            for number in range(pieces):
                time.sleep(seconds / pieces)
                yield UPLOAD[number * size : (number + 1) * size]

        answer = call(self.echo, f"/sink?key={fresh_key()}", method="POST", body=slowly())
        assert answer.status == 200, answer
        assert answer.json() == {"sha256": digest(len(UPLOAD)), "size": len(UPLOAD)}

    def page(self, _seconds: float) -> None:
        """Ask for a page again and again over one connection, as browsers do."""
        connection = http.client.HTTPConnection("127.0.0.1", self.pages.port, timeout=60)
        try:
            for _ in range(10):
                connection.request("GET", "/printers", headers=dict([self.cookie]) | self._host())
                answer = connection.getresponse()
                assert b"</html>" in answer.read()
                assert answer.status == 200, answer.status
                time.sleep(0.1)
        finally:
            connection.close()

    def _host(self) -> dict[str, str]:
        return {"Host": self.pages.host}


@contextmanager
def under_way(streams: Streams) -> Iterator[Judged]:
    """Hold streams of all kinds: short ones, and some that last until they are cut."""
    judged, is_over = Judged(), threading.Event()

    def keep(name: str, hold: Callable[[float], None], seconds: float, *, may_be_cut: bool) -> None:
        while not is_over.is_set():
            began = time.monotonic()
            try:
                hold(seconds)
            except (OSError, ConnectionClosed, http.client.HTTPException, AssertionError) as error:
                lasted = time.monotonic() - began
                if not may_be_cut or lasted < DRAIN_S or isinstance(error, AssertionError):
                    judged.faults.append(f"{name} after {lasted:.1f} s: {error!r}")
            judged.ended[name] += 1

    short = (streams.websocket, streams.webcam, streams.events, streams.upload, streams.page)
    work: list[tuple[str, Callable[[float], None], float, bool]] = [
        *((f"short {hold.__name__}", hold, SHORT_S, False) for hold in short),
        ("long websocket", streams.websocket, 40.0, True),
        ("long webcam", streams.webcam, 40.0, True),
        ("long events", streams.events, 40.0, False),
    ]
    threads = _started(keep, work)
    try:
        yield judged
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _started(
    keep: Callable[..., None],
    work: Sequence[tuple[str, Callable[[float], None], float, bool]],
) -> list[threading.Thread]:
    threads = [
        threading.Thread(target=keep, args=(name, hold, seconds), kwargs={"may_be_cut": may})
        for name, hold, seconds, may in work
    ]
    for thread in threads:
        thread.start()
    return threads
