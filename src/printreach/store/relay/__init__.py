"""What the relay asks of the database about agents, and the events that these report."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from printreach.contract.events import PrintEvent
from printreach.ports import Clock
from printreach.rules.connections.credentials import (
    CredentialKind,
    TokenBytes,
    digest,
    new_link_code,
)
from printreach.rules.printers import LINK_CODE_LIFETIME, LinkCode, LinkedPrinter, LinkOffer
from printreach.store.gathered import Gathered
from printreach.store.prints.events import Arrival
from printreach.store.store import Records, Store
from printreach.store.tables import accounts, link_codes, nodes, printers

NODE_MEMORY: Final = timedelta(days=1)
"""The time for which a stopped node is remembered; a row for each start would add up."""
_REPORTED: Final[Mapping[str, Any]] = {
    name: bindparam(name)
    for name in ("node_id", "connected_at", "lan_ip", "lan_port", "agent_version", "platform")
}
_LONGEST_TEXT: Final = 64
"""The longest text that an agent reports about itself; more is cut. It is for people to read."""

AT_ONCE: Final = 1000
"""Events in one unit, so that other writers get their turn."""


class SqlAgents:
    """ports.Agents."""

    def __init__(self, store: Store, token_bytes: TokenBytes) -> None:
        self._store = store
        self._token_bytes = token_bytes
        self._looking_up = Gathered(self._linked_printers)
        self._noting = Gathered(self._note_connected)

    async def linked_printer(self, printer_id: str) -> LinkedPrinter | None:
        return await self._looking_up.do(printer_id)

    async def linked_among(self, printer_ids: Sequence[str]) -> Mapping[str, bool]:
        not_served = await self._store.read_for_service(
            lambda records: records.printers.not_served(printer_ids)
        )
        return {
            printer_id: printer_id in not_served
            for printer_id in printer_ids
            if not_served.get(printer_id, True)
        }

    async def offer_link_code(self, printer_id: str, public_key: bytes, at: datetime) -> LinkCode:
        code = new_link_code(self._token_bytes)
        offer = LinkOffer(
            printer_id=printer_id, public_key=public_key, expires_at=at + LINK_CODE_LIFETIME
        )

        async def put(records: Records) -> None:
            await records.connection.execute(
                delete(link_codes).where(link_codes.c.expires_at <= at)
            )
            await records.printers.put_offer(offer, digest(CredentialKind.LINK_CODE, code.encode()))

        await self._store.write(put)
        return LinkCode(code=code, expires_at=offer.expires_at)

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
        await self._noting.do(
            {
                "of_printer": printer_id,
                "node_id": node_id,
                "connected_at": at,
                "lan_ip": _cut(lan_ip),
                "lan_port": lan_port,
                "agent_version": _cut(agent_version),
                "platform": _cut(platform),
            }
        )

    async def agent_disconnected(self, printer_id: str, node_id: str, at: datetime) -> None:
        async def note(records: Records) -> None:
            await records.connection.execute(
                update(printers)
                .where(printers.c.printer_id == printer_id, printers.c.node_id == node_id)
                .values(node_id=None, disconnected_at=at)
            )

        await self._store.write(note)

    async def node_alive(self, node_id: str, at: datetime) -> None:
        async def note(records: Records) -> None:
            connection = records.connection
            changed = await connection.execute(
                update(nodes).where(nodes.c.node_id == node_id).values(alive_at=at)
            )
            if changed.rowcount == 0:
                await connection.execute(insert(nodes).values(node_id=node_id, alive_at=at))
                await connection.execute(delete(nodes).where(nodes.c.alive_at <= at - NODE_MEMORY))

        await self._store.write(note)

    async def _linked_printers(self, printer_ids: Sequence[str]) -> Sequence[LinkedPrinter | None]:
        found = await self._store.read_for_service(
            lambda records: linked_printers(records, printer_ids)
        )
        return [found.get(printer_id) for printer_id in printer_ids]

    async def _note_connected(self, reports: Sequence[dict[str, Any]]) -> Sequence[None]:
        noting = update(printers).where(
            printers.c.printer_id == bindparam("of_printer"), printers.c.removed_at.is_(None)
        )

        async def note(records: Records) -> None:
            await records.connection.execute(noting.values(_REPORTED), list(reports))

        await self._store.write(note, may_overlap=True)
        return [None] * len(reports)


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:_LONGEST_TEXT]


async def linked_printer(records: Records, printer_id: str) -> LinkedPrinter | None:
    """Return the printer with what is known of its owner; None if it belongs to nobody."""
    return (await linked_printers(records, [printer_id])).get(printer_id)


async def linked_printers(
    records: Records, printer_ids: Sequence[str]
) -> Mapping[str, LinkedPrinter]:
    """Return those of the printers that belong to somebody, by their ids."""
    found = await records.connection.execute(
        select(
            printers.c.printer_id,
            printers.c.name,
            printers.c.account_id,
            accounts.c.blocked_at.is_not(None).label("is_blocked"),
            accounts.c.locked_at.is_not(None).label("is_locked"),
        )
        .join(accounts, accounts.c.account_id == printers.c.account_id)
        .where(printers.c.printer_id.in_(printer_ids), printers.c.removed_at.is_(None))
    )
    return {row["printer_id"]: LinkedPrinter(**row) for row in found.mappings()}


class SqlEventInbox:
    """ports.EventInbox."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._gathered = Gathered(self._append, at_once=AT_ONCE, size=len)

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        await self._gathered.do([Arrival(printer_id=printer_id, event=event) for event in events])

    async def _append(self, group: Sequence[Sequence[Arrival]]) -> Sequence[None]:
        arrivals, at = [one for own in group for one in own], self._clock.now()
        await self._store.write(
            lambda records: records.events.append_all(arrivals, at), may_overlap=True
        )
        return [None] * len(group)
