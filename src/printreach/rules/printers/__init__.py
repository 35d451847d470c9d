"""Linked printers, whether they are online, and linking: the code that an agent shows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.cameras import CameraChoice
from printreach.rules.backoff import Backoff
from printreach.rules.public_addresses import parse_ip_address
from printreach.rules.safe_text import is_printable_name

RECONNECT: Final = Backoff.doubling(0.5, 30.0)
"""The pauses of agents that lost the service. A restart of the service costs little; after a long
outage it finds its agents within half a minute."""
_RECONNECTED_WITHIN: Final = RECONNECT.pauses[-1] + timedelta(seconds=5)
"""The longest pause, and the time to sign in."""
NODE_SILENCE = timedelta(seconds=30)
"""A node that was silent for this long counts as gone, with all its tunnels."""
MAX_NAME_LENGTH = 60
LAN_PORT: Final = 8765
"""The port of the agent's own page, if nobody chose another one and the agent doesn't say."""
_RELEASE: Final = re.compile(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?")

LINK_CODE_LIFETIME = timedelta(minutes=10)
WRONG_TRIES_ALLOWED = 10
LOCK_TIME = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class OwnedPrinter:
    """A printer together with its account: the same printer of another account is another value.

    Requests to printers, and what is remembered of their answers, are keyed by this, so that
    nothing that was begun for one owner reaches the next.
    """

    printer_id: str
    account_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Printer:
    """A printer of an account, as its agent last reported it.

    lan_ip, lan_port: as lan_page_at takes them. node_id: the node that has its tunnel; None while
    it has none. cameras: what its owner chose for
    them.
    """

    printer_id: str
    account_id: str
    name: str
    public_key: bytes
    linked_at: datetime
    removed_at: datetime | None = None
    platform: str | None = None
    agent_version: str | None = None
    lan_ip: str | None = None
    lan_port: int | None = None
    node_id: str | None = None
    connected_at: datetime | None = None
    disconnected_at: datetime | None = None
    cameras: tuple[CameraChoice, ...] = ()

    @property
    def owned(self) -> OwnedPrinter:
        """This printer as its owner's."""
        return OwnedPrinter(self.printer_id, self.account_id)


def lan_page_at(lan_ip: str | None, lan_port: int | None) -> str | None:
    """Return the address of an agent's own page in its network: "" if it is unknown, None if the
    agent has no such page.

    lan_port: 0 where it has none, None where it is older and doesn't say.
    """
    if lan_port == 0:
        return None
    address = parse_ip_address(lan_ip or "")
    if address is None:
        return ""
    host = f"[{address}]" if address.version == 6 else str(address)
    return f"http://{host}:{lan_port or LAN_PORT}"


def is_online(printer: Printer, node_alive_at: datetime | None, at: datetime) -> bool:
    """True while a node that lives has its tunnel.

    node_alive_at: when that node last said that it runs; None where it never did.
    """
    if printer.node_id is None or node_alive_at is None:
        return False
    return at < node_alive_at + NODE_SILENCE


@dataclass(frozen=True, slots=True)
class Restart:
    """A start of the service. alive_before: when the run before it last said that it runs."""

    started_at: datetime
    alive_before: datetime


def awaits_reconnection(
    printer: Printer, node_alive_at: datetime | None, restart: Restart | None, at: datetime
) -> bool:
    """Whether its agent lost its tunnel to this restart, and may still be between two tries.

    node_alive_at: as in is_online; a node that was killed could note no disconnection.
    """
    last_contact = printer.disconnected_at if printer.node_id is None else node_alive_at
    if restart is None or last_contact is None:
        return False
    is_recent = restart.started_at <= at < restart.started_at + _RECONNECTED_WITHIN
    return is_recent and restart.alive_before <= last_contact <= restart.started_at


def parse_printer_name(typed: str) -> str | None:
    """Return the name without blanks around it; None where it cannot be one."""
    name = typed.strip()
    return name if 1 <= len(name) <= MAX_NAME_LENGTH and is_printable_name(name) else None


def is_name_taken(name: str, taken: Iterable[str]) -> bool:
    """Whether people would confuse the name with one of these: the case of letters is no
    difference.
    """
    return name.casefold() in {other.casefold() for other in taken}


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return the name if it is free, else with the first number after it that makes it so:
    "Prusa MK4 2". A long name is cut for its number.
    """
    others, name, number = list(taken), wanted, 1
    while is_name_taken(name, others):
        number += 1
        ending = f" {number}"
        name = wanted[: MAX_NAME_LENGTH - len(ending)].rstrip() + ending
    return name


def is_older_release(version: str | None, than: str) -> bool:
    """Return whether a version is of an earlier release; False for one that can't be read."""
    numbers, others = _release_numbers(version or ""), _release_numbers(than)
    return numbers is not None and others is not None and numbers < others


def _release_numbers(version: str) -> tuple[int, ...] | None:
    found = _RELEASE.match(version)
    return None if found is None else tuple(int(number or 0) for number in found.groups())


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkCode:
    """The code that an unlinked agent shows; valid for one use, before expires_at."""

    code: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedPrinter:
    """A printer that belongs to an account. is_blocked: an operator has blocked its owner.

    is_locked: its owner has locked remote control.
    """

    printer_id: str
    name: str
    account_id: str
    is_blocked: bool = False
    is_locked: bool = False

    @property
    def refuses_control(self) -> bool:
        """Whether remote control of it is refused."""
        return self.is_blocked or self.is_locked


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkOffer:
    """A code as stored, with the agent that it would link."""

    printer_id: str
    public_key: bytes
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkTries:
    """The wrong codes that an account entered recently."""

    wrong: int = 0
    last_wrong_at: datetime | None = None


NO_TRIES = LinkTries()


def is_locked(tries: LinkTries, at: datetime) -> bool:
    """True for 15 minutes after the tenth wrong try; a right code is refused then, too."""
    return tries.wrong >= WRONG_TRIES_ALLOWED and not _are_forgotten(tries, at)


def after_wrong_try(tries: LinkTries, at: datetime) -> LinkTries:
    """Count one more wrong try; counted from one again once the last is 15 minutes past."""
    wrong = 1 if _are_forgotten(tries, at) else tries.wrong + 1
    return replace(tries, wrong=wrong, last_wrong_at=at)


def _are_forgotten(tries: LinkTries, at: datetime) -> bool:
    return tries.last_wrong_at is None or at >= tries.last_wrong_at + LOCK_TIME
