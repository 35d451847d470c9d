"""`printreach agent setup|uninstall`: the agent as its own installation, for the person beside it.

The installation script calls `setup` after each installation and update. Questions are asked where
standard input is a terminal; elsewhere what is missing is told.
"""

import argparse
import asyncio
import getpass
import os
import pwd
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from printreach.agent.addresses import (
    DEFAULT_PORTS,
    BadAddress,
    WebAddress,
    find_lan_address,
    parse_web_address_or_host,
)
from printreach.agent.config import (
    AgentConfig,
    ConfigError,
    PrinterCredentials,
    add_options,
    read_config,
    read_credentials,
)
from printreach.agent.data_dir import DataDirRefused, prepare
from printreach.agent.setup.installation import MARK, Installation
from printreach.agent.setup.printer_keys import NoAnswer, NoKey, PrinterKeys
from printreach.agent.setup.searching import PORTS, SEARCHABLE, FoundPrinter, find_printers, kind_at
from printreach.agent.setup.systemd import Systemd, SystemdFailed
from printreach.agent.state import Phase
from printreach.agent.status import NotRunning, read_status
from printreach.contract.platforms import PLATFORM_FACTS, PlatformFacts
from printreach.run.process import steady_time

_LINK_CODE_TIMEOUT_S: Final = 45.0
_LOOK_AGAIN_S: Final = 0.25
_PREFIX: Final = "PRINTREACH_PRINTER_"


class SetupFailed(Exception):
    """The agent can't be set up; the message is for a person."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A secret that a platform asks for. is_needed: without it the printer does nothing."""

    credential: str
    words: str
    is_needed: bool = True


_QUESTIONS: Final[Mapping[str, _Question]] = {
    "bambu": _Question("access_code", "Access code, on the printer's screen"),
    "prusalink": _Question("password", "Password of PrusaLink, on the printer's screen"),
    "duet": _Question("password", "Password of the board (empty if it has none)", is_needed=False),
    "elegoo": _Question(
        "access_code", "Access code, of a Centauri Carbon 2 alone (else empty)", is_needed=False
    ),
}
_API_KEY: Final = _Question("api_key", "API key of the printer's software")


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
    options = _merged(installation.read_options(), given)
    secrets = {**installation.read_secrets(), **_given_secrets()}
    await _choose_printer(options, given.search_ports)
    options.data_dir = str(installation.data_dir)
    config = _checked(options, secrets)
    await _ask_for_secrets(config, secrets)
    installation.write(_as_lines(options), secrets)
    installation.add_command()
    systemd = Systemd(installation)
    if not await systemd.is_there():
        prepare(installation.data_dir)
        _say(
            "\nsystemd doesn't run here, so the agent is not started by itself. Run it with:"
            f"\n\n    {installation.runner}\n\nIt writes its link code to the terminal."
        )
        return
    await systemd.start()
    if not await systemd.stays_after_sign_out():
        _say("It runs while you are signed in. To have it run always: sudo loginctl enable-linger")
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
    lines = [
        f"--{name.replace('_', '-')}={value}"
        for name, values in vars(options).items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None and values != parser.get_default(name)
    ]
    if any(not line.isprintable() for line in lines):
        raise SetupFailed("Options must not contain line breaks or control characters.")
    return lines


def _given_secrets() -> dict[str, str]:
    """Return the secrets of the environment by their variables."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) and value and value.isprintable()
    }


def _checked(options: argparse.Namespace, secrets: Mapping[str, str]) -> AgentConfig:
    try:
        return read_config(options, secrets)
    except ConfigError as error:
        raise SetupFailed(str(error)) from None


# --- the printer ----------------------------------------------------------------------------------


async def _choose_printer(options: argparse.Namespace, search_ports: str | None) -> None:
    """Fill in what was not given, from what answers on this machine or from answers of a person."""
    if options.printer_url is not None and options.platform is not None:
        return
    if options.printer_url is not None:
        options.platform = await _platform_at(options.printer_url)
    elif options.platform in (None, *SEARCHABLE) and options.printer_url is None:
        _say("Looking for the printer's software on this machine")
        found = await find_printers(_ports(search_ports))
        found = [one for one in found if options.platform in (None, one.kind.name)]
        if found:
            chosen = found[0] if len(found) == 1 else _choose(found)
            _say(f"Found {chosen.kind.title} at {chosen.address}")
            options.platform, options.printer_url = chosen.kind.name, str(chosen.address)
            return
        _say("No OctoPrint, Moonraker or PrusaLink answers on this machine.")
    if options.platform is None or options.printer_url is None:
        _ask_for_address(options)


async def _platform_at(url: str) -> str | None:
    """Return which platform answers at the address of a printer."""
    try:
        address = parse_web_address_or_host(url, DEFAULT_PORTS["http"])
    except BadAddress as error:
        raise SetupFailed(f"--printer-url {error}.") from None
    kind = await kind_at(address)
    if kind is None:
        _say(f"Neither OctoPrint, Moonraker nor PrusaLink answers at {address}.")
        return None
    _say(f"Found {kind.title} at {address}")
    return kind.name


def _ports(text: str | None) -> Sequence[int]:
    if text is None:
        return PORTS
    try:
        ports = [int(part) for part in text.split(",")]
    except ValueError:
        ports = []
    if not ports or any(not 0 < port < 65536 for port in ports):
        raise SetupFailed("--search-ports must be numbers from 1 to 65535, with commas between.")
    return ports


def _choose(found: Sequence[FoundPrinter]) -> FoundPrinter:
    lines = [
        f"  {number}  {one.kind.title} at {one.address}" for number, one in enumerate(found, 1)
    ]
    _say("\n".join(["There is more than one:", *lines]))
    answer = _ask("Which one is this agent for? Its number: ")
    if answer is None:
        ways = [f"  --platform {one.kind.name} --printer-url {one.address}" for one in found]
        raise SetupFailed("\n".join(["Say which one this agent is for, by one of:", *ways]))
    if not answer.isdecimal() or not 1 <= int(answer) <= len(found):
        raise SetupFailed(f"{answer!r} is none of the numbers.")
    return found[int(answer) - 1]


def _ask_for_address(options: argparse.Namespace) -> None:
    kinds = ", ".join(PLATFORM_FACTS)
    if options.platform is None:
        options.platform = _ask(f"Kind of printer ({kinds}): ")
    if options.platform is None:
        raise SetupFailed(
            f"Say which printer it is: --platform KIND --printer-url URL. Kinds: {kinds}."
        )
    kind = PLATFORM_FACTS.get(options.platform)
    if options.printer_url is None and kind is not None and not kind.is_simulated:
        options.printer_url = _ask(f"Address of the printer, such as {kind.example_address}: ")


# --- secrets --------------------------------------------------------------------------------------


async def _ask_for_secrets(config: AgentConfig, secrets: dict[str, str]) -> None:
    """Get what the platform asks for, of its software or of a person, and add it to the secrets."""
    question = _QUESTIONS.get(config.kind.name)
    if config.kind.name in ("octoprint", "moonraker") and config.printer is not None:
        question = await _api_key(config.kind, config.printer, secrets)
    if question is None:
        return
    variable = f"{_PREFIX}{question.credential.upper()}"
    if getattr(_credentials(secrets), question.credential) is not None and question is not _API_KEY:
        return
    answer = _ask_secret(f"{question.words}: ")
    if answer:
        secrets[variable] = answer
        _credentials(secrets)  # says what is wrong with it
    elif question.is_needed:
        _say(
            f"The agent has no {question.credential.replace('_', ' ')} of the printer yet, without"
            f" which most of it can't be used. To give it, run this again with {variable} set."
        )


async def _api_key(
    kind: PlatformFacts, address: WebAddress, secrets: dict[str, str]
) -> _Question | None:
    """Make sure that there is a key where one is needed; return what to ask a person otherwise."""
    keys = PrinterKeys(address)
    known = _credentials(secrets).api_key
    try:
        if kind.name == "moonraker":
            if await keys.moonraker_accepts(known):
                return None
            _say(
                "Moonraker doesn't trust this machine. Its API key is in Fluidd's or Mainsail's"
                " settings; or add this machine to the trusted_clients of moonraker.conf."
            )
            return _API_KEY
        if not await keys.octoprint_accepts(known):
            shown = lambda path: _say_allow(address, path)  # noqa: E731  # one line, used once
            secrets[f"{_PREFIX}API_KEY"] = await keys.octoprint_key(shown)
            _say("OctoPrint gave the agent a key.")
    except NoAnswer as error:
        _say(f"{error} The agent asks again while it runs.")
        return None
    except NoKey as error:
        _say(str(error))
        if kind.name == "octoprint":
            _say("A key can be made by an administrator, too, under Settings, Application Keys.")
        return _API_KEY
    finally:
        await keys.close()
    return None


def _say_allow(address: WebAddress, path: str) -> None:
    host = find_lan_address([]) or address.host
    page = WebAddress(scheme=address.scheme, host=host, port=address.port)
    _say(
        "Open OctoPrint in a browser and sign in as an administrator. It asks whether Printreach"
        f" may access it: press Allow. The question is also at\n\n    {page}{path}\n"
    )


def _credentials(secrets: Mapping[str, str]) -> PrinterCredentials:
    try:
        return read_credentials(secrets)
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
                        _say(
                            f"\nThe agent runs. Link the printer with your account:\n\n"
                            f"    {code.link_url}\n\nor enter this code there: {code.code}"
                        )
                        return
                    if snapshot.is_linked and snapshot.phase is Phase.CONNECTED:
                        _say(f"\nThe agent runs, and {snapshot.printer_name} can be reached.")
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
    parts = [
        installation.folder,
        installation.data_dir,
        *([installation.unit] if systemd.is_ours else []),
    ]
    _say("This removes the agent, its key and its link:\n" + "\n".join(f"  {one}" for one in parts))
    if not is_agreed:
        answer = _ask("Remove all this? [y/N] ")
        if answer is None:
            raise SetupFailed("Nothing was removed: say --yes where nobody can be asked.")
        if answer.lower() not in ("y", "yes"):
            raise SetupFailed("Nothing was removed.")
    await systemd.remove()
    if installation.is_running:
        raise SetupFailed("The agent still runs: end it, then run this again.")
    installation.remove()
    _say("Removed. The printer's entry in your account stays until you remove it there.")


# --- the person -----------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(text, flush=True)


def _ask(question: str) -> str | None:
    """Return a person's answer; None where nobody can be asked, or nothing was answered."""
    if not sys.stdin.isatty():
        return None
    try:
        return input(question).strip() or None
    except EOFError:
        return None


def _ask_secret(question: str) -> str | None:
    if not sys.stdin.isatty():
        return None
    try:
        return getpass.getpass(question).strip() or None
    except EOFError:
        return None


def _fail(error: object) -> int:
    print(f"printreach agent: {error}", file=sys.stderr)
    return 1
