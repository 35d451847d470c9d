"""`make demo`: the whole service on this machine, with a simulated printer to try it with.

Everything is stored in a folder that is removed at the end. The printer is linked as a person does
it: its agent shows a code, which is entered for an account.
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
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec
import uvloop

from printreach.agent.addresses import WebAddress, parse_listen_address, parse_web_address
from printreach.agent.config import AgentConfig, PrinterCredentials
from printreach.agent.log_lines import log_to
from printreach.agent.runtime import run_agent
from printreach.agent.uplink import Uplink
from printreach.backends import mail_log
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.hub.denied import Denied
from printreach.printers.simulated.runner import run_simulated_printer
from printreach.printers.simulated.sample import NAME as SAMPLE
from printreach.rules.portal.completion import Completion
from printreach.run.admin_world import World, open_world
from printreach.run.agent import this_machine
from printreach.run.embedded import ROLES, running_service, until_stopped
from printreach.run.settings import Settings, SettingsError, address_warnings, settings_from

log = logging.getLogger(__name__)

EMAIL = "demo@example.com"
APP_ID = "demo-app"
PRINTER_NAME = "Demo printer"
LINK_WITHIN_S = 30.0
LAN_PORT = 8765
"""The agent's default port; if another program uses it, such as a second demo, a free one is
chosen.
"""

T = TypeVar("T")


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
        # The model mistakes the coarse infill that the demo's printer draws for loose strands.
        "PRINTREACH_DETECTOR_WATCH": "false",
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
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with (
        running_service(settings, frozenset(ROLES)) as address,
        open_world(settings) as world,
        _printing_printer(folder / "printer") as printer,
    ):
        lan_port = _free_lan_port()
        config = _agent_config(settings, address, printer, folder / "agent", lan_port)
        async with _announcing_agent(config, stop) as (events, agent):
            demo = await _set_up(world, settings, events, lan_port)
            print(describe(demo), flush=True)
            await until_stopped(stop, [agent])
            print("\nGood-bye. Everything the demo made is removed.")


@asynccontextmanager
async def _printing_printer(folder: Path) -> AsyncIterator[WebAddress]:
    """Run a simulated printer that has just begun to print."""
    printer = await run_simulated_printer("127.0.0.1", 0, folder=folder)
    try:
        problem = await printer.control.start(SAMPLE)
        if problem is not None:
            raise DemoFailed(problem.sentence)
        yield WebAddress(scheme="http", host="127.0.0.1", port=printer.port)
    finally:
        await printer.close()


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


async def _set_up(
    world: World, settings: Settings, events: asyncio.StreamReader, lan_port: int
) -> Demo:
    """Create account, link, app and connection with the use cases of `printreach admin`."""
    password = secrets.token_urlsafe(9)
    _done(await world.accounts.add(EMAIL, password, is_admin=True, supporter=True))
    try:
        async with asyncio.timeout(LINK_WITHIN_S):
            offer = await _event(events, "link-code")
            printer = _done(await world.printers.link(offer["LinkCode"], EMAIL, PRINTER_NAME))
            await _event(events, "connected")
    except TimeoutError:
        raise DemoFailed("The demo's agent did not connect in time.") from None
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


def _free_lan_port() -> int:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", LAN_PORT))
        except OSError:
            tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


def _agent_config(
    settings: Settings, address: str, printer: WebAddress, data_dir: Path, lan_port: int
) -> AgentConfig:
    service = parse_listen_address(address)
    return AgentConfig(
        service=WebAddress(scheme="http", host=service.host, port=service.port),
        data_dir=data_dir,
        kind=PLATFORM_FACTS["simulated"],
        printer=printer,
        lan_listen=parse_listen_address(f"127.0.0.1:{lan_port}"),
        public_service=parse_web_address(settings.base_url),
        credentials=PrinterCredentials(),
    )


def describe(demo: Demo) -> str:
    """Return the text that is printed once the demo runs."""
    detection = (
        "Failure detection looks at the print's pictures."
        if demo.watches_prints
        else "Failure detection is switched off, because it takes the infill of this drawn print"
        " for a failure. PRINTREACH_DETECTOR_WATCH=true make demo switches it on."
    )
    connection = demo.connection
    url, secret = connection.url, connection.secrets
    login = f"{secret.basic_user}:{secret.basic_password}"
    handshake = (
        "-H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13'"
        " -H 'Sec-WebSocket-Key: cHJpbnRyZWFjaCBkZW1vIQ=='"
    )
    return f"""
Printreach runs at {demo.base_url}, with a simulated printer that has begun to print.

The dashboard: {demo.base_url}/printers
  e-mail       {EMAIL}
  password     {demo.password}

The printer's own page, through the service, in a browser (the link works once, for 10 minutes):
  {demo.open_url}

An App Connection, as an app gets it:
  url          {url}
  user         {secret.basic_user}
  password     {secret.basic_password}
  bearer token {secret.bearer_token}

Try it:
  curl -u {login} {url}/api/status
  curl -H 'Authorization: Bearer {secret.bearer_token}' -F file=@your.gcode {url}/api/files
  curl -u {login} -o picture.jpg '{url}/webcam/?action=snapshot'
  curl -u {login} -N '{url}/webcam/?action=stream' | head -c 1000000 > stream.mjpeg
  curl -u {login} -N -m 10 --output - {handshake} {url}/ws

The agent's page on the local network: http://127.0.0.1:{demo.lan_port}

{detection}

Ctrl-C ends the demo and removes everything it made.
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
