"""Everything the server asks of the outside, on one page.

`backends` makes these real; `hub`, `relay` and `web` know only what stands here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from printreach.rules.connections import Grant
from printreach.rules.linking import LinkCode, LinkedPrinter


class Clock(Protocol):
    """The wall clock."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...


class Topic(StrEnum):
    """What a notice is about, and what its key is."""

    CONNECTION = "connection"
    """key: unique_id. Its grant changed: revoked, or another credential opens it."""
    PRINTER = "printer"
    """key: printer_id. It was linked or removed; all its grants may have changed."""
    ACCOUNT = "account"
    """key: account_id. Its supporter status changed, or it was deleted; so all its grants."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A hint that a fact in the store changed. It may be lost: look again every 30 s anyway."""

    topic: Topic
    key: str


class Bus(Protocol):
    """Hints between the processes of an installation."""

    async def publish(self, notice: Notice) -> None:
        """Tell every subscriber in every process, this one's included, some time soon."""
        ...

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Call back with each notice, on the event loop; the result ends that.

        The callback must not block. What it raises is logged and reaches nobody.
        """
        ...


class Grants(Protocol):
    """What the relay asks of the store about connections."""

    async def grant(self, unique_id: str) -> Grant | None:
        """The connection of that host name, ended ones included; None where there is none."""
        ...

    async def unique_id_at_port(self, port: int) -> str | None:
        """The connection that owns a port of the tunnel's range."""
        ...

    async def redeem_open_ticket(self, unique_id: str, ticket: str, at: datetime) -> str | None:
        """Use up a ticket of an own connection; the secret for the cookie of its host, or None.

        A ticket works once and for 10 minutes, the cookie for 12 hours: not sliding, since the
        relay admits by a cached grant and would have to write on every request. Later grants of
        the connection hold the cookie's digest; a grant cached before does not, so drop it.
        """
        ...


class Agents(Protocol):
    """What the relay asks of the store about agents. Presence is kept for linked printers."""

    async def linked_printer(self, printer_id: str) -> LinkedPrinter | None:
        """The printer, if it belongs to an account now."""
        ...

    async def offer_link_code(self, printer_id: str, public_key: bytes, at: datetime) -> LinkCode:
        """A new code for an unlinked agent; one that it was given before works no longer."""
        ...

    async def agent_connected(
        self,
        printer_id: str,
        node_id: str,
        at: datetime,
        *,
        lan_ip: str | None,
        agent_version: str | None,
        platform: str | None,
    ) -> None:
        """The printer's tunnel ends at this node now, whatever was said before."""
        ...

    async def agent_disconnected(self, printer_id: str, node_id: str, at: datetime) -> None:
        """This node has no tunnel of that printer any more.

        Ignored when the printer has meanwhile connected to another node. A second tunnel of the
        same printer at this node must not be reported by the end of the first.
        """
        ...

    async def node_alive(self, node_id: str, at: datetime) -> None:
        """This node runs; say so every 10 s. Its printers count as offline after 30 s of silence.

        node_id: of one process, made at its start, so that a crash leaves nothing to clean up.
        """
        ...
