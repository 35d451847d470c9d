"""Printreach as its users run it: a service, agents, and App Connections with valid credentials."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from bench.processes import Broken
from printreach.hub.denied import Denied
from printreach.rules.portal.parameters import Completion
from printreach.run.admin_world import open_world
from printreach.run.settings import Settings, settings_from
from tests.rigs.programs import Program
from tests.rigs.service import APP, OWNER, Agent, LinkedPrinter, Service, printreach
from tests.rigs.ways import Way, basic


@contextmanager
def linked_agent(
    service: Service,
    name: str,
    *options: str,
    service_url: str | None = None,
    env: Mapping[str, str] | None = None,
    command: Callable[..., list[str]] = printreach,
) -> Iterator[LinkedPrinter]:
    """Run an agent and link it.

    service_url: the address it dials, if not the service's own. command: makes the command line.
    """
    data_dir = service.folder / f"agent-{name}"
    argv = command(
        *("agent", "run", "--service", service_url or service.base_url),
        *("--data-dir", str(data_dir), "--lan-listen", "127.0.0.1:0"),
        *options,
    )
    with Program(f"agent-{name}", argv, logs=service.folder, env=env) as program:
        agent = Agent(program, data_dir)
        code = agent.event("link-code")["LinkCode"]
        linked = service.admin("printer", "link", code, "--account", OWNER, "--name", name)
        agent.event("connected")
        yield LinkedPrinter(linked["PrinterId"], agent)


def web_server_at(port: int) -> tuple[str, ...]:
    """Return the agent's options for a printer that is only a web server."""
    return "--platform", "duet", "--printer-url", f"http://127.0.0.1:{port}"


def connect(service: Service, printer: LinkedPrinter) -> Way:
    """Create an App Connection of its own to the printer; return how to reach it."""
    return connections(service, printer, 1)[0]


def connections(service: Service, printer: LinkedPrinter, count: int) -> list[Way]:
    """Create several at once; `printreach admin` would take a second for each."""
    made = asyncio.run(_add_connections(settings_of(service), printer.id, count))
    return [
        service.way_to(urlsplit(one.url).netloc).proving(
            basic(one.secrets.basic_user, one.secrets.basic_password)
        )
        for one in made
    ]


def settings_of(service: Service) -> Settings:
    """Return the settings as the service itself reads them."""
    return settings_from(service.env)


async def _add_connections(settings: Settings, printer_id: str, count: int) -> list[Completion]:
    made = []
    async with open_world(settings) as world:
        for _ in range(count):
            result = await world.connections.add_for_app(APP, printer_id)
            if isinstance(result, Denied):
                raise Broken(result.sentence)
            made.append(result)
    return made
