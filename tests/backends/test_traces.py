"""Traces of calls to servers of strangers."""

import asyncio

import pytest

from printreach.backends.traces import sending_traces
from printreach.backends.webhook_http import WebhookHttp
from printreach.rules.public_addresses import PRIVATE_NETWORKS, Reach
from tests.fakes.names import FakeLookup
from tests.rigs.receiver import Behave, always, hang_up, receiving
from tests.rigs.trace_collector import CLIENT, Collector, collector

__all__ = ["collector"]


@pytest.mark.parametrize(
    ("behave", "status", "error"),
    [(always(200), 200, None), (always(410), 410, "410"), (hang_up, None, "no_answer")],
)
def test_a_delivery_tells_its_target_and_how_it_ended(
    collector: Collector, behave: Behave, status: int | None, error: str | None
) -> None:
    async def deliver() -> int:
        lookup = FakeLookup(hook_example=[["127.0.0.1"]])
        async with receiving() as receiver, sending_traces("a") as tracing:
            receiver.behave = behave
            sender = WebhookHttp(lookup, Reach(networks=PRIVATE_NETWORKS), tracing=tracing)
            await sender.send(f"http://hook.example:{receiver.port}/secret", [], b"{}")
            await sender.close()
            return receiver.port

    port = asyncio.run(deliver())

    call = collector.one(CLIENT)
    assert (call.name, call.parent) == ("POST", "")
    assert call.facts == {
        "http.request.method": "POST",
        "server.address": "hook.example",
        "server.port": port,
        **({} if status is None else {"http.response.status_code": status}),
        **({} if error is None else {"error.type": error}),
    }
    assert call.is_error is (error is not None)
