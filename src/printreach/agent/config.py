"""The agent's configuration: options and secrets, all checked at the start.

Every mistake is a ConfigError, whose text is one sentence that names the option or variable.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from printreach.agent.addresses import (
    BadAddress,
    ListenAddress,
    WebAddress,
    parse_listen_address,
    parse_web_address,
    parse_web_address_or_host,
    split_web_url,
)
from printreach.agent.owner_limits import (
    NO_OWNER_LIMITS,
    BadLimit,
    OwnerLimits,
    add_limit_options,
    read_limits,
)
from printreach.contract.platforms import PLATFORM_FACTS, PlatformFacts
from printreach.rules.printers import LAN_PORT

DEFAULT_LAN_LISTEN: Final = f"0.0.0.0:{LAN_PORT}"

PRINTER_VARIABLES: Final = "PRINTREACH_PRINTER_"
_LAN_WEBHOOKS: Final = f"{PRINTER_VARIABLES}LAN_WEBHOOKS"
_FILE_SUFFIX: Final = "_FILE"
# Longer than any key or password a printer takes, short enough to catch a wrong file.
_MAX_SECRET_CHARS: Final = 1024
_MAX_WEBCAM_NAME_CHARS: Final = 60
_MAX_WEBCAMS: Final = 16
_MAX_LAN_WEBHOOKS: Final = 8


class ConfigError(Exception):
    """A setting is wrong; the text is a sentence that names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterCredentials:
    """The printer's own credentials. None where nothing was given; never shown by repr."""

    api_key: str | None = field(default=None, repr=False)
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    access_code: str | None = field(default=None, repr=False)
    serial: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Webcam:
    """A camera that the platform does not know of. At least one URL is given.

    The URLs may carry a camera's user and password, so repr leaves them out.
    """

    name: str
    snapshot_url: str | None = field(repr=False)
    stream_url: str | None = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentConfig:
    """The agent's whole configuration.

    service: the address that is dialled; `str(service)` is what the service's key is pinned
        under.
    public_service: the service's address for people and apps, where it is not the one that is
        dialled.
    printer: where the printer listens; None where nothing was given and nothing can be guessed,
        and for a simulated printer that the agent is to start itself.
    lan_listen: where the LAN page listens; None for an agent that shows its link code elsewhere.
    lan_webhooks: URLs that events are sent to; they may hold secrets.
    limits: what remote callers may do, whatever the service lets through.
    """

    service: WebAddress
    data_dir: Path
    kind: PlatformFacts
    printer: WebAddress | None
    lan_listen: ListenAddress | None
    webcams: tuple[Webcam, ...] = ()
    credentials: PrinterCredentials = PrinterCredentials()
    lan_webhooks: tuple[str, ...] = field(default=(), repr=False)
    public_service: WebAddress | None = None
    limits: OwnerLimits = NO_OWNER_LIMITS

    @property
    def service_url(self) -> str:
        """The service's address for people and apps."""
        return str(self.public_service or self.service)

    @property
    def web_server(self) -> WebAddress | None:
        """The web server that the tunnel leads to; None when the printer has none."""
        return self.printer if self.kind.has_web_server else None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a running agent. read_config checks their values."""
    parser.add_argument("--service", metavar="URL", help="address of the Printreach service")
    parser.add_argument("--data-dir", metavar="DIR", help="where the agent keeps its key")
    parser.add_argument("--platform", metavar="KIND", help=f"one of: {', '.join(PLATFORM_FACTS)}")
    parser.add_argument(
        "--printer-url", metavar="URL", help="the printer's web server, or its host"
    )
    parser.add_argument(
        "--lan-listen",
        metavar="HOST:PORT",
        default=DEFAULT_LAN_LISTEN,
        help="where the page for the local network listens (default: %(default)s)",
    )
    parser.add_argument(
        "--webcam",
        metavar="NAME=SNAPSHOT_URL,STREAM_URL",
        action="append",
        default=[],
        help="a camera that the printer doesn't know of; may be given several times",
    )
    parser.add_argument(
        "--lan-webhook",
        metavar="URL",
        action="append",
        default=[],
        help="a server in your network that gets all events; may be given several times"
        f" (also {_LAN_WEBHOOKS}, separated by spaces)",
    )
    add_limit_options(parser)


def read_config(options: argparse.Namespace, environment: Mapping[str, str]) -> AgentConfig:
    """Check the options and gather the secrets. Raises ConfigError."""
    kind = _read_kind(options.platform)
    return AgentConfig(
        service=read_service(options.service),
        data_dir=read_data_dir(options.data_dir),
        kind=kind,
        printer=_read_printer(options.printer_url, kind),
        lan_listen=_read_lan_listen(options.lan_listen),
        webcams=_read_webcams(options.webcam),
        credentials=read_credentials(environment),
        lan_webhooks=_read_lan_webhooks(options.lan_webhook, environment),
        limits=_read_limits(options),
    )


def read_service(text: str | None) -> WebAddress:
    """Return the address of the service. Raises ConfigError."""
    if not text:
        raise ConfigError("--service is missing: give the address of the Printreach service.")
    try:
        return parse_web_address(text)
    except BadAddress as error:
        raise ConfigError(f"--service {error}.") from None


def read_data_dir(text: str | None) -> Path:
    """Return the agent's folder, absolute. Raises ConfigError."""
    if not text:
        raise ConfigError("--data-dir is missing: name a folder in which the agent keeps its key.")
    if "\0" in text:
        raise ConfigError("--data-dir must not contain control characters.")
    return Path(text).absolute()


def read_credentials(environment: Mapping[str, str]) -> PrinterCredentials:
    """Return the printer's secrets, from variables or from the files they name.

    Raises ConfigError.
    """
    names = {f"{PRINTER_VARIABLES}{name.upper()}": name for name in PrinterCredentials.__slots__}
    known = {*names, _LAN_WEBHOOKS}
    files = {f"{variable}{_FILE_SUFFIX}" for variable in known}
    for variable in environment:
        if variable.startswith(PRINTER_VARIABLES) and variable not in known | files:
            raise ConfigError(f"{variable} is not a setting of the agent.")
    return PrinterCredentials(
        **{name: _read_secret(variable, environment) for variable, name in names.items()}
    )


def _read_kind(text: str | None) -> PlatformFacts:
    if not text:
        raise ConfigError(f"--platform is missing: give one of {', '.join(PLATFORM_FACTS)}.")
    if text not in PLATFORM_FACTS:
        raise ConfigError(f"--platform must be one of {', '.join(PLATFORM_FACTS)}.")
    return PLATFORM_FACTS[text]


def _read_printer(text: str | None, kind: PlatformFacts) -> WebAddress | None:
    if text is not None:
        try:
            return parse_web_address_or_host(text, kind.port)
        except BadAddress as error:
            raise ConfigError(f"--printer-url {error}.") from None
    if kind.usual_host is not None:
        return WebAddress(scheme="http", host=kind.usual_host, port=kind.port)
    if not kind.is_simulated:
        raise ConfigError(
            f"--printer-url is missing: give the address of the {kind.title} printer."
        )
    return None


def _read_lan_listen(text: str) -> ListenAddress:
    try:
        return parse_listen_address(text)
    except BadAddress as error:
        raise ConfigError(f"--lan-listen {error}.") from None


def _read_webcams(texts: Sequence[str]) -> tuple[Webcam, ...]:
    if len(texts) > _MAX_WEBCAMS:
        raise ConfigError(f"--webcam may be given {_MAX_WEBCAMS} times at most.")
    webcams = tuple(_read_webcam(text) for text in texts)
    if len({webcam.name for webcam in webcams}) < len(webcams):
        raise ConfigError("--webcam gives two cameras the same name.")
    return webcams


def _read_webcam(text: str) -> Webcam:
    """Read NAME=SNAPSHOT_URL,STREAM_URL, of which one URL may be empty.

    A URL may hold commas itself, so the one that counts stands before `http` or at the end.
    """
    name, equals, urls = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise ConfigError("--webcam must be NAME=SNAPSHOT_URL,STREAM_URL.")
    if len(name) > _MAX_WEBCAM_NAME_CHARS or not name.isprintable():
        raise ConfigError(
            f"--webcam names a camera in {_MAX_WEBCAM_NAME_CHARS} printable characters at most."
        )
    split = re.fullmatch(r"(.*?),((?:https?:.*)?)", urls, re.IGNORECASE | re.DOTALL)
    if split is None or urls == ",":
        raise ConfigError(
            "--webcam must be NAME=SNAPSHOT_URL,STREAM_URL, of which one may be empty."
        )
    snapshot_url, stream_url = split.groups()
    return Webcam(
        name=name,
        snapshot_url=_read_webcam_url(snapshot_url),
        stream_url=_read_webcam_url(stream_url),
    )


def _read_webcam_url(text: str) -> str | None:
    if not text:
        return None
    try:
        split_web_url(text)
    except BadAddress as error:
        raise ConfigError(f"--webcam has a URL that {error}.") from None
    return text


def _read_limits(options: argparse.Namespace) -> OwnerLimits:
    try:
        return read_limits(vars(options))
    except BadLimit as fault:
        raise ConfigError(str(fault)) from None


def _read_lan_webhooks(texts: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the URLs of the option, then those of the variable, which other users can't see."""
    hidden = (_read_secret(_LAN_WEBHOOKS, environment) or "").split()
    if len(texts) + len(hidden) > _MAX_LAN_WEBHOOKS:
        raise ConfigError(f"--lan-webhook may be given {_MAX_LAN_WEBHOOKS} times at most.")
    for name, urls in (("--lan-webhook", texts), (_LAN_WEBHOOKS, hidden)):
        for url in urls:
            try:
                parts = split_web_url(url)
            except BadAddress as error:
                raise ConfigError(f"{name} has a URL that {error}.") from None
            if parts.username is not None or not url.isascii():
                raise ConfigError(f"{name} takes URLs in ASCII, without a user or a password.")
    return (*texts, *hidden)


def _read_secret(variable: str, environment: Mapping[str, str]) -> str | None:
    """Return a secret from its variable, or from the file that its _FILE variable names.

    Empty counts as not given: a service manager's credential cannot be left out, only be empty.
    """
    file_variable = f"{variable}{_FILE_SUFFIX}"
    text, path = environment.get(variable, ""), environment.get(file_variable, "")
    if text and path:
        raise ConfigError(f"{variable} and {file_variable} are both set: keep one.")
    source = file_variable if path else variable
    if path:
        text = _read_secret_file(source, path)
    if len(text) > _MAX_SECRET_CHARS or not text.isprintable():
        raise ConfigError(f"{source} must hold one line of {_MAX_SECRET_CHARS} characters at most.")
    return text or None


def _read_secret_file(variable: str, path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as file:
            return file.read(_MAX_SECRET_CHARS + 2).rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"{variable} names a file that cannot be read: {reason}.") from None
