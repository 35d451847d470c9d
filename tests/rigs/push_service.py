"""A push service on loopback: it keeps what it is sent, as a browser's would until it delivers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.rigs.waiting import wait_for


@dataclass
class PushService:
    """messages: their bodies, in the order in which they came. status: what it answers."""

    url: str = ""
    messages: list[bytes] = field(default_factory=list)
    status: int = 201

    def next_message(self, count: int) -> bytes:
        """The body of that one of the messages, once it has come; the first is 1."""
        wait_for(f"message {count}", lambda: len(self.messages) >= count, seconds=60)
        return self.messages[count - 1]


@contextmanager
def push_service() -> Iterator[PushService]:
    service = PushService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            service.messages.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(service.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}/send/1"
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield service
    finally:
        server.shutdown()
        serving.join(30)
        server.server_close()
