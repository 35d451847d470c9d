"""What `agent setup` finds out: which printer it is for, and the secrets that it asks for.

Questions are asked where standard input is a terminal; elsewhere what is missing is told.
"""

import argparse
import getpass
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from printreach.agent.addresses import (
    DEFAULT_PORTS,
    BadAddress,
    WebAddress,
    find_lan_address,
    parse_web_address_or_host,
)
from printreach.agent.config import (
    PRINTER_VARIABLES,
    AgentConfig,
    ConfigError,
    PrinterCredentials,
    read_credentials,
)
from printreach.agent.setup.printer_software import (
    PORTS,
    SEARCHABLE,
    FoundPrinter,
    NoAnswer,
    NoKey,
    PrinterKeys,
    find_printers,
    kind_at,
)
from printreach.contract.platforms import PLATFORM_FACTS, PlatformFacts
from printreach.rules.safe_text import lines


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


# --- the printer ----------------------------------------------------------------------------------


async def choose_printer(options: argparse.Namespace, search_ports: str | None) -> None:
    """Fill in what was not given, from what answers on this machine or from answers of a person."""
    if options.printer_url is not None and options.platform is not None:
        return
    if options.printer_url is not None:
        options.platform = await _platform_at(options.printer_url)
    elif options.platform in (None, *SEARCHABLE) and options.printer_url is None:
        say("Looking for the printer's software on this machine")
        found = await find_printers(_ports(search_ports))
        found = [one for one in found if options.platform in (None, one.kind.name)]
        if found:
            chosen = found[0] if len(found) == 1 else _choose(found)
            say(f"Found {chosen.kind.title} at {chosen.address}")
            options.platform, options.printer_url = chosen.kind.name, str(chosen.address)
            return
        say("No OctoPrint, Moonraker or PrusaLink answers on this machine.")
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
        say(f"Neither OctoPrint, Moonraker nor PrusaLink answers at {address}.")
        return None
    say(f"Found {kind.title} at {address}")
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
    choices = [
        f"  {number}  {one.kind.title} at {one.address}" for number, one in enumerate(found, 1)
    ]
    say("\n".join(["There is more than one:", *choices]))
    answer = ask("Which one is this agent for? Its number: ")
    if answer is None:
        ways = [f"  --platform {one.kind.name} --printer-url {one.address}" for one in found]
        raise SetupFailed("\n".join(["Say which one this agent is for, by one of:", *ways]))
    if not answer.isdecimal() or not 1 <= int(answer) <= len(found):
        raise SetupFailed(f"{answer!r} is none of the numbers.")
    return found[int(answer) - 1]


def _ask_for_address(options: argparse.Namespace) -> None:
    kinds = ", ".join(PLATFORM_FACTS)
    if options.platform is None:
        options.platform = ask(f"Kind of printer ({kinds}): ")
    if options.platform is None:
        raise SetupFailed(
            f"Say which printer it is: --platform KIND --printer-url URL. Kinds: {kinds}."
        )
    kind = PLATFORM_FACTS.get(options.platform)
    if options.printer_url is None and kind is not None and not kind.is_simulated:
        options.printer_url = ask(f"Address of the printer, such as {kind.example_address}: ")


# --- secrets --------------------------------------------------------------------------------------


async def ask_for_secrets(config: AgentConfig, secrets: dict[str, str]) -> None:
    """Get what the platform asks for, of its software or of a person, and add it to the secrets."""
    question = _QUESTIONS.get(config.kind.name)
    if config.kind.name in ("octoprint", "moonraker") and config.printer is not None:
        question = await _api_key(config.kind, config.printer, secrets)
    if question is None:
        return
    variable = f"{PRINTER_VARIABLES}{question.credential.upper()}"
    if getattr(_credentials(secrets), question.credential) is not None and question is not _API_KEY:
        return
    answer = _ask_secret(f"{question.words}: ")
    if answer:
        secrets[variable] = answer
        _credentials(secrets)  # says what is wrong with it
    elif question.is_needed:
        say(
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
            say(
                "Moonraker doesn't trust this machine. Its API key is in Fluidd's or Mainsail's"
                " settings; or add this machine to the trusted_clients of moonraker.conf."
            )
            return _API_KEY
        if not await keys.octoprint_accepts(known):
            shown = lambda path: _say_allow(address, path)  # noqa: E731  # one line, used once
            secrets[f"{PRINTER_VARIABLES}API_KEY"] = await keys.octoprint_key(shown)
            say("OctoPrint gave the agent a key.")
    except NoAnswer as error:
        say(f"{error} The agent asks again while it runs.")
        return None
    except NoKey as error:
        say(str(error))
        if kind.name == "octoprint":
            say("A key can be made by an administrator, too, under Settings, Application Keys.")
        return _API_KEY
    finally:
        await keys.close()
    return None


def _say_allow(address: WebAddress, path: str) -> None:
    host = find_lan_address([]) or address.host
    page = WebAddress(scheme=address.scheme, host=host, port=address.port)
    say(
        "Open OctoPrint in a browser and sign in as an administrator. It asks whether Printreach"
        f" may access it: press Allow. The question is also at\n\n    {page}{path}\n"
    )


def _credentials(secrets: Mapping[str, str]) -> PrinterCredentials:
    try:
        return read_credentials(secrets)
    except ConfigError as error:
        raise SetupFailed(str(error)) from None


# --- the person -----------------------------------------------------------------------------------


def say(text: str) -> None:
    """Write it to the terminal, which obeys nothing in it."""
    print(lines(text), flush=True)


def ask(question: str) -> str | None:
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
