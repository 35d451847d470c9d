"""The print history, as rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    case,
    cast,
    delete,
    extract,
    func,
    select,
    tuple_,
    update,
)

from printreach.contract.events import MAX_TEXT
from printreach.rules.prints.history import Print, PrintResult
from printreach.store.columns import TableRecords, columns_for, insert
from printreach.store.tables import Instant, Number, accounts, metadata

# A print stays with the account it happened in, also when the printer has another.
prints = Table(
    "prints",
    metadata,
    Column("number", Number, primary_key=True),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("printer_id", String(64), nullable=False),
    Column("print_id", String(64), nullable=False),
    Column("printer_name", String(60), nullable=False),
    Column("file_name", String(MAX_TEXT), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("start_is_known", Boolean, nullable=False),
    Column("heard_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("duration_s", Integer),
    Column("progress", Integer),
    Column("result", String(16), nullable=False),
    Column("error", String(MAX_TEXT), nullable=False),
    Column("filament_mm", Integer),
    Column("filament_mg", Integer),
    Column("snapshot_id", String(64)),
    Index("uq_prints_print_id", "print_id", "printer_id", "account_id", unique=True),
    Index("ix_prints_account_id", "account_id", "started_at", "number"),
    Index("ix_prints_printer_id", "printer_id", "account_id", "started_at", "number"),
    Index("ix_prints_started_at", "started_at"),
)

_PRINT = columns_for(Print, prints)
_KEY = ("print_id", "printer_id", "account_id")


@dataclass(frozen=True, slots=True)
class HistoryCursor:
    """The end of a page of prints: the next page has those that began before."""

    started_at: datetime
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedPrint:
    """A print with its place. number: distinguishes those that began in the same second."""

    print_: Print
    number: int

    @property
    def place(self) -> HistoryCursor:
        return HistoryCursor(self.print_.started_at, self.number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Prints of one month that ended the same way.

    duration_s, filament: sums of those that are known; a duration as pages count it.
    """

    year: int
    month: int
    result: PrintResult
    count: int
    duration_s: int
    filament_mm: int
    filament_mg: int


class PrintRecords(TableRecords):
    """Prints, each once for its account and printer."""

    async def get(self, account_id: str, printer_id: str, print_id: str) -> Print | None:
        return await self._first(
            _print,
            select(*_PRINT).where(
                prints.c.account_id == account_id,
                prints.c.printer_id == printer_id,
                prints.c.print_id == print_id,
            ),
        )

    async def put(self, print_: Print) -> None:
        """Store a print, in place of the same one."""
        values = asdict(print_) | {"result": print_.result.value}
        changed = {name: value for name, value in values.items() if name not in _KEY}
        await self._connection.execute(
            insert(prints)
            .values(**values)
            .on_conflict_do_update(index_elements=list(_KEY), set_=changed)
        )

    async def give_up_earlier(self, account_id: str, printer_id: str, before: datetime) -> None:
        """Give up prints under way that began before then: their end was never reported."""
        await self._connection.execute(
            update(prints)
            .where(
                prints.c.account_id == account_id,
                prints.c.printer_id == printer_id,
                prints.c.started_at < before,
                prints.c.result == PrintResult.UNDER_WAY.value,
            )
            .values(result=PrintResult.UNSEEN.value)
        )

    async def has_later(self, account_id: str, printer_id: str, after: datetime) -> bool:
        """Return whether the printer began another print after that."""
        return await self._exists(
            select(prints.c.number).where(
                prints.c.account_id == account_id,
                prints.c.printer_id == printer_id,
                prints.c.started_at > after,
            )
        )

    async def cut(self, account_id: str, printer_id: str, most: int) -> None:
        """Delete the oldest prints of a printer and account beyond that many."""
        place = (prints.c.started_at, prints.c.number)
        mine, newest_first = _of(account_id, printer_id), [one.desc() for one in place]
        found = await self._connection.execute(
            select(*place).where(*mine).order_by(*newest_first).limit(1).offset(most)
        )
        last = found.first()
        if last is None:
            return
        await self._connection.execute(delete(prints).where(*mine, tuple_(*place) <= tuple_(*last)))

    async def prune(self, before: datetime, at_most: int) -> int:
        """Delete prints that began before then, at_most at once; return how many."""
        old = select(prints.c.number).where(prints.c.started_at < before).limit(at_most)
        return await self._changed(delete(prints).where(prints.c.number.in_(old)))

    async def page(
        self, account_id: str, printer_id: str | None, before: HistoryCursor | None, at_most: int
    ) -> Sequence[PlacedPrint]:
        """Return prints, newest first, of one printer or of all."""
        conditions = _of(account_id, printer_id)
        if before is not None:
            here = tuple_(prints.c.started_at, prints.c.number)
            conditions.append(here < tuple_(before.started_at, before.number))
        return await self._all(
            _placed,
            select(*_PRINT, prints.c.number)
            .where(*conditions)
            .order_by(prints.c.started_at.desc(), prints.c.number.desc())
            .limit(at_most),
        )

    async def tallies(
        self, account_id: str, printer_id: str | None, since: datetime
    ) -> Sequence[Tally]:
        """Return the tallies of prints that began since then, by month, newest first."""
        # PostgreSQL extracts numbers with decimal places.
        year = cast(extract("year", prints.c.started_at), Integer).label("year")
        month = cast(extract("month", prints.c.started_at), Integer).label("month")
        return await self._all(
            _tally,
            select(
                year,
                month,
                prints.c.result,
                func.count().label("count"),
                func.coalesce(func.sum(_counted_duration_s()), 0).label("duration_s"),
                func.coalesce(func.sum(prints.c.filament_mm), 0).label("filament_mm"),
                func.coalesce(func.sum(prints.c.filament_mg), 0).label("filament_mg"),
            )
            .where(*_of(account_id, printer_id), prints.c.started_at >= since)
            .group_by(year, month, prints.c.result)
            .order_by(year.desc(), month.desc(), prints.c.result),
        )


def _counted_duration_s() -> ColumnElement[int]:
    """Return the column for `counted_duration_s` of rules/prints/history.py; NULL if not known."""
    took = extract("epoch", prints.c.ended_at) - extract("epoch", prints.c.started_at)
    from_start_to_end = case((prints.c.start_is_known, case((took > 0, took), else_=0)))
    return func.coalesce(prints.c.duration_s, from_start_to_end)


def _of(account_id: str, printer_id: str | None) -> list[ColumnElement[bool]]:
    mine = [prints.c.account_id == account_id]
    return mine if printer_id is None else [*mine, prints.c.printer_id == printer_id]


def _placed(*, number: int, **row: Any) -> PlacedPrint:
    return PlacedPrint(print_=_print(**row), number=number)


def _print(*, result: str, **row: Any) -> Print:
    return Print(**row, result=PrintResult(result))


def _tally(*, result: str, **row: Any) -> Tally:
    return Tally(**row, result=PrintResult(result))
