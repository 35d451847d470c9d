"""`printreach serve`: the service with any of its roles, and optionally an agent beside it."""

import argparse
import asyncio
import contextlib
import errno
import json
import logging
import math
import os
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

import uvloop

from printreach import __version__
from printreach.agent.addresses import WebAddress, join_host_port, parse_listen_address
from printreach.agent.builtin import CannotStart
from printreach.agent.config import AgentConfig, ConfigError, add_options, read_config
from printreach.agent.data_dir import DataDirRefused
from printreach.agent.log_lines import log_to
from printreach.ports import Unavailable
from printreach.run.embedded import ONLY_DETECTOR, ROLES, running_service, until_stopped
from printreach.run.process import (
    freeze_startup_objects,
    return_startup_memory,
    tune_memory_for_traffic,
)
from printreach.run.processes import MAX_PROCESSES, Processes
from printreach.run.scoring import DetectorCannotStart, node_address
from printreach.run.settings import Settings, SettingsError, address_warnings, settings_from
from printreach.run.sockets import handed_over
from printreach.store.key_files import KeyFileRefused
from printreach.store.migrate import DatabaseTooNew

log = logging.getLogger(__name__)

SETTLED_S: Final = 2.0
"""By then a service that somebody waits for has shown its first page."""
SAID_EVERY_S: Final = 60.0
_ADDRESS_FAULTS: Final = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES})
_BOUND: Final = re.compile(r"on address \('([^']*)', ([0-9]+)")
"""The address in the text of an error of bind(), by asyncio, uvloop and socket.create_server."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--role",
        action="append",
        choices=ROLES,
        help="run this role only; may be given several times (default: all)",
    )
    parser.add_argument(
        "--processes",
        type=_count,
        default=1,
        metavar="N",
        help="run N nodes on this machine that share its address (default: 1)",
    )
    parser.add_argument(
        "--with-agent",
        action="store_true",
        help="also run an agent for the printer on this machine; takes the agent's options",
    )
    parser.add_argument("--verbose", action="store_true", help="log more, to find problems")
    add_options(parser)


def _count(word: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= MAX_PROCESSES:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1 to {MAX_PROCESSES}")
    return int(word)


def main(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; return 0, 1 with a sentence, or 2 for wrong usage."""
    try:
        roles = frozenset(options.role or ROLES)
        settings = settings_from(os.environ)
        node_address(settings, roles)  # missing agent options are wrong usage
        agent = _agent_config(options, settings) if options.with_agent else None
        listeners = handed_over(os.environ, os.getpid())
    except (ConfigError, SettingsError) as error:
        return _fail(error, 2)
    os.umask(0o077)
    _log_to_stderr(verbose=options.verbose, as_json=settings.logs_json)
    if options.processes > 1:
        try:
            return Processes(options.processes, sys.argv[1:], settings, listeners).run()
        except OSError as error:
            return _fail(cannot_serve(error, settings), 1)
    for warning in () if roles == ONLY_DETECTOR else address_warnings(settings, os.environ):
        log.warning("%s", warning)
    tune_memory_for_traffic()
    try:
        uvloop.run(serve(settings, roles, agent, listeners))
    except (
        CannotStart,
        DataDirRefused,
        DatabaseTooNew,
        DetectorCannotStart,
        KeyFileRefused,
        SettingsError,
        Unavailable,
    ) as error:
        return _fail(error, 1)
    except OSError as error:
        return _fail(cannot_serve(error, settings), 1)
    return 0


def cannot_serve(error: OSError, settings: Settings) -> str:
    """Return the sentence for an error at the start; for an address it names the setting."""
    reason = error.strerror or str(error)
    bound = _BOUND.search(reason)
    address = (bound[1], int(bound[2])) if bound else (settings.listen_host, settings.listen_port)
    where = f"Can't serve on {join_host_port(*address)}"
    if error.errno not in _ADDRESS_FAULTS:
        return f"{where}: {reason}."
    remedy = "PRINTREACH_LISTEN chooses another address or port."
    if address == settings.node_listen:
        remedy = "PRINTREACH_NODE_LISTEN chooses another address or port."
    elif address[1] in settings.tunnel_ports and error.errno != errno.EADDRNOTAVAIL:
        remedy = "PRINTREACH_TUNNEL_PORTS chooses other ports."
    return f"{where}: {os.strerror(error.errno)}. {remedy}"


async def serve(
    settings: Settings,
    roles: frozenset[str],
    agent: AgentConfig | None,
    listeners: Sequence[socket.socket] = (),
) -> None:
    """Run the roles, and the agent if there is one, until a signal comes.

    listeners: sockets that listen already.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running_service(settings, roles, listeners) as address:
        freeze_startup_objects()
        loop.call_later(SETTLED_S, return_startup_memory)
        _report_ready(address, settings)
        async with _agent_beside(agent and _dialling_over_loopback(agent, address), stop) as tasks:
            await until_stopped(stop, tasks)


@contextlib.asynccontextmanager
async def _agent_beside(
    agent: AgentConfig | None, stop: asyncio.Event
) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Run an agent in this process while open."""
    if agent is None:
        yield []
        return
    # Most services run without one, and its modules would take memory.
    from printreach.agent.runtime import run_agent
    from printreach.agent.uplink import Uplink
    from printreach.run.agent import this_machine

    running = run_agent(agent, machine=this_machine(), make_uplink=Uplink, stop=stop)
    task = asyncio.create_task(running, name="agent")
    try:
        yield [task]
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)


def _agent_config(options: argparse.Namespace, settings: Settings) -> AgentConfig:
    """Parse the agent's options; those that this process already knows may be left out."""
    filled = argparse.Namespace(**vars(options))
    if filled.service is None:
        filled.service = settings.base_url  # the real address is known once the service listens
    if filled.data_dir is None:
        filled.data_dir = str(settings.data_dir / "agent")
    return read_config(filled, os.environ)


def _dialling_over_loopback(agent: AgentConfig, address: str) -> AgentConfig:
    """Let the agent dial over loopback; people and apps see the public address."""
    listen = parse_listen_address(address)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listen.host, listen.host)  # noqa: S104
    dialled = WebAddress(scheme="http", host=host, port=listen.port)
    return replace(agent, service=dialled, public_service=agent.service)


def _report_ready(address: str, settings: Settings) -> None:
    facts = {"Listen": address, "BaseUrl": settings.base_url, "Version": __version__}
    with contextlib.suppress(OSError):  # standard output is closed
        print(f"ready {json.dumps(facts)}", flush=True)


class OutageFilter(logging.Filter):
    """Logs that storage is away as one line without a stack, which would tell nothing about it.

    What a part of the service says of it over and over is said once in SAID_EVERY_S.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        arguments = record.args if isinstance(record.args, tuple) else ()
        if not any(isinstance(one, Unavailable) for one in (error, *arguments)):
            return True
        said, now = (record.name, record.msg), time.monotonic()
        said_at, unsaid = self._said.get(said, (-math.inf, 0))
        if now - said_at < SAID_EVERY_S:
            self._said[said] = said_at, unsaid + 1
            return False
        self._said[said] = now, 0
        text = record.getMessage() if error is None else f"{record.getMessage()}: {error}"
        record.msg = f"{text} ({unsaid} more of these since)" if unsaid else text
        record.args, record.exc_info = None, None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def _log_to_stderr(*, verbose: bool, as_json: bool) -> None:
    log_to(sys.stderr, as_json=as_json)
    for handler in logging.getLogger().handlers:
        handler.addFilter(OutageFilter())
    for library in ("picows", "websockets", "alembic", "httpx", "stripe"):
        logging.getLogger(library).setLevel(logging.WARNING)
    if verbose:
        logging.getLogger("printreach").setLevel(logging.DEBUG)


def _fail(error: Exception | str, status: int) -> int:
    print(f"printreach serve: {error}", file=sys.stderr)
    return status
