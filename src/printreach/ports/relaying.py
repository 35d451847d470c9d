"""The store as relay nodes use it: grants, owners of agents, link codes, presence, an inbox."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from printreach.contract.events import PrintEvent
from printreach.contract.status import DetectorStatus
from printreach.rules.connections import Grant
from printreach.rules.printers import LinkCode, LinkedPrinter
from printreach.rules.rate_limits import Limit, TooSoon


class Grants(Protocol):
    """Connections as the relay needs them."""

    async def grant(self, unique_id: str) -> Grant | None:
        """Return the grant of that host name, also of an ended connection; None if unknown."""
        ...

    async def unique_id_at_port(self, port: int) -> str | None:
        """Return the connection that owns a port of the tunnel's range."""
        ...

    async def redeem_open_ticket(self, unique_id: str, ticket: str, at: datetime) -> str | None:
        """Use up a ticket of an own connection; return the secret for the cookie of its host, or
        None.

        A ticket works once and for 10 minutes, the cookie for 12 hours: not sliding, since the
        relay admits by a cached grant and would have to write on every request. Later grants of the
        connection hold the cookie's digest; a grant cached before does not, so drop it.
        """
        ...

    async def add_shared_cookie(
        self, unique_id: str, at: datetime, current: str | None = None
    ) -> str | None:
        """Sign a browser in to a Shared Connection; return the secret for the cookie of its host.

        The caller has verified the password. None if the connection has ended. The cookie lasts 7
        days, and no longer than the connection. current: the secret of the cookie that the browser
        has. If that is still valid, it lasts 7 days from now and is returned, so that a browser
        that comes back takes no place of another browser.
        """
        ...

    async def connections_used(self, used: Mapping[str, datetime]) -> None:
        """Store when connections, by their unique ids, were last used."""
        ...


class Tries(Protocol):
    """Limits on tries, counted in memory."""

    def take(self, limit: Limit, who: str) -> TooSoon | None:
        """Count one try; None if it is allowed."""
        ...

    def take_by_address(
        self, limit: Limit, address: str, at: str = "", *, of_all: Limit | None = None
    ) -> TooSoon | None:
        """Count one try for the networks that the address is in, and for all of them together."""
        ...


class Agents(Protocol):
    """Agents as the relay needs them. Presence is kept for linked printers."""

    async def linked_printer(self, printer_id: str) -> LinkedPrinter | None:
        """Return the printer if it belongs to an account now."""
        ...

    async def linked_among(self, printer_ids: Sequence[str]) -> Mapping[str, bool]:
        """Return those of the printers that belong to an account now, with `refuses_control`."""
        ...

    async def offer_link_code(self, printer_id: str, public_key: bytes, at: datetime) -> LinkCode:
        """Return a new code for an unlinked agent; its earlier code becomes invalid."""
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
        lan_port: int | None = None,
    ) -> None:
        """The printer's tunnel ends at this node now, whatever was reported before.

        lan_port: as rules.printers.lan_page_at takes it.
        """
        ...

    async def agent_disconnected(self, printer_id: str, node_id: str, at: datetime) -> None:
        """This node has no tunnel of that printer any more.

        Ignored when the printer has meanwhile connected to another node. A second tunnel of the
        same printer at this node must not be reported by the end of the first.
        """
        ...

    async def node_alive(self, node_id: str, at: datetime) -> None:
        """Report every 10 s that this node runs. Its printers count as offline after 30 s of
        silence.

        node_id: of one process, created at its start, so that a crash leaves nothing to clean up.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectorReport:
    """The state of the failure watch over a print.

    at: when; the durations in status are as of then.
    """

    print_id: str
    status: DetectorStatus
    at: datetime


class DetectorStates(Protocol):
    """The last state of the failure watch by printer: put by the watch, sent to agents."""

    async def put(self, printer_id: str, report: DetectorReport) -> None:
        """Replace the state. Publishes a notice."""
        ...

    async def latest(self, printer_id: str) -> DetectorReport | None: ...


class EventInbox(Protocol):
    """The store of agents' events."""

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        """Return when the events survive a loss of power. Raises StoreUnavailable.

        Events of many agents go into one unit of work.
        """
        ...
