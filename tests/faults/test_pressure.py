"""Much at once, and everything slow: whoever is slow waits, and nothing is left behind."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from http.client import HTTPConnection

import pytest

from tests.faults.attempts import attempt, background, undisturbed
from tests.faults.homes import Home
from tests.faults.usage import gives_back
from tests.rigs.behaviour.pattern import blocks, digest
from tests.rigs.behaviour.rig import EchoedRequest, fresh_key
from tests.rigs.calls import Answer, read_answer, read_exactly, read_head, request_head
from tests.rigs.service import Service
from tests.rigs.sockets import websocket
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.fault]

STREAMS = 200
REQUESTS = 1000
SLOW_ONES = 20
ROUNDS = 10
UPLOAD = 64 << 20
PIECE = 40_000
SOON_S = 15.0
"""Whoever waits for a slow one waits for ever."""


@pytest.fixture
def flat(relay: Service, victim: Home) -> Callable[[Callable[[], None]], None]:
    """Do something once to warm up, and then again: that must leave nothing behind."""

    def do_twice(work: Callable[[], None]) -> None:
        work()
        with gives_back(relay.program, victim.agent.program):
            work()

    return do_twice


Flat = Callable[[Callable[[], None]], None]


def piece(number: int) -> bytes:
    """A body of its own for each stream."""
    return number.to_bytes(4, "big") * (PIECE // 4)


def test_two_hundred_uploads_at_once_keep_apart(victim: Home, bystander: Home, flat: Flat) -> None:
    def upload_all() -> None:
        with ExitStack() as open_ones:
            connections = [open_ones.enter_context(victim.way.connect()) for _ in range(STREAMS)]
            for number, connection in enumerate(connections):
                length = ("Content-Length", str(PIECE))
                target = f"/sink?key=upload-{number}"
                connection.sendall(request_head(victim.way, "POST", target, length))
                connection.sendall(piece(number)[: PIECE // 2])
            for number, connection in enumerate(connections):
                connection.sendall(piece(number)[PIECE // 2 :])
            for number, connection in enumerate(connections):
                told = {"sha256": sha256(piece(number)).hexdigest(), "size": PIECE}
                assert read_answer(connection).json() == told

    with undisturbed(bystander, most_s=SOON_S):
        flat(upload_all)


def test_two_hundred_answers_at_once_keep_apart(victim: Home, flat: Flat) -> None:
    def ask_all() -> None:
        with ExitStack() as open_ones:
            connections = [open_ones.enter_context(victim.way.connect()) for _ in range(STREAMS)]
            for number, connection in enumerate(connections):
                connection.sendall(request_head(victim.way, "GET", f"/page?number={number}"))
            for number, connection in enumerate(connections):
                assert EchoedRequest.by(read_answer(connection)).target == f"/page?number={number}"

    flat(ask_all)


def test_a_thousand_short_requests_after_each_other_are_each_answered(
    victim: Home, flat: Flat
) -> None:
    def ask_one_after_the_other() -> None:
        connection = HTTPConnection("127.0.0.1", victim.way.port)
        connection.sock = victim.way.connect()
        headers = {"Host": victim.way.host, **dict(victim.way.credentials)}
        for number in range(REQUESTS):
            connection.request("GET", f"/page?number={number}", headers=headers)
            with connection.getresponse() as response:
                seen = EchoedRequest.by(Answer(response.status, "", [], response.read()))
            assert seen.target == f"/page?number={number}"
        connection.close()

    flat(ask_one_after_the_other)


def test_callers_that_do_not_read_slow_nobody_else_and_are_forgotten(
    victim: Home, bystander: Home, flat: Flat
) -> None:
    def stall() -> None:
        keys = [fresh_key() for _ in range(SLOW_ONES)]
        with ExitStack() as open_ones:
            for key in keys:
                connection = open_ones.enter_context(victim.way.connect())
                connection.sendall(request_head(victim.way, "GET", f"/endless?key={key}"))
            for key in keys:
                victim.printer.wait_for(key, "sent")
            for number in range(20):
                answer = attempt(victim.way, f"/page?number={number}")
                assert EchoedRequest.by(answer.answer).target == answer.target
                assert answer.seconds < SOON_S
        for key in keys:
            victim.printer.wait_for(key, "cancelled")

    with undisturbed(bystander, most_s=SOON_S):
        flat(stall)


def test_a_printer_that_does_not_read_holds_up_its_own_upload_alone(
    victim: Home, bystander: Home, flat: Flat
) -> None:
    def upload_to_a_slow_printer() -> None:
        key = fresh_key()
        with background() as running:
            target = f"/sink-late?key={key}"
            length = [("Content-Length", str(UPLOAD))]
            slow = running.attempt(
                victim.way, target, method="POST", headers=length, body=blocks(UPLOAD)
            )
            victim.printer.wait_for(key, "began")
            for number in range(20):
                answer = attempt(victim.way, f"/page?number={number}")
                assert EchoedRequest.by(answer.answer).target == answer.target
                assert answer.seconds < SOON_S
            assert not slow.done()
            victim.printer.allow_step(key)

            assert slow.result().answer.json() == {"sha256": digest(UPLOAD), "size": UPLOAD}

    with undisturbed(bystander, most_s=SOON_S):
        flat(upload_to_a_slow_printer)


# l_onoff, l_linger of socket(7). A caller that merely closes may have ended its own side alone.
RESET = struct.pack("ii", 1, 0)


@contextmanager
def asked(way: Way, target: str, *, body_bytes: int = 0, sent: bytes = b"") -> Iterator[None]:
    """A request whose caller leaves without waiting for anything more."""
    length = [("Content-Length", str(body_bytes))] if body_bytes else []
    with way.connect() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        caller.sendall(request_head(way, "POST" if body_bytes else "GET", target, *length) + sent)
        yield


def leave_at_once(home: Home, key: str) -> None:
    """Before anybody has heard of the request."""
    with asked(home.way, f"/silent?key={key}"):
        pass
    home.printer.allow_step(key)  # it may have arrived all the same, and would wait for ever


def leave_in_the_head(home: Home, key: str) -> None:
    """In the middle of the request's head."""
    with home.way.connect() as caller:
        caller.sendall(request_head(home.way, "GET", f"/silent?key={key}")[:-2])


def leave_in_the_body(home: Home, key: str) -> None:
    """In the middle of an upload."""
    with asked(home.way, f"/sink?key={key}", body_bytes=PIECE, sent=b"x" * (PIECE // 2)):
        home.printer.wait_for(key, "received")
    home.printer.wait_for(key, "cancelled")


def leave_an_upload_that_is_stuck(home: Home, key: str) -> None:
    """While the printer reads nothing."""
    with asked(home.way, f"/sink-late?key={key}", body_bytes=UPLOAD, sent=b"x" * (1 << 20)):
        home.printer.wait_for(key, "began")
    home.printer.allow_step(key)  # it learns of the end when it reads
    home.printer.wait_for(key, "cancelled")


def leave_before_the_answer(home: Home, key: str) -> None:
    """While the printer thinks."""
    with asked(home.way, f"/silent?key={key}"):
        home.printer.wait_for(key, "began")
    home.printer.wait_for(key, "cancelled")


def leave_behind_the_head(home: Home, key: str) -> None:
    """Between the answer's head and its body."""
    with home.way.connect() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        caller.sendall(request_head(home.way, "GET", f"/late-body?key={key}"))
        assert read_head(caller)[0] == 200
    home.printer.wait_for(key, "cancelled")


def leave_in_the_answer(home: Home, key: str) -> None:
    """In the middle of an answer that is being read."""
    with home.way.connect() as caller:
        caller.sendall(request_head(home.way, "GET", f"/endless?key={key}"))
        read_exactly(caller, 1 << 20)
    home.printer.wait_for(key, "cancelled")


def leave_an_answer_that_is_stuck(home: Home, key: str) -> None:
    """In the middle of an answer of which nobody reads a byte."""
    with asked(home.way, f"/endless?key={key}"):
        home.printer.wait_for(key, "sent")
    home.printer.wait_for(key, "cancelled")


def leave_a_websocket(home: Home, key: str) -> None:
    """Without a word, in the middle of a conversation."""
    with websocket(home.way, f"/ws-echo?key={key}") as conversation:
        conversation.send("hello")
        assert conversation.recv(timeout=60) == "hello"
        conversation.socket.shutdown(socket.SHUT_RDWR)
    home.printer.wait_for(key, "cancelled")


def printer_breaks_off(home: Home, key: str) -> None:
    """The printer itself ends in the middle of its answer."""
    with home.way.connect() as caller:
        caller.sendall(request_head(home.way, "GET", f"/cut/length?key={key}"))
        assert read_head(caller)[0] == 200
        home.printer.allow_step(key)
        while caller.recv(1 << 16):
            pass


STATES = [
    leave_at_once,
    leave_in_the_head,
    leave_in_the_body,
    leave_an_upload_that_is_stuck,
    leave_before_the_answer,
    leave_behind_the_head,
    leave_in_the_answer,
    leave_an_answer_that_is_stuck,
    leave_a_websocket,
    printer_breaks_off,
]


def test_a_stream_that_ends_in_any_state_leaves_nothing_behind(victim: Home, flat: Flat) -> None:
    def end_in_every_state() -> None:
        for _ in range(ROUNDS):
            for end in STATES:
                end(victim, fresh_key())
            answer = attempt(victim.way, "/still-there")
            assert EchoedRequest.by(answer.answer).target == "/still-there"

    flat(end_in_every_state)
