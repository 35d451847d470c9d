"""Request bodies to the printer: in pieces, refused, abandoned."""

import hashlib
import json
import socket
import time

import pytest

from tests.rigs.behaviour.pattern import blocks, digest, pattern
from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, fresh_key
from tests.rigs.calls import call, raw_request, read_answer, read_head, request_head
from tests.rigs.ways import Header, Way

pytestmark = pytest.mark.slow

CHUNKED: Header = ("Transfer-Encoding", "chunked")


def length(size: int) -> Header:
    return "Content-Length", str(size)


def told(connection: socket.socket) -> tuple[int, bytes]:
    """The status and the body of the answer that comes."""
    answer = read_answer(connection)
    return answer.status, answer.body


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 1_000_001])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_an_upload_of_any_size_is_whole(way: Way, size: int, framing: str) -> None:
    body = pattern(size) if framing == "length" else blocks(size)

    answer = call(way, f"/sink?key={fresh_key()}", method="POST", body=body)

    assert answer.json() == {"sha256": digest(size), "size": size}


def test_each_piece_of_an_upload_reaches_the_printer_before_the_next_is_sent(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with raw_request(way, "PUT", f"/sink?key={key}", length(30)) as connection:
        for number in range(3):
            connection.sendall(b"ten bytes!")
            behaviour.wait_for(key, "received", 10 * (number + 1))

        assert told(connection)[0] == 200


def test_chunks_of_an_upload_reach_the_printer_one_by_one(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with raw_request(way, "POST", f"/sink?key={key}", CHUNKED) as connection:
        for number in range(3):
            connection.sendall(b"a\r\nten bytes!\r\n")
            behaviour.wait_for(key, "received", 10 * (number + 1))
        connection.sendall(b"0\r\n\r\n")

        assert told(connection)[0] == 200


def test_a_length_that_the_app_announced_is_announced_to_the_printer(way: Way) -> None:
    seen = EchoedRequest.by(call(way, "/any", method="POST", body=b"some"))

    assert (seen.all("Content-Length"), seen.has("Transfer-Encoding")) == (["4"], False)


def test_a_body_without_a_length_reaches_the_printer_with_one_framing(way: Way) -> None:
    seen = EchoedRequest.by(call(way, "/any", method="POST", body=iter([b"so", b"me"])))

    # Where all of it is here already, a hop may announce its length instead.
    framing = (seen.all("Transfer-Encoding"), seen.all("Content-Length"))
    assert framing in ((["chunked"], []), ([], ["4"]))
    assert seen.sha256 == digest_of(b"some")


@pytest.mark.parametrize(
    ("framing", "body"),
    [(length(4), b"some"), (CHUNKED, b"4\r\nsome\r\n0\r\n\r\n")],
    ids=["length", "chunked"],
)
@pytest.mark.parametrize("pause_seconds", [0, 0.1])
def test_a_body_is_a_body_whether_or_not_it_comes_with_its_head(
    way: Way, framing: Header, body: bytes, pause_seconds: float
) -> None:
    # A body that lost its framing on the way would be the printer's next request.
    head = request_head(way, "POST", f"/sink?key={fresh_key()}", framing)
    with way.connect() as connection:
        if pause_seconds:
            connection.sendall(head)
            time.sleep(pause_seconds)
            connection.sendall(body)
        else:
            connection.sendall(head + body)
        status, answer = told(connection)

    assert (status, json.loads(answer)) == (200, {"sha256": digest_of(b"some"), "size": 4})


def digest_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def test_an_app_that_expects_100_continue_gets_it_before_it_sends_the_body(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    expecting = (length(10), ("Expect", "100-continue"))
    with raw_request(way, "POST", f"/sink?key={key}", *expecting) as connection:
        assert read_head(connection)[0] == 100
        connection.sendall(b"ten bytes!")

        assert told(connection)[0] == 200
    behaviour.wait_for(key, "received", 10)


def test_a_refusal_in_the_middle_of_an_upload_is_heard(way: Way) -> None:
    size = 2_000_000
    with raw_request(way, "POST", "/refuse?after=1000", length(size)) as connection:
        for block in blocks(size):
            try:
                connection.sendall(block)
            except OSError:
                break  # the printer's side has closed: the answer has to be there all the same

        assert told(connection) == (413, b"too large for this printer")


def test_a_refusal_is_heard_by_an_app_that_has_not_sent_the_rest(way: Way) -> None:
    with raw_request(way, "POST", "/refuse?after=1000", length(1_000_000)) as connection:
        connection.sendall(b"x" * 1000)

        assert told(connection) == (413, b"too large for this printer")


def test_an_early_answer_is_heard_at_once_and_the_upload_may_go_on(way: Way) -> None:
    with raw_request(way, "POST", f"/early?key={fresh_key()}", length(300_000)) as connection:
        connection.sendall(b"x" * 1000)
        assert told(connection) == (200, b"early")
        connection.sendall(b"x" * 299_000)


def test_the_next_request_after_an_early_answer_is_its_own(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    call(way, f"/early?key={fresh_key()}", method="POST", body=pattern(500_000))

    answer = call(way, f"/sink?key={fresh_key()}", method="POST", body=pattern(500_000))

    assert answer.json() == {"sha256": digest(500_000), "size": 500_000}


@pytest.mark.parametrize("framing", [length(1_000_000), CHUNKED], ids=["length", "chunked"])
def test_an_upload_that_its_app_abandons_is_never_taken_for_whole(
    way: Way, behaviour: BehaviourPrinter, framing: Header
) -> None:
    key = fresh_key()
    with raw_request(way, "POST", f"/sink?key={key}", framing) as connection:
        connection.sendall(b"a\r\nten bytes!\r\n")
        behaviour.wait_for(key, "received")

    behaviour.wait_for(key, "cancelled")
    assert "complete" not in [entry.what for entry in behaviour.entries(key)]
