"""Connections to printers, as rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, insert, or_, select, update

from printreach.contract.permissions import Permission
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.connections.credentials import AppDigests
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import connections, open_tickets

_CONNECTION = columns_for(Connection, connections)


class ConnectionRecords(TableRecords):
    """Connections of every kind."""

    async def add(self, connection: Connection, digests: AppDigests | None) -> None:
        values = asdict(connection) | {"kind": connection.kind.value}
        if digests is not None:
            values |= {
                "basic_digest": digests.basic,
                "bearer_digest": digests.bearer,
                "app_api_token_digest": digests.app_api_token,
            }
        await self._connection.execute(insert(connections).values(**values))

    async def get(self, connection_id: str) -> Connection | None:
        found = await self._where(connections.c.connection_id == connection_id)
        return found[0] if found else None

    async def with_app_token(self, token_digest: bytes) -> Connection | None:
        """Return the App Connection with that API token; it may have ended."""
        found = await self._where(connections.c.app_api_token_digest == token_digest)
        return found[0] if found else None

    async def of_printer(self, printer_id: str) -> list[Connection]:
        """Return a printer's connections, including ended ones, oldest first."""
        return await self._where(connections.c.printer_id == printer_id)

    async def of_account(self, account_id: str) -> list[Connection]:
        """Return the connections of all printers of the account, in the same way."""
        return await self._where(connections.c.account_id == account_id)

    async def of_app(self, app_id: str) -> list[Connection]:
        """Return the connections of all people to that app, in the same way."""
        return await self._where(connections.c.app_id == app_id)

    async def living_of_app(self, app_id: str, at: datetime) -> int:
        """Return how many connections of that app have not ended."""
        ends = connections.c.expires_at
        found = await self._connection.scalar(
            select(func.count())
            .select_from(connections)
            .where(
                connections.c.app_id == app_id,
                connections.c.revoked_at.is_(None),
                or_(ends.is_(None), ends > at),
            )
        )
        return int(found or 0)

    async def all(self) -> list[Connection]:
        return await self._where()

    async def set_permissions(self, connection_id: str, permissions: frozenset[Permission]) -> None:
        await self._connection.execute(
            update(connections)
            .where(connections.c.connection_id == connection_id)
            .values(permissions=permissions)
        )

    async def revoke(self, connection_id: str, at: datetime) -> None:
        await self._revoke(connections.c.connection_id == connection_id, at)

    async def revoke_all_of_printer(self, printer_id: str, at: datetime) -> None:
        await self._revoke(connections.c.printer_id == printer_id, at)

    async def revoke_all_of_account(self, account_id: str, at: datetime) -> None:
        await self._revoke(connections.c.account_id == account_id, at)

    async def revoke_all_of_app(self, app_id: str, at: datetime) -> None:
        await self._revoke(connections.c.app_id == app_id, at)

    async def with_port(self) -> list[Connection]:
        return await self._where(connections.c.port.is_not(None))

    async def release_port(self, port: int) -> None:
        await self._connection.execute(
            update(connections).where(connections.c.port == port).values(port=None)
        )

    async def set_port(self, connection_id: str, port: int | None) -> None:
        await self._connection.execute(
            update(connections)
            .where(connections.c.connection_id == connection_id)
            .values(port=port)
        )

    async def add_open_ticket(
        self,
        connection_id: str,
        ticket_digest: bytes,
        expires_at: datetime,
        session_id: str | None = None,
    ) -> None:
        """Store a ticket.

        session_id: of the browser; what the ticket opens ends with that session.
        """
        await self._connection.execute(
            insert(open_tickets).values(
                ticket_digest=ticket_digest,
                connection_id=connection_id,
                expires_at=expires_at,
                session_id=session_id,
            )
        )

    async def _where(self, *conditions: ColumnElement[bool]) -> list[Connection]:
        return await self._all(
            _connection,
            select(*_CONNECTION)
            .where(*conditions)
            .order_by(connections.c.created_at, connections.c.connection_id),
        )

    async def _revoke(self, condition: ColumnElement[bool], at: datetime) -> None:
        # What was revoked before keeps its time.
        await self._connection.execute(
            update(connections)
            .where(condition, connections.c.revoked_at.is_(None))
            .values(revoked_at=at)
        )


def _connection(*, kind: str, **row: Any) -> Connection:
    return Connection(**row, kind=ConnectionKind(kind))
