"""An uplink that runs, and the service in this process that it dials."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from printreach.agent.keys import ServicePin
from printreach.agent.uplink import Uplink
from tests.agent.beside_printer import TIMEOUT_S, eventually
from tests.agent.contexts import Agent
from tests.agent.scripted_service import Service, ServiceVisit, scripted_service
from tests.tunnel.ends import GET_PAGE, Listener


def quickly(_low: float, _high: float) -> float:
    return 0.01


@asynccontextmanager
async def running(agent: Agent) -> AsyncIterator[Uplink]:
    """The agent's uplink, until the test is over."""
    uplink = Uplink(agent.context)
    task = asyncio.create_task(uplink.run())
    try:
        yield uplink
    finally:
        await uplink.stop()
        async with asyncio.timeout(TIMEOUT_S):
            await task


class At:
    """A service and an agent that dials it."""

    def __init__(self, service: Service, agent: Agent) -> None:
        self.service = service
        self.agent = agent
        self.state = agent.context.state

    async def until_events(self, *events: str) -> None:
        await eventually(lambda: self.agent.announced.events == list(events))

    def pin(self) -> None:
        pin = ServicePin(public_keys=(self.service.key.public,), printer_name="Voron")
        self.agent.context.pins.put(self.service.url, pin)


@asynccontextmanager
async def dialled(
    folder: Path, *, platform: str = "octoprint", printer: str | None = "http://127.0.0.1:1"
) -> AsyncIterator[At]:
    async with scripted_service() as service:
        agent = Agent(
            folder, service=service.url, platform=platform, printer=printer, uniform=quickly
        )
        yield At(service, agent)


async def ask(visit: ServiceVisit) -> Listener:
    """A request, as soon as the tunnel takes one."""
    await eventually(lambda: visit.tunnel.session.may_open)
    listener = Listener()
    listener.stream = visit.tunnel.open(listener, GET_PAGE, fin=True)
    return listener
