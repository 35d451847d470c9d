"""`printreach agent run|status|setup|uninstall`: the agent as a program of its own.

Most imports stand where they are used: every command of `printreach` builds the whole command
line, and `agent status` needs neither a tunnel nor an event loop.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from printreach.agent.config import (
    AgentConfig,
    ConfigError,
    add_options,
    read_config,
    read_data_dir,
)
from printreach.agent.data_dir import DataDirRefused
from printreach.rules.safe_text import lines
from printreach.run.process import steady_time

if TYPE_CHECKING:
    import asyncio

    from printreach.agent.runtime import Machine, UplinkFactory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the commands below the parser of `agent`."""
    commands = parser.add_subparsers(dest="agent_command", metavar="COMMAND", required=True)
    # @FILE reads options from a file, one a line, as `setup` writes them.
    run = commands.add_parser("run", help="run the agent", fromfile_prefix_chars="@")
    add_options(run)
    run.add_argument("--verbose", action="store_true", help="log more, to find problems")
    status = commands.add_parser("status", help="show the state of a running agent")
    status.add_argument(
        "--data-dir",
        metavar="DIR",
        help="the agent's folder, if it was not installed by the script",
    )
    status.add_argument("--json", action="store_true", help="print one JSON object")
    setup = commands.add_parser(
        "setup", help="find the printer, and run the agent as a system service"
    )
    add_options(setup)
    setup.add_argument(
        "--search-ports",
        metavar="PORTS",
        help="ports of this machine on which to look for printer software",
    )
    uninstall = commands.add_parser("uninstall", help="remove the agent and its data")
    uninstall.add_argument("--yes", action="store_true", help="don't ask first")
    for command in (setup, uninstall):
        command.add_argument(
            "--dir",
            metavar="DIR",
            default=str(Path(sys.prefix).parent),
            help="the installation's folder (default: that of this program)",
        )


def main(options: argparse.Namespace) -> int:
    """Run the chosen command; return the exit status: 0, 1 for a failure, 2 for wrong usage."""
    try:
        match options.agent_command:
            case "status":
                return _status(options)
            case "setup" | "uninstall" as command:
                from printreach.run.agent_setup import run_setup, run_uninstall

                return run_setup(options) if command == "setup" else run_uninstall(options)
            case _:
                return _run(options)
    except ConfigError as error:
        return _fail(error, 2)


def _status(options: argparse.Namespace) -> int:
    from printreach.agent.status import NotRunning, describe, read_status, report

    try:
        snapshot = read_status(read_data_dir(options.data_dir or _installed_data_dir()))
    except NotRunning as error:
        if options.json:
            print(json.dumps({"Running": False}))
        return _fail(error, 1)
    except DataDirRefused as error:
        return _fail(error, 1)
    at = steady_time()
    print(json.dumps(report(snapshot, at)) if options.json else lines(describe(snapshot, at)))
    return 0


def _installed_data_dir() -> str | None:
    """Return the data folder of the installation that this program belongs to, if there is one."""
    from printreach.agent.setup.installation import Installation

    folder = Path(sys.prefix).parent
    installed = Installation.at(folder, is_system=os.geteuid() == 0, home=Path.home())
    return str(installed.data_dir) if installed.is_made else None


def _run(options: argparse.Namespace) -> int:
    config = read_config(options, os.environ)

    from printreach.agent.uplink import Uplink

    return run_program(config, Uplink, verbose=options.verbose)


def run_program(config: AgentConfig, make_uplink: "UplinkFactory", *, verbose: bool) -> int:
    """Run one agent until this process is told to stop; return the exit status."""
    from printreach.agent.builtin import CannotStart
    from printreach.run.process import tune_memory_for_traffic

    _open_standard_files()
    tune_memory_for_traffic()
    # The files that the agent writes are for its own user alone.
    os.umask(0o077)
    _log_to_stderr(verbose=verbose)
    try:
        with _new_runner() as runner:
            runner.run(_run_until_signalled(config, make_uplink))
    except (CannotStart, DataDirRefused) as error:
        return _fail(error, 1)
    except KeyboardInterrupt:
        return 130  # as shells report it
    return 0


async def _run_until_signalled(config: AgentConfig, make_uplink: "UplinkFactory") -> None:
    """Run an agent until SIGTERM or SIGINT; a second SIGINT ends it at once."""
    import asyncio
    import signal

    from printreach.agent.runtime import run_agent

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, interrupted)
    await run_agent(config, machine=this_machine(), make_uplink=make_uplink, stop=stop)


def this_machine() -> "Machine":
    """Return the clocks, random numbers and standard output of this process."""
    import random
    import secrets

    from printreach.agent.runtime import Machine

    return Machine(
        monotonic=steady_time,
        unix_time=time.time,
        uniform=random.uniform,
        token_bytes=secrets.token_bytes,
        stdout=sys.stdout.fileno() if sys.stdout is not None else None,
    )


def _open_standard_files() -> None:
    """Open /dev/null in place of standard files that are closed.

    Otherwise the next sockets would get their numbers and be written to as if they were output, and
    uvloop ends the process when it closes one of them.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _log_to_stderr(*, verbose: bool) -> None:
    """Log one line per message: time, level, logger, text."""
    import logging

    from printreach.agent.log_lines import log_to

    log_to(sys.stderr)
    if verbose:
        logging.getLogger("printreach").setLevel(logging.DEBUG)
    else:
        # The library logs every connection; the uplink already does so in plain words.
        logging.getLogger("picows").setLevel(logging.WARNING)


def _new_runner() -> "asyncio.Runner":
    """Create a runner with uvloop's event loop if uvloop is installed; asyncio's works as well."""
    import asyncio
    import importlib

    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _fail(error: Exception, status: int) -> int:
    print(lines(f"printreach agent: {error}"), file=sys.stderr)
    return status
