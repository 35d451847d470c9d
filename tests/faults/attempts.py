"""Requests that may fail, told exactly how they ended."""

import http.client
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults.homes import Home
from tests.rigs.behaviour.rig import EchoedRequest
from tests.rigs.calls import Answer, opened
from tests.rigs.standstills import standstills
from tests.rigs.ways import Header, Way

PAUSE_S = 0.05


@dataclass(frozen=True)
class Outcome:
    """How one request ended.

    began_at: by the machine's monotonic clock.
    status: None where no head came. is_whole: the answer ended where its framing says.
    """

    target: str
    began_at: float
    seconds: float
    status: int | None
    headers: list[Header]
    body: bytes
    is_whole: bool

    @property
    def answer(self) -> Answer:
        """The whole answer; there must be one."""
        assert self.is_whole, self
        assert self.status is not None
        return Answer(self.status, "", self.headers, self.body)


def attempt(
    way: Way,
    target: str,
    *,
    method: str = "GET",
    headers: Sequence[Header] = (),
    body: bytes | Iterable[bytes] = b"",
) -> Outcome:
    """Send a request and read what comes, whatever comes."""
    began = time.monotonic()
    status, received, is_whole = None, b"", False
    answered: list[Header] = []
    try:
        with opened(way, target, method=method, headers=headers, body=body) as response:
            status, answered = response.status, response.getheaders()
            received = response.read()
            is_whole = True
    except http.client.IncompleteRead as broken:
        received = broken.partial
    except (OSError, http.client.HTTPException):
        pass  # the outcome says so
    ended = time.monotonic()
    return Outcome(target, began, ended - began, status, answered, received, is_whole)


class Background:
    """Requests under way while the test does something else."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def attempt(
        self,
        way: Way,
        target: str,
        *,
        method: str = "GET",
        headers: Sequence[Header] = (),
        body: bytes | Iterable[bytes] = b"",
    ) -> Future[Outcome]:
        """Begin one."""
        return self._pool.submit(attempt, way, target, method=method, headers=headers, body=body)


@contextmanager
def background(most: int = 16) -> Iterator[Background]:
    """At most so many requests at once; waits for all of them at its end."""
    with ThreadPoolExecutor(most) as pool:
        yield Background(pool)


@contextmanager
def undisturbed(home: Home, *, most_s: float = 4.0) -> Iterator[None]:
    """Ask a printer again and again meanwhile: each answer is its own, and comes soon.

    most_s: far longer than an answer takes on a busy machine, far shorter than any fault. What the
    machine stands still is not counted.
    """
    outcomes: list[Outcome] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.wait(PAUSE_S):
            outcomes.append(attempt(home.way, f"/echo?number={len(outcomes)}"))

    with standstills() as still:
        asking = threading.Thread(target=ask)
        asking.start()
        try:
            yield
        finally:
            is_over.set()
            asking.join()
        assert outcomes
        for outcome in outcomes:
            assert EchoedRequest.by(outcome.answer).target == outcome.target
            ended_at = outcome.began_at + outcome.seconds
            assert still.running_s(outcome.began_at, ended_at) < most_s
