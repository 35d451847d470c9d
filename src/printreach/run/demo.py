"""`make demo`: the whole service on this machine, with simulated printers to try it with.

Everything is stored in a folder that is removed at the end. The printers are linked as a person
does it: an agent shows a code, which is entered for an account.
"""

import asyncio
import errno
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import uvloop

from printreach.agent.addresses import WebAddress, parse_listen_address, parse_web_address
from printreach.agent.config import AgentConfig, PrinterCredentials
from printreach.agent.log_lines import log_to
from printreach.agent.runtime import run_agent
from printreach.agent.uplink import Uplink
from printreach.backends import mail_log
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.contract.status import State
from printreach.hub.denied import Denied
from printreach.hub.watch.choices import WatchChoices
from printreach.printers.simulated.machine import Failure
from printreach.printers.simulated.runner import RunningPrinter, run_simulated_printer
from printreach.printers.simulated.sample import NAME as SAMPLE
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import LAN_PORT, Printer
from printreach.rules.watch.choices import WatchPause, WatchSettings
from printreach.run.admin_world import World, open_world
from printreach.run.agent import this_machine
from printreach.run.dependencies import snapshot_store
from printreach.run.embedded import ROLES, running_service, until_stopped
from printreach.run.settings import Settings, SettingsError, address_warnings, settings_from

log = logging.getLogger(__name__)

EMAIL: Final = "demo@example.com"
PASSWORD: Final = "hollow-vase-42"  # noqa: S105 - of a demo that only this machine reaches
"""The same each time, where nobody but this machine reaches the demo; else a random one."""
APP_ID: Final = "demo-app"
LINK_WITHIN_S: Final = 30.0
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoPrinter:
    """A printer that the demo begins with.

    printed_s: how long it has printed the vase, which takes some six minutes. is_failing: it prints
    into the air from now on. is_gone: its agent has left.
    """

    name: str
    printed_s: float
    is_failing: bool = False
    is_gone: bool = False


PRINTERS: Final = (
    DemoPrinter(name="Workbench", printed_s=110.0),
    DemoPrinter(name="Top shelf", printed_s=90.0, is_failing=True),
    DemoPrinter(name="Garage", printed_s=600.0),
    DemoPrinter(name="Attic", printed_s=0.0, is_gone=True),
)
"""The first is the one that the printed commands are about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Demo:
    """The addresses and credentials of a running demo."""

    base_url: str
    password: str
    connection: Completion
    open_url: str
    lan_port: int
    watches_prints: bool


class DemoFailed(Exception):
    """The demo can't be set up; the message is a sentence."""


def main() -> int:
    """Run until Ctrl-C; return the exit status."""
    show_log()
    folder = Path(tempfile.mkdtemp(prefix="printreach-demo-"))
    environment = {
        "PRINTREACH_DATA_DIR": str(folder / "service"),
        **os.environ,
    }
    try:
        settings = settings_from(environment)
        for warning in address_warnings(settings, environment):
            log.warning("%s", warning)
        return _run_to_the_end(settings, folder)
    except (SettingsError, DemoFailed) as error:
        return _fail(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show_log() -> None:
    """Write warnings to standard error, and the mails whose links sign people up."""
    log_to(sys.stderr, logging.WARNING)
    logging.getLogger(mail_log.__name__).setLevel(logging.INFO)


def _run_to_the_end(settings: Settings, folder: Path) -> int:
    try:
        uvloop.run(_run(settings, folder))
    except OSError as error:
        return _fail(cannot_start(error, settings))
    return 0


async def _run(settings: Settings, folder: Path) -> None:
    stop = stopped_by_signals()
    async with running_service(settings, frozenset(ROLES)) as address:
        await show(settings, address, folder, stop)


def stopped_by_signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def show(settings: Settings, address: str, folder: Path, stop: asyncio.Event) -> None:
    """Fill a new service that runs, print how to try it, and run its printers until the stop.

    address: where agents dial it. folder: for the printers' files and the agents' data.
    """
    async with open_world(settings) as world, AsyncExitStack() as ends:
        password = PASSWORD if is_local(settings) else secrets.token_urlsafe(9)
        _done(await world.accounts.add(EMAIL, password, is_admin=True, supporter=True))
        lan_port = free_lan_port()
        linked: list[Printer] = []
        agents: list[asyncio.Task[None]] = []
        for begun in PRINTERS:
            here = folder / begun.name
            running = await ends.enter_async_context(_printing_printer(begun, here / "files"))
            config = _agent_config(
                settings, address, running, here / "agent", None if linked else lan_port
            )
            leaves = asyncio.Event() if begun.is_gone else stop
            events, agent = await ends.enter_async_context(_announcing_agent(config, leaves))
            linked.append(await _link(world, events, begun.name))
            if begun.is_gone:
                leaves.set()
            else:
                agents.append(agent)
        await _let_watch_pause(world, settings, linked)
        demo = await _set_up(world, settings, password, linked[0], lan_port)
        print(describe(demo), flush=True)
        await until_stopped(stop, agents)
        print("\nGood-bye. Everything the demo made is removed.")


def is_local(settings: Settings) -> bool:
    """Return whether the demo is for this machine alone."""
    public_host = parse_web_address(settings.base_url).host
    return settings.listen_host in _LOCAL and public_host in _LOCAL


@asynccontextmanager
async def _printing_printer(begun: DemoPrinter, folder: Path) -> AsyncIterator[RunningPrinter]:
    """Run a simulated printer that has begun to print some time ago."""
    running = await run_simulated_printer("127.0.0.1", 0, folder=folder)
    try:
        problem = await running.control.start(SAMPLE)
        if problem is not None:
            raise DemoFailed(problem.sentence)
        # In small steps, so that the service answers meanwhile.
        for _ in range(round(begun.printed_s)):
            running.printer.advance(1.0)
            await asyncio.sleep(0)
            if running.printer.state is State.COMPLETE:
                break
        if begun.is_failing:
            running.printer.machine.fail(Failure.SPAGHETTI)
        yield running
    finally:
        await running.close()


@asynccontextmanager
async def _announcing_agent(
    config: AgentConfig, stop: asyncio.Event
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.Task[None]]]:
    """Run an agent; yield the events that it writes to standard output for scripts."""
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    events = asyncio.StreamReader()
    pipe = os.fdopen(reading, "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(events), pipe)
    machine = replace(this_machine(), stdout=writing)
    task = asyncio.create_task(
        run_agent(config, machine=machine, make_uplink=Uplink, stop=stop), name="agent"
    )
    try:
        yield events, task
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)
        transport.close()
        os.close(writing)


async def _link(world: World, events: asyncio.StreamReader, name: str) -> Printer:
    """Enter the code that the agent shows, and wait until it is connected."""
    try:
        async with asyncio.timeout(LINK_WITHIN_S):
            offer = await _event(events, "link-code")
            printer = _done(await world.printers.link(offer["LinkCode"], EMAIL, name))
            await _event(events, "connected")
    except TimeoutError:
        raise DemoFailed("The demo's agent did not connect in time.") from None
    return printer


async def _let_watch_pause(world: World, settings: Settings, printers: list[Printer]) -> None:
    """Choose what owners choose on the page "Failure detection"."""
    choices = WatchChoices(core=world.core, kept=snapshot_store(settings))
    for printer in printers:
        chosen = WatchSettings(pauses=WatchPause())
        _done(await choices.change(printer.account_id, printer.printer_id, chosen))


async def _set_up(
    world: World, settings: Settings, password: str, printer: Printer, lan_port: int
) -> Demo:
    """Create app and connection with the use cases of `printreach admin`."""
    _done(await world.apps.add(APP_ID, "Demo app", ["https://example.com/done"]))
    return Demo(
        base_url=settings.base_url,
        password=password,
        connection=_done(await world.connections.add_for_app(APP_ID, printer.printer_id)),
        open_url=_done(await world.connections.open_own(printer.printer_id)),
        lan_port=lan_port,
        watches_prints=settings.detector_watch,
    )


async def _event(events: asyncio.StreamReader, name: str) -> dict[str, str]:
    while line := await events.readline():
        event = msgspec.json.decode(line, type=dict[str, str | int])
        if event["event"] == name:
            return {key: str(value) for key, value in event.items()}
    raise DemoFailed("The demo's agent stopped.")


def _done(result: T | Denied) -> T:
    if isinstance(result, Denied):
        raise DemoFailed(result.sentence)
    return result


def free_lan_port() -> int:
    """Return the agent's default port, or another one if a second demo uses it."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", LAN_PORT))
        except OSError:
            tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


def _agent_config(
    settings: Settings,
    address: str,
    printer: RunningPrinter,
    data_dir: Path,
    lan_port: int | None,
) -> AgentConfig:
    service = parse_listen_address(address)
    return AgentConfig(
        service=WebAddress(scheme="http", host=service.host, port=service.port),
        data_dir=data_dir,
        kind=PLATFORM_FACTS["simulated"],
        printer=WebAddress(scheme="http", host="127.0.0.1", port=printer.port),
        lan_listen=parse_listen_address(f"127.0.0.1:{lan_port}") if lan_port is not None else None,
        public_service=parse_web_address(settings.base_url),
        credentials=PrinterCredentials(),
    )


def describe(demo: Demo) -> str:
    """Return the text that is printed once the demo runs."""
    first = PRINTERS[0].name
    failing = next(printer.name for printer in PRINTERS if printer.is_failing)
    detection = (
        f"Failure detection watches the prints. {failing} prints into the air: a warning comes\n"
        "within a minute or two, and a pause soon after."
        if demo.watches_prints
        else "Failure detection is switched off by PRINTREACH_DETECTOR_WATCH."
    )
    connection = demo.connection
    url, secret = connection.url, connection.secrets
    login = f"{secret.basic_user}:{secret.basic_password}"
    handshake = (
        "-H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13'"
        " -H 'Sec-WebSocket-Key: cHJpbnRyZWFjaCBkZW1vIQ=='"
    )
    return f"""
For programs: what an app gets, and what it can do with it.
  url          {url}
  user         {secret.basic_user}
  password     {secret.basic_password}
  bearer token {secret.bearer_token}

  curl -u {login} {url}/api/status
  curl -H 'Authorization: Bearer {secret.bearer_token}' -F file=@your.gcode {url}/api/files
  curl -u {login} -o picture.jpg '{url}/webcam/?action=snapshot'
  curl -u {login} -N '{url}/webcam/?action=stream' | head -c 1000000 > stream.mjpeg
  curl -u {login} -N -m 10 --output - {handshake} {url}/ws

{first}'s own page, through the service (the link works once, for 10 minutes); "Fail into
spaghetti" is there, too:
  {demo.open_url}

Its agent's page on the local network:
  http://127.0.0.1:{demo.lan_port}

{detection}
Ctrl-C ends the demo and removes everything it made.

The dashboard of {len(PRINTERS)} printers:
  {demo.base_url}/printers
  e-mail    {EMAIL}
  password  {demo.password}
"""


def cannot_start(error: OSError, settings: Settings) -> str:
    """Return the sentence for an error at the start; for a used port it says how to choose
    another.
    """
    reason = f"The demo can't start: {error.strerror or error}."
    if error.errno != errno.EADDRINUSE:
        return reason
    port = settings.listen_port
    free = port + 10 if port < 65_000 else 8090
    return (
        f"{reason} The demo's port is {port}. If another program has it, choose another port:"
        f" PRINTREACH_LISTEN=127.0.0.1:{free} PRINTREACH_BASE_URL=http://localhost:{free}"
        f" PRINTREACH_TUNNEL_DOMAIN=localhost:{free} make demo"
    )


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
