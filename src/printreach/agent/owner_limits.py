"""The limits that an agent's owner sets for remote callers, whatever the service allows.

The service decides who may use a printer. These limits are enforced on the agent's machine, so they
hold even for a service that an attacker has taken over.
"""

import argparse
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission, parse_permissions
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

MAX_CAMERA_HOSTS: Final = 32
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?")
_COMMAND_LIMITS: Final = {
    "max_hotend_c": ("hotend_c", "degrees Celsius for the hotend"),
    "max_bed_c": ("bed_c", "degrees Celsius for the bed"),
    "max_chamber_c": ("chamber_c", "degrees Celsius for the chamber"),
    "max_move_mm": ("move_mm", "millimetres for one movement of an axis"),
    "max_extrude_mm": ("extrude_mm", "millimetres of filament for one extrusion or retraction"),
}
"""By the option's name: the field of CommandLimits, and what the number counts."""
NAMES: Final = ("allow", "camera_host", *_COMMAND_LIMITS)


class BadLimit(ValueError):
    """A limit can't be read; the text is a sentence that names its option."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerLimits:
    """The limits of an agent.

    allowed: what remote callers may use at all. commands: the largest values of one command.
    camera_hosts: hosts, beside the printer and the agent's own, that pictures may come from.
    """

    allowed: frozenset[Permission] = ALL_PERMISSIONS
    commands: CommandLimits = DEFAULT_LIMITS
    camera_hosts: tuple[str, ...] = ()


NO_OWNER_LIMITS: Final = OwnerLimits()
"""Everything that the command API allows."""


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options; read_limits checks what they hold."""
    words = ",".join(Permission)
    parser.add_argument(
        "--allow",
        metavar="WORDS",
        help=f"what may be used remotely at all (default: {words})",
    )
    parser.add_argument(
        "--camera-host",
        metavar="HOST",
        action="append",
        help="another machine whose webcams the printer's own list may name: a name, an address or"
        " a network; may be given several times",
    )
    for name, (limit, counted) in _COMMAND_LIMITS.items():
        parser.add_argument(
            _option(name),
            metavar="NUMBER",
            help=f"limit of a single order, in {counted}"
            f" (default and maximum: {getattr(DEFAULT_LIMITS, limit):.0f})",
        )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def read_limits(
    given: Mapping[str, object], written: Callable[[str], str] = _option
) -> OwnerLimits:
    """Read them strictly. Raises BadLimit.

    given: by the names in NAMES; what is missing or None has its default, and no words at all allow
    nothing. Words and numbers are texts or numbers, camera hosts a list of texts. written: how a
    name is spelled where the owner wrote it.
    """
    text = given.get("allow")
    try:
        allowed = ALL_PERMISSIONS if text is None else parse_permissions(str(text))
    except ValueError as fault:
        raise BadLimit(f"{written('allow')}: {fault}") from None
    chosen = {
        limit: _number(given[name], getattr(DEFAULT_LIMITS, limit), written(name))
        for name, (limit, _) in _COMMAND_LIMITS.items()
        if given.get(name) is not None
    }
    return OwnerLimits(
        allowed=allowed,
        commands=CommandLimits(**chosen),
        camera_hosts=_hosts(given.get("camera_host"), written("camera_host")),
    )


def _number(value: object, most: float, name: str) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise BadLimit(f"{name} must be a number from 0 to {most:.0f}.")
    return number


def _hosts(value: object, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise BadLimit(f"{name} must be a list of hosts.")
    hosts = tuple(str(host).strip() for host in value)
    if len(hosts) > MAX_CAMERA_HOSTS:
        raise BadLimit(f"{name} may be given {MAX_CAMERA_HOSTS} times at most.")
    for host in hosts:
        if not (_is_network(host) or _HOST_NAME.fullmatch(host)):
            raise BadLimit(
                f"{name} must be a host name, an address or a network such as 192.168.1.0/24,"
                f" not {host!r}."
            )
    return hosts


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True
