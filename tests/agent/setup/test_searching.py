"""Finding OctoPrint, Moonraker and PrusaLink on this machine, as they really answer."""

import contextlib
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from printreach.agent.addresses import WebAddress
from printreach.agent.setup.printer_software import NoAnswer, PrinterKeys, find_printers
from tests.fakes.loop import on_a_loop
from tests.rigs.moonraker import moonraker
from tests.rigs.octoprint import octoprint
from tests.rigs.prusalink import prusalink
from tests.rigs.waiting import free_port


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


@pytest.mark.peer
@pytest.mark.slow
@on_a_loop
async def test_each_is_found_by_how_it_answers(tmp_path: Path) -> None:
    with (
        octoprint(tmp_path / "o") as octo,
        moonraker(tmp_path / "m") as klipper,
        prusalink() as link,
    ):
        ports = [port_of(octo.url), port_of(klipper), port_of(link.url), free_port()]
        found = await find_printers(ports)

    assert [(one.kind.name, one.address.port) for one in found] == [
        ("octoprint", ports[0]),
        ("moonraker", ports[1]),
        ("prusalink", ports[2]),
    ]


class Answers(BaseHTTPRequestHandler):
    """Answers everything in one way, which its subclasses choose."""

    answer = (200, b"<html>a printer of somebody</html>")

    def do_GET(self) -> None:
        self.send_response(self.answer[0])
        self.send_header("Content-Length", str(len(self.answer[1])))
        self.end_headers()
        self.wfile.write(self.answer[1])

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # its own name


@contextlib.contextmanager
def web_server(status: int, body: bytes) -> Iterator[int]:
    handler = type("Handler", (Answers,), {"answer": (status, body)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>anything</html>"),
        (200, b'{"result": []}'),
        (200, b'{"result": {"moonraker_version": 7}}'),
        (401, b'{"error": "no"}'),
        (404, b""),
        (200, b'{"text": ["OctoPrint"]}'),
        (200, b"[" * 100_000),
        (200, b"x" * 1_000_000),
    ],
)
@on_a_loop
async def test_another_web_server_is_none_of_them(status: int, body: bytes) -> None:
    with web_server(status, body) as port:
        assert await find_printers([port]) == []


@on_a_loop
async def test_one_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert await find_printers([port], timeout_s=0.2) == []


@on_a_loop
async def test_what_wants_a_key_of_a_moonraker_is_found_too() -> None:
    body = b'{"error": {"code": 401, "message": "Unauthorized"}}'
    with web_server(401, body) as port:
        found = await find_printers([port])
        keys = PrinterKeys(found[0].address)
        accepted = await keys.moonraker_accepts(None)
        await keys.close()

    assert [one.kind.name for one in found] == ["moonraker"]
    assert not accepted


@on_a_loop
async def test_no_answer_is_told_from_a_refusal() -> None:
    keys = PrinterKeys(WebAddress(scheme="http", host="127.0.0.1", port=free_port()))
    with pytest.raises(NoAnswer, match="can't be reached"):
        await keys.moonraker_accepts(None)
    await keys.close()
