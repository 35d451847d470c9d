"""The rows of agents: their owners, link codes and presence."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, insert, update

from printreach.rules.connections.credentials import (
    CredentialKind,
    TokenBytes,
    digest,
    new_link_code,
)
from printreach.rules.printers.linking import LINK_CODE_LIFETIME, LinkCode, LinkedPrinter, LinkOffer
from printreach.store.store import Records, Store
from printreach.store.tables import link_codes, nodes, printers

NODE_MEMORY: Final = timedelta(days=1)
"""The time for which a stopped node is remembered; a row for each start would add up."""
_LONGEST_TEXT: Final = 64
"""The longest text that an agent reports about itself; more is cut. It is for people to read."""


class SqlAgents:
    """ports.Agents."""

    def __init__(self, store: Store, token_bytes: TokenBytes) -> None:
        self._store = store
        self._token_bytes = token_bytes

    async def linked_printer(self, printer_id: str) -> LinkedPrinter | None:
        return await self._store.read_for_service(
            lambda records: linked_printer(records, printer_id)
        )

    async def linked_among(self, printer_ids: Sequence[str]) -> Mapping[str, bool]:
        async def look(records: Records) -> tuple[frozenset[str], frozenset[str]]:
            # Few of them are either.
            refusing = await records.printers.refusing_control()
            return frozenset(await records.printers.unlinked(printer_ids)), refusing

        unlinked, refusing = await self._store.read_for_service(look)
        linked = (printer_id for printer_id in printer_ids if printer_id not in unlinked)
        return {printer_id: printer_id in refusing for printer_id in linked}

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
        async def note(records: Records) -> None:
            await records.connection.execute(
                update(printers)
                .where(printers.c.printer_id == printer_id, printers.c.removed_at.is_(None))
                .values(
                    node_id=node_id,
                    connected_at=at,
                    lan_ip=_cut(lan_ip),
                    lan_port=lan_port,
                    agent_version=_cut(agent_version),
                    platform=_cut(platform),
                )
            )

        await self._store.write(note)

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


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:_LONGEST_TEXT]


async def linked_printer(records: Records, printer_id: str) -> LinkedPrinter | None:
    """Return the printer with what is known of its owner; None if it belongs to nobody."""
    printer = await records.printers.linked(printer_id)
    if printer is None:
        return None
    owner = await records.accounts.get(printer.account_id)
    return LinkedPrinter(
        printer_id=printer.printer_id,
        name=printer.name,
        account_id=printer.account_id,
        is_blocked=owner is not None and owner.is_blocked,
        is_locked=owner is not None and owner.is_locked,
    )
