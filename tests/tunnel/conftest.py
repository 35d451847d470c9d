"""The event loops that a tunnel runs on."""

import asyncio
from collections.abc import Iterator

import pytest
import uvloop


@pytest.fixture(params=["asyncio", "uvloop"])
def event_loop_of(request: pytest.FixtureRequest) -> Iterator[None]:
    """Agents run on either, the service on uvloop."""
    if request.param == "uvloop":
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    yield
    asyncio.set_event_loop_policy(None)
