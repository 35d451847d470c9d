"""`printreach agent setup|uninstall`: the agent as its own installation, for the person beside it.

The installation script calls `setup` after each installation and update. Questions are asked where
standard input is a terminal; elsewhere what is missing is told.
"""

import argparse
import asyncio
import os
import pwd
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from printreach.agent.config import (
    PRINTER_VARIABLES,
    AgentConfig,
    ConfigError,
    add_options,
    read_config,
)
from printreach.agent.data_dir import DataDirRefused
from printreach.agent.setup.installation import MARK, Installation
from printreach.agent.setup.systemd import Systemd, SystemdFailed
from printreach.agent.state import Phase
from printreach.agent.status import NotRunning, read_status
from printreach.rules.safe_text import lines
from printreach.run.agent_questions import (
    SetupFailed,
    ask,
    ask_for_secrets,
    choose_printer,
    say,
)
from printreach.run.process import steady_time

_LINK_CODE_TIMEOUT_S: Final = 45.0
_LOOK_AGAIN_S: Final = 0.25


def run_setup(options: argparse.Namespace) -> int:
    """Set up the agent, or bring a running one up to date; return the exit status."""
    try:
        asyncio.run(_set_up(_installation(options), options))
    except (SetupFailed, SystemdFailed, DataDirRefused) as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename or 'A file'} can't be written: {error.strerror}.")
    except KeyboardInterrupt:
        return 130  # as shells report it
    return 0


def run_uninstall(options: argparse.Namespace) -> int:
    """Remove the agent and its data; return the exit status."""
    try:
        asyncio.run(_uninstall(_installation(options), is_agreed=options.yes))
    except (SetupFailed, SystemdFailed, DataDirRefused) as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename or 'A file'} can't be removed: {error.strerror}.")
    except KeyboardInterrupt:
        return 130
    return 0


def _installation(options: argparse.Namespace) -> Installation:
    folder = Path(options.dir).absolute()
    installation = Installation.at(folder, is_system=os.geteuid() == 0, home=Path.home())
    if not installation.is_made:
        raise SetupFailed(
            f"{folder} was not made by the installation script: it has no file {MARK}."
        )
    owner = folder.stat().st_uid
    if owner != os.geteuid():
        raise SetupFailed(f"{folder} belongs to another user: run this as {_user_name(owner)}.")
    return installation


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


async def _set_up(installation: Installation, given: argparse.Namespace) -> None:
    installation.refuse_data_of_another()
    options = _merged(installation.read_options(), given)
    secrets = {**installation.read_secrets(), **_given_secrets()}
    await choose_printer(options, given.search_ports)
    options.data_dir = str(installation.data_dir)
    config = _checked(options, secrets)
    await ask_for_secrets(config, secrets)
    installation.write(_as_lines(options), secrets)
    installation.add_command()
    systemd = Systemd(installation)
    if not await systemd.is_there():
        installation.claim_data()
        say(
            "\nsystemd doesn't run here, so the agent is not started by itself. Run it with:"
            f"\n\n    {installation.runner}\n\nIt writes its link code to the terminal."
        )
        return
    await systemd.start()
    if not await systemd.stays_after_sign_out():
        say("It runs while you are signed in. To have it run always: sudo loginctl enable-linger")
    await _show_link_code(installation, systemd)


# --- options --------------------------------------------------------------------------------------


def _running_agents_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    add_options(parser)
    return parser


def _merged(stored: Sequence[str], given: argparse.Namespace) -> argparse.Namespace:
    """Return the options of an agent that was installed before, with those that were given now."""
    parser = _running_agents_parser()
    try:
        options = parser.parse_args(stored)
    except argparse.ArgumentError as error:
        raise SetupFailed(f"The stored options can't be read: {error}") from None
    for name in vars(options):
        value = getattr(given, name)
        if value != parser.get_default(name):
            setattr(options, name, value)
    return options


def _as_lines(options: argparse.Namespace) -> list[str]:
    """Return the options as `agent run` reads them from a file."""
    parser = _running_agents_parser()
    written = [
        f"--{name.replace('_', '-')}={value}"
        for name, values in vars(options).items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None and values != parser.get_default(name)
    ]
    if any(not line.isprintable() for line in written):
        raise SetupFailed("Options must not contain line breaks or control characters.")
    return written


def _given_secrets() -> dict[str, str]:
    """Return the secrets of the environment by their variables."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(PRINTER_VARIABLES) and value and value.isprintable()
    }


def _checked(options: argparse.Namespace, secrets: Mapping[str, str]) -> AgentConfig:
    try:
        return read_config(options, secrets)
    except ConfigError as error:
        raise SetupFailed(str(error)) from None


# --- afterwards -----------------------------------------------------------------------------------


async def _show_link_code(installation: Installation, systemd: Systemd) -> None:
    """Wait until the agent that was just started is linked, or shows its code."""
    error = ""
    try:
        async with asyncio.timeout(_LINK_CODE_TIMEOUT_S):
            while True:
                try:
                    snapshot = read_status(installation.data_dir)
                except NotRunning:
                    pass
                else:
                    code = snapshot.live_link_code(steady_time())
                    if code is not None:
                        say(
                            f"\nThe agent runs. Link the printer with your account:\n\n"
                            f"    {code.link_url}\n\nor enter this code there: {code.code}"
                        )
                        return
                    if snapshot.is_linked and snapshot.phase is Phase.CONNECTED:
                        say(f"\nThe agent runs, and {snapshot.printer_name} can be reached.")
                        return
                    error = snapshot.last_error or ""
                await asyncio.sleep(_LOOK_AGAIN_S)
    except TimeoutError:
        raise SetupFailed(
            f"The agent was started and has no link code yet. {error}\n"
            f"Its log tells more: {systemd.log_command}"
        ) from None


async def _uninstall(installation: Installation, *, is_agreed: bool) -> None:
    systemd = Systemd(installation)
    has_data = systemd.has_data
    parts = installation.parts(has_data=has_data)
    named = [*parts, *([installation.unit] if systemd.is_ours else [])]
    say("This removes the agent, its key and its link:\n" + "\n".join(f"  {one}" for one in named))
    if not has_data and installation.data_dir.exists():
        say(f"{installation.data_dir} stays, since it isn't of this installation.")
    if not is_agreed:
        answer = ask("Remove all this? [y/N] ")
        if answer is None:
            raise SetupFailed("Nothing was removed: say --yes where nobody can be asked.")
        if answer.lower() not in ("y", "yes"):
            raise SetupFailed("Nothing was removed.")
    await systemd.remove()
    if has_data and installation.is_running:
        raise SetupFailed("The agent still runs: end it, then run this again.")
    installation.remove(parts)
    say("Removed. The printer's entry in your account stays until you remove it there.")


def _fail(error: object) -> int:
    print(lines(f"printreach agent: {error}"), file=sys.stderr)
    return 1
