"""What the records of every subject share: reading rows, columns of a record, lists of values."""

import json
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ColumnElement, Executable, Select, Table, func, select

from printreach.store.async_engine import AsyncConnection

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


class TableRecords:
    """The records of one subject, in one unit of work."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def _first(self, make: Callable[..., T], query: Select[Any]) -> T | None:
        """Return the first row as a record, if there is one. make: takes the columns by name."""
        row = (await self._connection.execute(query)).mappings().first()
        return None if row is None else make(**row)

    async def _all(self, make: Callable[..., T], query: Select[Any]) -> list[T]:
        """Return every row as a record. make: takes the columns by name."""
        found = await self._connection.execute(query)
        return [make(**row) for row in found.mappings()]

    async def _exists(self, query: Select[Any]) -> bool:
        """Return whether the query has a row."""
        return (await self._connection.execute(query.limit(1))).first() is not None

    async def _changed(self, statement: Executable) -> int:
        """Execute an update or a deletion; return how many rows it concerned."""
        return (await self._connection.execute(statement)).rowcount


def columns_for(
    record: "type[DataclassInstance]", table: Table, **names: str
) -> list[ColumnElement[Any]]:
    """Return one column for each field, labelled with the field's name.

    names: of fields whose column has another name. Raises KeyError at import where one is missing.
    """
    return [
        table.c[names[field.name]].label(field.name) if field.name in names else table.c[field.name]
        for field in fields(record)
    ]


def each_of(values: Collection[str] | Collection[int]) -> Any:
    """Return a subquery of the values, as JSON.

    A statement has a limited number of variables, and thousands of them are slow to bind.
    """
    return select(func.json_each(json.dumps(list(values))).table_valued("value").c.value)
