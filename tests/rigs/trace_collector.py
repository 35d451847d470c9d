"""A collector of traces: it takes OTLP over HTTP, and reads what has come."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, kw_only=True)
class Collected:
    """A span as it came. kind: as the protocol numbers kinds. node: of its resource."""

    name: str
    kind: int
    trace: str
    own: str
    parent: str
    facts: dict[str, str | int | bool]
    is_error: bool
    node: str
    service: str


INTERNAL, SERVER, CLIENT = 1, 2, 3


@dataclass
class Collector:
    """What has come so far. endpoint: for OTEL_EXPORTER_OTLP_ENDPOINT."""

    endpoint: str = ""
    spans: list[Collected] = field(default_factory=list)

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            of_node = _values(resource.resource.attributes)
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        Collected(
                            name=span.name,
                            kind=span.kind,
                            trace=span.trace_id.hex(),
                            own=span.span_id.hex(),
                            parent=span.parent_span_id.hex(),
                            facts=_values(span.attributes),
                            is_error=span.status.code == 2,
                            node=str(of_node["service.instance.id"]),
                            service=str(of_node["service.name"]),
                        )
                    )

    def one(self, kind: int, node: str = "a") -> Collected:
        """The only span of that kind that a node has sent."""
        [found] = [span for span in self.spans if (span.kind, span.node) == (kind, node)]
        return found


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that the standard variable names."""
    with collecting() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.endpoint)
        yield running


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            assert self.headers["Content-Type"] == "application/x-protobuf"
            collector.take(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _values(attributes: object) -> dict[str, str | int | bool]:
    found = {}
    for one in attributes:  # type: ignore[attr-defined]  # of generated classes
        found[one.key] = getattr(one.value, one.value.WhichOneof("value"))
    return found
