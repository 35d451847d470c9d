"""Traces of requests, sent to a collector by OpenTelemetry's library.

What it sends, where to, how much of it and how often, the library reads from its own variables,
`OTEL_…`. Names of attributes are those of the semantic conventions where these have one. Paths and
addresses of callers are left out: they name files and people, and may hold credentials.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.semconv.attributes.http_attributes import (
    HTTP_REQUEST_METHOD,
    HTTP_REQUEST_METHOD_ORIGINAL,
    HTTP_RESPONSE_STATUS_CODE,
    HTTP_ROUTE,
)
from opentelemetry.semconv.attributes.server_attributes import SERVER_ADDRESS, SERVER_PORT
from opentelemetry.semconv.attributes.service_attributes import (
    SERVICE_INSTANCE_ID,
    SERVICE_NAME,
    SERVICE_VERSION,
)
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from printreach import __version__
from printreach.http1.tracing import CALLER_GONE, Span

REQUEST_ID: Final = "printreach.request.id"
PRINTER: Final = "printreach.printer.id"
IS_HERE: Final = "printreach.printer.is_here"
LAST_SPANS_S: Final = 5.0
"""How long the last spans are tried to be sent at the end."""

_METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"}
)
_TRACE_ID: Final = re.compile(r"(?!0{32})[0-9a-f]{32}")
_PARENT: Final = "traceparent"
_PROPAGATOR: Final = TraceContextTextMapPropagator()


class TraceIds(RandomIdGenerator):  # type: ignore[misc]  # see pyproject.toml
    """Gives a trace the id of its request."""

    wanted: int | None = None

    def generate_trace_id(self) -> int:
        wanted, self.wanted = self.wanted, None
        given: int = super().generate_trace_id()
        return given if wanted is None else wanted


class SentSpan:
    """http1.tracing.Span."""

    def __init__(
        self, tracer: trace.Tracer, span: trace.Span, kind: SpanKind, method: str = "POST"
    ) -> None:
        self._tracer = tracer
        self._span = span
        self._method = method
        self._errors_from = 400 if kind is SpanKind.CLIENT else 500
        self._is_answered = False

    @property
    def trace_parent(self) -> bytes:
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier, trace.set_span_in_context(self._span, Context()))
        return carrier.get(_PARENT, "").encode()

    def is_for(self, route: str) -> None:
        self._span.set_attribute(HTTP_ROUTE, route)
        self._span.update_name(f"{self._method} {route}")

    def begin_call(self, printer_id: str, *, is_here: bool) -> Span:
        context = trace.set_span_in_context(self._span, Context())
        attributes = {PRINTER: printer_id, IS_HERE: is_here, **_method_attributes(self._method)}
        span = self._tracer.start_span(
            f"{self._method} printer", context, SpanKind.CLIENT, attributes
        )
        return SentSpan(self._tracer, span, SpanKind.CLIENT, self._method)

    def answered(self, status: int) -> None:
        self._is_answered = True
        self._span.set_attribute(HTTP_RESPONSE_STATUS_CODE, status)
        if status >= self._errors_from:
            self._fail(str(status))

    def end(self, fault: str = "") -> None:
        if not self._span.is_recording():
            return
        if fault and not (fault == CALLER_GONE and self._is_answered):
            self._fail(fault)
        self._span.end()

    def _fail(self, error: str) -> None:
        self._span.set_attribute(ERROR_TYPE, error)
        self._span.set_status(StatusCode.ERROR)


class SentTraces:
    """http1.tracing.Tracing. Created by sending_traces."""

    def __init__(self, provider: TracerProvider, ids: TraceIds) -> None:
        self._tracer = provider.get_tracer("printreach", __version__)
        self._ids = ids

    def begin_request(
        self, method: bytes, request_id: bytes, parent: bytes, *, is_inside: bool = False
    ) -> Span:
        kind = SpanKind.INTERNAL if is_inside else SpanKind.SERVER
        return self._begin(method, request_id, parent, kind, {})

    def begin_passing_on(
        self, method: bytes, request_id: bytes, parent: bytes, printer_id: str
    ) -> Span:
        return self._begin(
            method, request_id, parent, SpanKind.SERVER, {PRINTER: printer_id, IS_HERE: True}
        )

    def begin_delivery(self, host: str, port: int) -> Span:
        attributes = {HTTP_REQUEST_METHOD: "POST", SERVER_ADDRESS: host, SERVER_PORT: port}
        span = self._tracer.start_span("POST", Context(), SpanKind.CLIENT, attributes)
        return SentSpan(self._tracer, span, SpanKind.CLIENT)

    def _begin(
        self,
        method: bytes,
        request_id: bytes,
        parent: bytes,
        kind: SpanKind,
        attributes: Mapping[str, str | bool],
    ) -> Span:
        named, said = method.decode("ascii"), request_id.decode("ascii")
        context = Context()
        if parent:
            context = _PROPAGATOR.extract({_PARENT: parent.decode("latin-1")}, context)
        self._ids.wanted = _trace_id_of(said)
        facts = {REQUEST_ID: said, **_method_attributes(named), **attributes}
        short = named if named in _METHODS else "HTTP"
        span = self._tracer.start_span(short, context, kind, facts)
        self._ids.wanted = None  # one with a parent has taken none
        return SentSpan(self._tracer, span, kind, short)


@asynccontextmanager
async def sending_traces(node_id: str) -> AsyncIterator[SentTraces]:
    """Send traces while open. node_id: tells this process's spans from those of others."""
    own = {SERVICE_NAME: "printreach", SERVICE_VERSION: __version__, SERVICE_INSTANCE_ID: node_id}
    resource = Resource.create(own).merge(OTELResourceDetector().detect())  # the operator's count
    ids, exporter = TraceIds(), OTLPSpanExporter()
    provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=ids)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield SentTraces(provider, ids)
    finally:
        await _close(provider, exporter)


async def _close(provider: TracerProvider, exporter: OTLPSpanExporter) -> None:
    """Send what waits, and end the library's thread."""
    closing = asyncio.create_task(asyncio.to_thread(provider.shutdown))
    await asyncio.wait([closing], timeout=LAST_SPANS_S)
    if not closing.done():
        exporter.shutdown()  # the collector doesn't answer: no further try
    await closing


def _trace_id_of(request_id: str) -> int | None:
    """Return the id of the trace: the request's where it has that form, with hyphens or without."""
    digits = request_id.replace("-", "").lower()
    return int(digits, 16) if _TRACE_ID.fullmatch(digits) else None


def _method_attributes(method: str) -> dict[str, str]:
    if method in _METHODS:
        return {HTTP_REQUEST_METHOD: method}
    return {HTTP_REQUEST_METHOD: "_OTHER", HTTP_REQUEST_METHOD_ORIGINAL: method}
