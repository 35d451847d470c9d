"""An agent that loses its power in the middle of something."""

import socket
from collections.abc import Iterator
from http.client import HTTPResponse, IncompleteRead

import pytest

from tests.faults.attempts import attempt, undisturbed
from tests.faults.homes import Home
from tests.rigs.behaviour.pattern import BLOCK, blocks, digest, pattern
from tests.rigs.behaviour.rig import fresh_key
from tests.rigs.calls import opened, read_exactly
from tests.rigs.ways import Header

pytestmark = [pytest.mark.slow, pytest.mark.fault]

SIZE = 256 << 20  # far more than all the buffers on the way hold
PART = 8 << 20
UPLOAD = 16 << 20


def reads_to_its_end(response: HTTPResponse) -> bool:
    """Read on; True when the answer ends as its framing says."""
    try:
        while response.read(BLOCK):
            pass
    except (ConnectionError, IncompleteRead):
        return False
    return response.length in (0, None)


def test_a_download_breaks_off_and_is_never_taken_for_whole(victim: Home, bystander: Home) -> None:
    with undisturbed(bystander), opened(victim.way, f"/file?size={SIZE}") as response:
        assert response.read(PART) == pattern(PART)
        victim.kill_agent()

        assert not reads_to_its_end(response)

        victim.start_agent()
    assert attempt(victim.way, f"/file?size={PART}").answer.body == pattern(PART)


def test_an_answer_of_unknown_length_breaks_off_too(victim: Home) -> None:
    key = fresh_key()
    with opened(victim.way, f"/endless?key={key}") as response:
        assert response.getheader("Transfer-Encoding") == "chunked"
        response.read(PART)
        victim.kill_agent()

        assert not reads_to_its_end(response)

    victim.printer.wait_for(key, "cancelled")


def test_a_caller_of_http_1_0_sees_a_reset_and_not_an_end(victim: Home) -> None:
    """To it, a connection that is closed properly would be the end of a whole answer."""
    key = fresh_key()
    name, value = victim.way.credentials[0]
    head = f"GET /endless?key={key} HTTP/1.0\r\nHost: {victim.way.host}\r\n{name}: {value}\r\n\r\n"
    with victim.way.connect() as caller:
        caller.sendall(head.encode())
        read_exactly(caller, PART)
        victim.kill_agent()

        with pytest.raises(ConnectionResetError):
            read_to_the_end(caller)


def read_to_the_end(caller: socket.socket) -> None:
    """Read until the connection ends, properly or not."""
    while caller.recv(BLOCK):
        pass


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_an_upload_is_refused_and_the_printer_never_takes_it_for_whole(
    victim: Home, bystander: Home, framing: str
) -> None:
    key = fresh_key()
    length: list[Header] = [("Content-Length", str(UPLOAD))] if framing == "length" else []

    def body_with_a_fault_in_it() -> Iterator[bytes]:
        for number, block in enumerate(blocks(UPLOAD)):
            if number * BLOCK == UPLOAD // 2:
                victim.printer.wait_for(key, "received")
                victim.kill_agent()
            yield block

    with undisturbed(bystander):
        target = f"/sink?key={key}"
        ended = attempt(
            victim.way, target, method="POST", headers=length, body=body_with_a_fault_in_it()
        )
        victim.printer.wait_for(key, "cancelled")

        assert ended.status in (601, None)  # None: it went on sending, and heard only the end
        assert "complete" not in [entry.what for entry in victim.printer.entries(key)]

        victim.start_agent()
    again = attempt(victim.way, target, method="POST", headers=length, body=blocks(UPLOAD))
    assert again.answer.json() == {"sha256": digest(UPLOAD), "size": UPLOAD}
