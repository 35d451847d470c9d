"""Traces of a web node, and what asks for traces at all."""

import asyncio
import sys

import httpx
import pytest

from printreach.backends.traces import sending_traces
from printreach.run.dependencies import tracing_of
from printreach.run.settings import SettingsError, settings_from
from tests.rigs.trace_collector import SERVER, Collector, collector
from tests.run.test_web_node import Run, fetch, run, serving

__all__ = ["collector", "run"]

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("environ", "sends"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
    ],
)
def test_opentelemetrys_own_variables_ask_for_traces(environ: dict[str, str], sends: bool) -> None:
    assert settings_from(environ).sends_traces is sends


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL is"),
        (
            {
                **ENDPOINT,
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
            },
            "'grpc'",
        ),
        ({"OTEL_TRACES_EXPORTER": "console"}, "OTEL_TRACES_EXPORTER is 'console'"),
    ],
)
def test_a_way_of_sending_that_is_not_built_in_is_refused(
    environ: dict[str, str], says: str
) -> None:
    with pytest.raises(SettingsError, match=says):
        settings_from(environ)


def test_without_the_extra_the_start_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "printreach.backends.traces", raising=False)

    async def start() -> None:
        async with tracing_of(settings_from(ENDPOINT), "a"):
            pass

    with pytest.raises(SettingsError) as refused:
        asyncio.run(start())
    assert "OTEL_EXPORTER_OTLP_ENDPOINT needs more than is installed" in str(refused.value)
    assert "-r requirements/otel.txt brings it" in str(refused.value)


@pytest.mark.slow
def test_a_web_node_tells_of_its_requests_by_route(collector: Collector, run: Run) -> None:
    async def scenario() -> list[httpx.Response]:
        async with sending_traces("a") as tracing, serving(tracing=tracing) as node:
            return [await fetch(node, "/reset?code=secret"), await fetch(node, "/no/such/page")]

    answers = run(scenario())

    page, unknown = collector.spans
    assert (page.name, page.kind, page.facts["http.route"]) == ("GET /reset", SERVER, "/reset")
    assert page.facts["http.response.status_code"] == 200
    assert (unknown.name, unknown.facts["http.response.status_code"]) == ("GET", 404)
    assert [span.trace for span in collector.spans] == [
        answer.headers["x-service-request-id"] for answer in answers
    ]
    assert "secret" not in repr(page)
