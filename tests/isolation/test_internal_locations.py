"""What a web server before the service keeps to itself, no answer of a printer fetches."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.rigs.behaviour.rig import behaviour_printer
from tests.rigs.calls import call
from tests.rigs.proxies import DOMAIN, Proxy, nginx, service_behind

pytestmark = [pytest.mark.slow, pytest.mark.peer]

SECRET = "what only internal redirects may serve"
PROTECTED = "/protected/secret.txt"
IGNORED = (
    "proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Charset;"
)


def location(folder: Path) -> str:
    """A location that nginx serves when its upstream orders that, with a file in it."""
    files = folder / "protected"
    files.mkdir()
    (files / "secret.txt").write_text(SECRET)
    return f"location /protected/ {{ internal; alias {files}/; }}"


@contextmanager
def hostile_upstream() -> Iterator[int]:
    """A web server that answers everything with the order; its port."""

    class Ordering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("X-Accel-Redirect", PROTECTED)
            self.send_header("Content-Length", "7")
            self.end_headers()
            self.wfile.write(b"printer")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ordering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def body_from(proxy: Proxy) -> str:
    """What a caller of the proxy reads."""
    tls = ssl.create_default_context(cafile=proxy.root)
    tls.check_hostname = False
    connection = HTTPSConnection("127.0.0.1", proxy.port, context=tls, timeout=60)
    connection.request("GET", "/", headers={"Host": DOMAIN})
    body = connection.getresponse().read().decode()
    connection.close()
    return body


def test_behind_an_nginx_that_obeys_such_orders_none_of_a_printers_arrives(
    tmp_path: Path,
) -> None:
    proxy = partial(nginx, location=location(tmp_path), without=IGNORED)
    with (
        behaviour_printer(tmp_path) as behaviour,
        service_behind(proxy, tmp_path) as service,
        service.printer("behaviour", behaviour.url) as printer,
    ):
        way = service.way(service.connect(printer))
        header = quote(f"X-Accel-Redirect:{PROTECTED}")
        answer = call(way, f"/chosen?body=printer&header={header}")

    assert (answer.status, answer.body) == (200, b"printer")


def test_the_nginx_recipe_obeys_no_order_of_what_is_behind_it(tmp_path: Path) -> None:
    with (
        hostile_upstream() as port,
        nginx(tmp_path, port, location=location(tmp_path)) as proxy,
    ):
        assert body_from(proxy) == "printer"
