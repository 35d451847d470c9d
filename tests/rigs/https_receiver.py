"""A real HTTPS server that apps' events are sent to, on a thread of its own."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.rigs.receiver import server_tls


@dataclass(frozen=True, kw_only=True)
class WebhookCall:
    """One call as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.body)
        return event


@dataclass
class HttpsReceiver:
    """url: of its webhook. calls: in the order in which they came. status: what it answers.

    may_answer: while it is not set, whoever calls waits.
    """

    url: str = ""
    calls: list[WebhookCall] = field(default_factory=list)
    status: int = 200
    may_answer: threading.Event = field(default_factory=threading.Event)

    def of_type(self, event_type: int) -> list[WebhookCall]:
        return [one for one in self.calls if one.event["EventType"] == event_type]


@contextmanager
def https_receiver(certificate: tuple[Path, Path]) -> Iterator[HttpsReceiver]:
    """certificate: for localhost, chain and key."""
    receiver = HttpsReceiver()
    receiver.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.calls.append(
                WebhookCall(path=self.path, headers=dict(self.headers), body=body)
            )
            receiver.may_answer.wait(60)
            try:
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:
                pass  # whoever called is gone

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = server_tls(certificate).wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    receiver.url = f"https://localhost:{server.server_port}/in?printer=a%20b"
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield receiver
    finally:
        receiver.may_answer.set()
        server.shutdown()
        serving.join(30)
        server.server_close()
