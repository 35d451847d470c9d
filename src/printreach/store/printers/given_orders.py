"""The orders that people gave printers, as rows."""

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, String, Table, delete, insert, select

from printreach.rules.printers.commands import MAX_OF_A_PRINTER, MAX_SUBJECT, GivenOrder
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import Instant, Number, account_column, accounts, metadata

# An order stays with the account in whose time it was given, as prints do.
given_orders = Table(
    "given_orders",
    metadata,
    Column("number", Number, primary_key=True),
    account_column(),
    Column("printer_id", String(64), nullable=False),
    Column(
        "person_id",
        String(64),
        ForeignKey(accounts.c.account_id, ondelete="SET NULL"),
        index=True,
    ),
    Column("at", Instant, nullable=False),
    Column("command", String(32), nullable=False),
    Column("subject", String(MAX_SUBJECT), nullable=False),
    Index("ix_given_orders_printer_id", "printer_id", "account_id", "at"),
)

_ORDER = columns_for(GivenOrder, given_orders)


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedOrder:
    """An order with the address of who gave it; "" where their account is deleted."""

    order: GivenOrder
    email: str


class GivenOrderRecords(TableRecords):
    """Orders, the newest of each printer and owner."""

    async def add(self, order: GivenOrder) -> None:
        """Store an order; delete the oldest of the printer beyond MAX_OF_A_PRINTER."""
        await self._connection.execute(insert(given_orders).values(**asdict(order)))
        newest = (
            select(given_orders.c.number)
            .where(*_of(order.account_id, order.printer_id))
            .order_by(given_orders.c.number.desc())
            .offset(MAX_OF_A_PRINTER)
            .limit(10)
        )
        await self._connection.execute(
            delete(given_orders).where(given_orders.c.number.in_(newest))
        )

    async def recent(
        self,
        account_id: str,
        printer_id: str,
        at_most: int,
        *,
        person_id: str | None = None,
        commands: Set[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[SignedOrder]:
        """Return orders, newest first. person_id, commands: only those of that person, and those
        commands.
        """
        wanted = _of(account_id, printer_id)
        if commands is not None:
            wanted.append(given_orders.c.command.in_(sorted(commands)))
        if person_id is not None:
            wanted.append(given_orders.c.person_id == person_id)
        if since is not None:
            wanted.append(given_orders.c.at >= since)
        if until is not None:
            wanted.append(given_orders.c.at <= until)
        return await self._all(
            _signed,
            select(*_ORDER, accounts.c.email)
            .join_from(
                given_orders,
                accounts,
                accounts.c.account_id == given_orders.c.person_id,
                isouter=True,
            )
            .where(*wanted)
            .order_by(given_orders.c.at.desc(), given_orders.c.number.desc())
            .limit(at_most),
        )


def _of(account_id: str, printer_id: str) -> list[Any]:
    return [given_orders.c.account_id == account_id, given_orders.c.printer_id == printer_id]


def _signed(*, email: str | None, **row: Any) -> SignedOrder:
    return SignedOrder(order=GivenOrder(**row), email=email or "")
