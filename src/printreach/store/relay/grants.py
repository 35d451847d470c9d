"""The relay's questions about connections, answered from the tables."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import RowMapping, bindparam, delete, insert, select, update

from printreach.ports import Clock, Notice, Topic
from printreach.rules.accounts import SupporterPolicy, is_supporter
from printreach.rules.connections import (
    KINDS_WITH_COOKIES,
    ConnectionKind,
    Grant,
    Limits,
    LostPrinter,
)
from printreach.rules.connections.credentials import CredentialKind, TokenBytes, digest, new_secret
from printreach.rules.connections.internal_grants import (
    InternalKey,
    InternalName,
    internal_grant,
    is_of_internal_kind,
    parse_internal_name,
)
from printreach.rules.connections.permissions import Access
from printreach.rules.printers import lan_page_at
from printreach.store.accounts import LimitRecords
from printreach.store.async_engine import AsyncConnection
from printreach.store.relay import linked_printer
from printreach.store.store import Records, Store
from printreach.store.tables import accounts, connections, cookie_sessions, open_tickets, printers

COOKIE_LIFETIME: Final = timedelta(hours=12)
SHARED_COOKIE_LIFETIME: Final = timedelta(days=7)
"""Of a browser at a Shared Connection, unless that ends before."""
MAX_COOKIES: Final = 32
"""Browsers signed in to one connection; one more signs the oldest out. All are compared."""


class SqlGrants:
    """ports.Grants. internal_key: of the service's own grants, which are not stored."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        token_bytes: TokenBytes,
        supporters: SupporterPolicy,
        internal_key: InternalKey,
    ) -> None:
        self._store = store
        self._clock = clock
        self._token_bytes = token_bytes
        self._supporters = supporters
        self._internal_key = internal_key

    async def grant(self, unique_id: str) -> Grant | None:
        at = self._clock.now()
        if not is_of_internal_kind(unique_id):
            return await self._store.read_for_service(
                lambda records: _grant(records.connection, unique_id, self._supporters, at)
            )
        name = parse_internal_name(self._internal_key, unique_id)
        if name is None:
            return None
        return await self._store.read_for_service(lambda records: self._internal(records, name, at))

    async def unique_id_at_port(self, port: int) -> str | None:
        async def look(records: Records) -> str | None:
            found = await records.connection.execute(
                select(connections.c.unique_id).where(connections.c.port == port)
            )
            return found.scalar_one_or_none()

        return await self._store.read_for_service(look)

    async def redeem_open_ticket(self, unique_id: str, ticket: str, at: datetime) -> str | None:
        cookie = new_secret(self._token_bytes)
        if not await self._store.read_for_service(
            lambda records: _find_ticket(records.connection, unique_id, ticket, at)
        ):
            return None  # anybody may send a wrong one; it costs a read and no write

        async def redeem(records: Records) -> bool:
            taken = await _take_ticket(records.connection, unique_id, ticket, at)
            if taken is None:
                return False
            await _add_cookie(
                records.connection,
                connection_id=taken["connection_id"],
                session_id=taken["session_id"],
                cookie=cookie,
                created_at=at,
                expires_at=at + COOKIE_LIFETIME,
            )
            await records.notify(Notice(Topic.CONNECTION, unique_id), at)
            return True

        return cookie if await self._store.write(redeem) else None

    async def add_shared_cookie(
        self, unique_id: str, at: datetime, current: str | None = None
    ) -> str | None:
        cookie = new_secret(self._token_bytes)

        async def add(records: Records) -> str | None:
            found = await records.connection.execute(
                select(connections.c.connection_id).where(
                    connections.c.unique_id == unique_id,
                    connections.c.kind == ConnectionKind.SHARED,
                    connections.c.revoked_at.is_(None),
                )
            )
            connection_id = found.scalar_one_or_none()
            if connection_id is None:
                return None
            if current and await _renew_cookie(records.connection, connection_id, current, at):
                return current
            await _add_cookie(
                records.connection,
                connection_id=connection_id,
                session_id=None,
                cookie=cookie,
                created_at=at,
                expires_at=at + SHARED_COOKIE_LIFETIME,
            )
            await records.notify(Notice(Topic.CONNECTION, unique_id), at)
            return cookie

        return await self._store.write(add)

    async def connections_used(self, used: Mapping[str, datetime]) -> None:
        if not used:
            return
        rows = [{"of_unique_id": name, "at": at} for name, at in used.items()]
        is_older = connections.c.used_at.is_(None) | (connections.c.used_at < bindparam("at"))
        note = (
            update(connections)
            .where(connections.c.unique_id == bindparam("of_unique_id"), is_older)
            .values(used_at=bindparam("at"))
        )

        async def write(records: Records) -> None:
            await records.connection.execute(note, rows)

        await self._store.write(write)

    async def _internal(self, records: Records, name: InternalName, at: datetime) -> Grant:
        printer = await linked_printer(records, name.printer_id)
        limits = await _limits(records.connection, printer.account_id if printer else "")
        return internal_grant(self._internal_key, name, printer, limits, at)


async def _grant(
    connection: AsyncConnection, unique_id: str, supporters: SupporterPolicy, at: datetime
) -> Grant | None:
    found = await connection.execute(
        select(
            connections,
            accounts.c.supporter_granted,
            accounts.c.supporter_until,
            accounts.c.paid_until,
            accounts.c.blocked_at,
            accounts.c.locked_at,
            printers.c.cameras,
            printers.c.name.label("printer_name"),
            printers.c.lan_ip,
            printers.c.lan_port,
            printers.c.connected_at,
            printers.c.disconnected_at,
        )
        .outerjoin_from(connections, accounts)
        .outerjoin(printers, printers.c.printer_id == connections.c.printer_id)
        .where(connections.c.unique_id == unique_id)
    )
    row = found.mappings().first()
    if row is None:
        return None
    return Grant(
        unique_id=unique_id,
        connection_id=row["connection_id"],
        kind=ConnectionKind(row["kind"]),
        printer_id=row["printer_id"] or "",
        account_id=row["account_id"] or "",
        digests=await _digests(connection, row, at),
        ended=_has_ended(row),
        expires_at=row["expires_at"],
        owner_is_supporter=is_supporter(
            supporters,
            granted=bool(row["supporter_granted"]),
            until=row["supporter_until"],
            paid_until=row["paid_until"],
            at=at,
        ),
        limits=await _limits(connection, row["account_id"] or ""),
        access=Access(permissions=row["permissions"], is_locked=row["locked_at"] is not None),
        cameras=row["cameras"] or (),
        lost=_lost_printer(row),
    )


def _lost_printer(row: RowMapping) -> LostPrinter | None:
    if row["kind"] != ConnectionKind.OWN or row["printer_name"] is None:
        return None
    connected_at, lost_at = row["connected_at"], row["disconnected_at"]
    is_lost = lost_at is not None and (connected_at is None or lost_at >= connected_at)
    return LostPrinter(
        name=row["printer_name"],
        lan_page=lan_page_at(row["lan_ip"], row["lan_port"]),
        lost_at=lost_at if is_lost else None,
    )


def _has_ended(row: RowMapping) -> bool:
    """Return whether it has ended, for good or while an operator blocks its owner."""
    is_over = row["revoked_at"] is not None or row["printer_id"] is None
    return is_over or row["blocked_at"] is not None


async def _limits(connection: AsyncConnection, account_id: str) -> Limits:
    return (await LimitRecords(connection).in_force(account_id)).of_connection


async def _digests(connection: AsyncConnection, row: RowMapping, at: datetime) -> tuple[bytes, ...]:
    digests = tuple(value for value in (row["basic_digest"], row["bearer_digest"]) if value)
    if row["kind"] not in KINDS_WITH_COOKIES:
        return digests
    cookies = await connection.execute(
        select(cookie_sessions.c.cookie_digest)
        .where(
            cookie_sessions.c.connection_id == row["connection_id"],
            cookie_sessions.c.expires_at > at,
        )
        .order_by(cookie_sessions.c.created_at.desc())
        .limit(MAX_COOKIES)
    )
    return (*digests, *cookies.scalars())


async def _take_ticket(
    connection: AsyncConnection, unique_id: str, ticket: str, at: datetime
) -> RowMapping | None:
    """Return what the ticket is for, and delete it and those that have expired."""
    taken = await _find_ticket(connection, unique_id, ticket, at)
    used_up = open_tickets.c.expires_at <= at
    if taken is not None:
        used_up |= open_tickets.c.ticket_digest == taken["ticket_digest"]
    await connection.execute(delete(open_tickets).where(used_up))
    return taken


async def _find_ticket(
    connection: AsyncConnection, unique_id: str, ticket: str, at: datetime
) -> RowMapping | None:
    """Return the purpose of a ticket; None if it is not valid.

    The end of its session deletes a ticket, by the tables. The connection has to be one that still
    opens a printer of its account, and the account not blocked.
    """
    ticket_digest = digest(CredentialKind.OPEN_TICKET, ticket.encode())
    found = await connection.execute(
        select(open_tickets)
        .join_from(open_tickets, connections)
        .join(accounts, accounts.c.account_id == connections.c.account_id)
        .join(printers, printers.c.printer_id == connections.c.printer_id)
        .where(
            open_tickets.c.ticket_digest == ticket_digest,
            open_tickets.c.expires_at > at,
            connections.c.unique_id == unique_id,
            connections.c.revoked_at.is_(None),
            accounts.c.blocked_at.is_(None),
            printers.c.account_id == connections.c.account_id,
            printers.c.removed_at.is_(None),
        )
    )
    return found.mappings().one_or_none()


async def _renew_cookie(
    connection: AsyncConnection, connection_id: str, cookie: str, at: datetime
) -> bool:
    """Return whether the cookie is valid for that connection; then renew it as the newest."""
    renewed = await connection.execute(
        update(cookie_sessions)
        .where(
            cookie_sessions.c.cookie_digest == digest(CredentialKind.COOKIE, cookie.encode()),
            cookie_sessions.c.connection_id == connection_id,
            cookie_sessions.c.expires_at > at,
        )
        .values(created_at=at, expires_at=at + SHARED_COOKIE_LIFETIME)
    )
    return renewed.rowcount > 0


async def _add_cookie(
    connection: AsyncConnection,
    *,
    connection_id: str,
    session_id: str | None,
    cookie: str,
    created_at: datetime,
    expires_at: datetime,
) -> None:
    of_connection = cookie_sessions.c.connection_id == connection_id
    newest = (
        select(cookie_sessions.c.cookie_digest)
        .where(of_connection)
        .order_by(cookie_sessions.c.created_at.desc())
        .limit(MAX_COOKIES - 1)
    )
    is_too_many = of_connection & cookie_sessions.c.cookie_digest.not_in(newest)
    is_over = cookie_sessions.c.expires_at <= created_at
    await connection.execute(delete(cookie_sessions).where(is_over | is_too_many))
    await connection.execute(
        insert(cookie_sessions).values(
            cookie_digest=digest(CredentialKind.COOKIE, cookie.encode()),
            connection_id=connection_id,
            session_id=session_id,
            created_at=created_at,
            expires_at=expires_at,
        )
    )
