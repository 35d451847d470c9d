"""Printers, link codes, and whom their owners let in, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from sqlalchemy import (
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from printreach.contract.cameras import CameraChoice
from printreach.rules.printers import LinkOffer, Printer
from printreach.rules.printers.members import Role
from printreach.rules.watch.choices import Dismissal
from printreach.store.columns import TableRecords, columns_for, each_of, rows_of
from printreach.store.listings import PrinterRow
from printreach.store.prints.snapshots import last_pictures, snapshots
from printreach.store.tables import (
    Instant,
    account_column,
    accounts,
    is_active_owners,
    link_codes,
    metadata,
    nodes,
    printer_column,
    printers,
)
from printreach.store.watch import tables as watch_tables

_PRINTER = columns_for(Printer, printers)
_OFFER = columns_for(LinkOffer, link_codes)
_IS_OWNERS_PICTURE = and_(
    snapshots.c.snapshot_id == last_pictures.c.snapshot_id,
    snapshots.c.account_id == printers.c.account_id,
)
_IS_WATCHED = and_(
    watch_tables.watches.c.printer_id == printers.c.printer_id,
    watch_tables.watches.c.account_id == printers.c.account_id,
    watch_tables.watches.c.ended_at.is_(None),
)
_answers = watch_tables.watch_judgements
_IS_DISMISSED = and_(
    _answers.c.printer_id == printers.c.printer_id,
    _answers.c.account_id == printers.c.account_id,
    _answers.c.print_id == watch_tables.watches.c.print_id,
    _answers.c.was_failure.is_(False),
)
_IS_LINKED = printers.c.removed_at.is_(None)

printer_members = Table(
    "printer_members",
    metadata,
    printer_column(primary_key=True),
    account_column(),
    Column(
        "person_id",
        String(64),
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        primary_key=True,
        nullable=False,
        index=True,
    ),
    Column("role", String(16), nullable=False),
    Column("since", Instant, nullable=False),
    Column("seen_at", Instant),
)

member_invitations = Table(
    "printer_invitations",
    metadata,
    Column("invitation_id", String(64), primary_key=True),
    Column("token_digest", LargeBinary(32), nullable=False, unique=True),
    printer_column(),
    account_column(),
    Column("role", String(16), nullable=False),
    Column("email", String(254)),
    Column("uses_left", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
    Index("ix_printer_invitations_printer_id", "printer_id"),
)

OF_A_LINK = (printer_members, member_invitations)
"""The tables whose rows are deleted when the printer leaves its owner."""


class PrinterRecords(TableRecords):
    """Printers that belong to an account, and the link codes of unlinked agents."""

    async def linked(self, printer_id: str) -> Printer | None:
        return await self._first(
            Printer, select(*_PRINTER).where(printers.c.printer_id == printer_id, _IS_LINKED)
        )

    async def not_served(self, printer_ids: Sequence[str]) -> Mapping[str, bool]:
        """Return which of them belong to no account, or may not be controlled remotely.

        True: it belongs to an account, which is blocked, or has its remote control locked.
        """
        # The others are few. By joins, which search for these printers alone: `not_in` read all
        # printers of the service, and from some number on for each of these.
        asked = rows_of(printer_ids)
        is_theirs = and_(printers.c.printer_id == asked.c.value, _IS_LINKED)
        is_refused = or_(accounts.c.locked_at.is_not(None), accounts.c.blocked_at.is_not(None))
        found = await self._connection.execute(
            select(asked.c.value, printers.c.printer_id.is_not(None))
            .select_from(
                asked.outerjoin(printers, is_theirs).outerjoin(
                    accounts, accounts.c.account_id == printers.c.account_id
                )
            )
            .where(or_(printers.c.printer_id.is_(None), is_refused))
        )
        return {printer_id: bool(is_linked) for printer_id, is_linked in found}

    async def last_alive_at(self) -> datetime | None:
        """Return when a node last said that it runs; None if none has in the last day."""
        last: datetime | None = await self._connection.scalar(select(func.max(nodes.c.alive_at)))
        return last

    async def all_linked(self) -> list[PrinterRow]:
        return await self._rows(_IS_LINKED)

    async def row(self, printer_id: str) -> PrinterRow | None:
        """Return a linked printer with its owner and state."""
        rows = await self._rows(_IS_LINKED, printers.c.printer_id == printer_id)
        return rows[0] if rows else None

    async def rows_of_account(self, account_id: str) -> list[PrinterRow]:
        """Return the printers of the account with their state, by name."""
        return await self._rows(_IS_LINKED, printers.c.account_id == account_id)

    async def rows_of_member(self, person_id: str) -> list[PrinterRow]:
        """Return the printers of others that this person was let in to, by owner and name."""
        roles = await self._connection.execute(
            select(printer_members.c.printer_id, printer_members.c.role).where(
                printer_members.c.person_id == person_id, is_active_owners(printer_members)
            )
        )
        role_of = {row["printer_id"]: Role(row["role"]) for row in roles.mappings()}
        if not role_of:
            return []
        rows = await self._rows(_IS_LINKED, printers.c.printer_id.in_(each_of(role_of)))
        return [replace(row, role=role_of[row.printer.printer_id]) for row in rows]

    async def _rows(self, *conditions: ColumnElement[bool]) -> list[PrinterRow]:
        found = await self._connection.execute(
            select(
                *_PRINTER,
                accounts.c.email,
                accounts.c.locked_at,
                nodes.c.alive_at,
                snapshots.c.taken_at,
                _answers.c.print_id,
                _answers.c.at,
            )
            .join_from(printers, accounts)
            .outerjoin(nodes, nodes.c.node_id == printers.c.node_id)
            .outerjoin(last_pictures, last_pictures.c.printer_id == printers.c.printer_id)
            .outerjoin(snapshots, _IS_OWNERS_PICTURE)
            .outerjoin(watch_tables.watches, _IS_WATCHED)
            .outerjoin(_answers, _IS_DISMISSED)
            .where(*conditions)
            .order_by(accounts.c.email_key, printers.c.name, printers.c.printer_id)
        )
        rows = []
        for values in found.mappings():
            row = dict(values)
            email, alive_at = row.pop("email"), row.pop("alive_at")
            pictured_at, locked_at = row.pop("taken_at"), row.pop("locked_at")
            print_id, at = row.pop("print_id"), row.pop("at")
            rows.append(
                PrinterRow(
                    printer=Printer(**row),
                    owner_email=email,
                    node_alive_at=alive_at,
                    pictured_at=pictured_at,
                    is_locked=locked_at is not None,
                    dismissal=None if at is None else Dismissal(print_id=print_id, at=at),
                )
            )
        return rows

    async def of_account(self, account_id: str) -> list[Printer]:
        return await self._all(
            Printer,
            select(*_PRINTER)
            .where(printers.c.account_id == account_id, _IS_LINKED)
            .order_by(printers.c.name, printers.c.printer_id),
        )

    async def link(self, printer: Printer) -> None:
        """Link the printer, also if it was linked before and removed."""
        values = asdict(printer)
        changed = await self._connection.execute(
            update(printers).where(printers.c.printer_id == printer.printer_id).values(**values)
        )
        if changed.rowcount == 0:
            await self._connection.execute(insert(printers).values(**values))

    async def rename(self, printer_id: str, name: str) -> None:
        await self._connection.execute(
            update(printers).where(printers.c.printer_id == printer_id).values(name=name)
        )

    async def choose_cameras(self, printer_id: str, choices: tuple[CameraChoice, ...]) -> None:
        await self._connection.execute(
            update(printers).where(printers.c.printer_id == printer_id).values(cameras=choices)
        )

    async def remove(self, printer_id: str, at: datetime) -> None:
        await self._connection.execute(
            update(printers)
            .where(printers.c.printer_id == printer_id, _IS_LINKED)
            .values(removed_at=at, node_id=None)
        )
        for table in (*watch_tables.OF_A_LINK, *OF_A_LINK):
            await self._connection.execute(delete(table).where(table.c.printer_id == printer_id))

    async def offer_with_code(self, code_digest: bytes) -> LinkOffer | None:
        return await self._first(
            LinkOffer, select(*_OFFER).where(link_codes.c.code_digest == code_digest)
        )

    async def put_offer(self, offer: LinkOffer, code_digest: bytes) -> None:
        """Store a link code, in place of an earlier one of the same agent."""
        await self.withdraw_offer(offer.printer_id)
        await self._connection.execute(
            insert(link_codes).values(**asdict(offer), code_digest=code_digest)
        )

    async def withdraw_offer(self, printer_id: str) -> None:
        await self._connection.execute(
            delete(link_codes).where(link_codes.c.printer_id == printer_id)
        )
