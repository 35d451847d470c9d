"""Slow answers arrive as they are made, and end as the printer ended them."""

import http.client
import socket
import struct
import time
from collections.abc import Callable

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, fresh_key
from tests.rigs.behaviour.streams import event, jpeg_part
from tests.rigs.calls import opened, raw_request, read_head
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.standstills import standstills
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

RESET = struct.pack("ii", 1, 0)  # l_onoff, l_linger: closing resets; socket(7)
NOTICED_WITHIN_S = 5.0  # a few milliseconds on a quiet machine
KERNEL_BUFFERS_AND_WINDOWS = 64 << 20  # each loopback hop holds up to 10 MB in the kernel


@pytest.mark.parametrize(("kind", "part"), [("mjpeg", jpeg_part), ("sse", event)])
def test_each_part_of_a_live_stream_arrives_before_the_next_is_made(
    way: Way, behaviour: BehaviourPrinter, kind: str, part: Callable[[int], bytes]
) -> None:
    key = fresh_key()
    with opened(way, f"/stepped/{kind}?key={key}") as answer:
        for number in range(5):
            expected = part(number)
            assert answer.read(len(expected)) == expected
            behaviour.allow_step(key)


def test_the_head_of_an_answer_arrives_before_its_first_byte(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with opened(way, f"/late-body?key={key}") as answer:
        assert answer.status == 200
        behaviour.allow_step(key)
        assert answer.read() == b"at last"


def test_a_printer_may_think_before_its_first_byte(way: Way, behaviour: BehaviourPrinter) -> None:
    key = fresh_key()
    with raw_request(way, "GET", f"/silent?key={key}") as connection:
        behaviour.wait_for(key, "began")
        connection.settimeout(0.5)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(TIMEOUT_S)
        behaviour.allow_step(key)
        assert read_head(connection)[0] == 200


@pytest.mark.parametrize(
    ("target", "is_reset"),
    [("/endless", False), ("/endless", True), ("/silent", True), ("/stepped/mjpeg", True)],
)
def test_an_app_that_leaves_cancels_the_printers_request_at_once(
    way: Way, behaviour: BehaviourPrinter, target: str, is_reset: bool
) -> None:
    """By a reset, or by what is written to it. The mere end of its side may be a half-close."""
    key = fresh_key()
    with standstills() as still:
        with raw_request(way, "GET", f"{target}?key={key}") as connection:
            behaviour.wait_for(key, "began")
            if target != "/silent":
                connection.recv(1000)
            if is_reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            left_at = time.monotonic()

        cancelled_at = behaviour.wait_for(key, "cancelled").at
        assert still.running_s(left_at, cancelled_at) < NOTICED_WITHIN_S


def test_an_app_that_reads_slowly_slows_the_printer_down(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with raw_request(way, "GET", f"/endless?key={key}") as connection:
        read_head(connection)
        behaviour.wait_for(key, "sent")
        sent = 0

        def has_stopped_sending() -> bool:
            nonlocal sent
            before, sent = sent, behaviour.entries(key)[-1].detail
            time.sleep(0.3)
            return before == sent

        wait_for("the printer to be held back", has_stopped_sending, TIMEOUT_S)

    assert sent < KERNEL_BUFFERS_AND_WINDOWS


@pytest.mark.parametrize("how", ["length", "chunked"])
def test_an_answer_that_breaks_off_is_seen_broken_not_complete(
    way: Way, behaviour: BehaviourPrinter, how: str
) -> None:
    key = fresh_key()
    with opened(way, f"/cut/{how}?key={key}") as answer:
        assert answer.read(10) == b"half of it"
        behaviour.allow_step(key)

        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            answer.read()


def test_one_stalled_stream_does_not_hold_up_other_requests(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with raw_request(way, "GET", f"/endless?key={key}"):
        behaviour.wait_for(key, "sent")
        for _ in range(20):  # one that is held up is so for ever
            with opened(way, "/any") as answer:
                assert answer.status == 200


def test_a_viewer_that_leaves_does_not_disturb_another(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    staying, leaving = fresh_key(), fresh_key()
    with opened(way, f"/stepped/mjpeg?key={staying}") as answer:
        assert answer.read(len(jpeg_part(0))) == jpeg_part(0)
        with raw_request(way, "GET", f"/stepped/mjpeg?key={leaving}") as other:
            other.recv(100)
        behaviour.wait_for(leaving, "cancelled")

        behaviour.allow_step(staying)
        assert answer.read(len(jpeg_part(1))) == jpeg_part(1)


def test_two_who_watch_the_same_webcam_share_one_stream_of_the_printer(
    relay: Service, behaviour_linked: LinkedPrinter, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    way = relay.way(relay.connect(behaviour_linked))
    with opened(way, f"/stepped/mjpeg?key={key}") as staying:
        assert staying.read(len(jpeg_part(0))) == jpeg_part(0)
        with opened(way, f"/stepped/mjpeg?key={key}") as other:
            assert other.read(len(jpeg_part(0))) == jpeg_part(0)
            behaviour.wait_for(key, "cancelled")  # the stream that the second viewer didn't need
            behaviour.allow_step(key)
            for answer in (staying, other):
                assert answer.read(len(jpeg_part(1))) == jpeg_part(1)
        behaviour.allow_step(key)
        assert staying.read(len(jpeg_part(2))) == jpeg_part(2)
    wait_for("the camera to be left", lambda: cancelled(behaviour, key) == 2, TIMEOUT_S)


def cancelled(behaviour: BehaviourPrinter, key: str) -> int:
    """How many streams with this key the printer has lost its listener for."""
    return sum(entry.what == "cancelled" for entry in behaviour.entries(key))
