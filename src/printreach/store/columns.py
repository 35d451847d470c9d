"""What the records of every subject share: reading rows, also damaged ones, columns of a record."""

import json
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    Select,
    Table,
    TableValuedAlias,
    cast,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.visitors import InternalTraversal

from printreach.store.async_engine import AsyncConnection

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
from typing import Final

import msgspec
from sqlalchemy import JSON, Dialect
from sqlalchemy.types import TypeDecorator

insert = sqlite.insert
"""Adds rows, or replaces them. PostgreSQL's dialect compiles what is written with it as well."""

T = TypeVar("T")

_FAULTS: Final = (msgspec.MsgspecError, ValueError, TypeError, RecursionError)
"""Faults of reading: not even types are certain, since SQLite takes any value in any column."""


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


class _Elements(FunctionElement[str]):
    """The elements of a JSON array, as rows with a column `value`."""

    name = "json_each"
    inherit_cache = True


@compiles(_Elements)
def _compile_elements(element: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Elements, "postgresql")
def _compile_on_postgresql(element: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    array = compiler.process(element.clauses, **options)
    return f"json_array_elements_text(CAST({array} AS JSON))"


def rows_of(values: Collection[str] | Collection[int]) -> TableValuedAlias:
    """Return the values as rows with a column `value`: on PostgreSQL as text, also of numbers.

    As JSON: a statement has a limited number of variables, and thousands of them are slow to bind.
    """
    return _Elements(json.dumps(list(values))).table_valued("value")


def each_of(texts: Collection[str]) -> Any:
    """Return a subquery of the values."""
    return select(rows_of(texts).c.value)


def each_number_of(numbers: Collection[int]) -> Any:
    """Return a subquery of the values."""
    return select(cast(rows_of(numbers).c.value, BigInteger))


class _Unsearched(ColumnElement[T]):
    """See unsearched."""

    inherit_cache = True
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012

    def __init__(self, column: ColumnElement[T]) -> None:
        self.column = column
        self.type = column.type


@compiles(_Unsearched)
def _compile_unsearched(element: _Unsearched[Any], compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.column, **options)


@compiles(_Unsearched, "sqlite")
def _compile_plus(element: _Unsearched[Any], compiler: SQLCompiler, **options: Any) -> str:
    return "+" + compiler.process(element.column, **options)


def unsearched(column: ColumnElement[T]) -> ColumnElement[T]:
    """Return the column for a condition by which SQLite is not to search an index.

    PostgreSQL knows by its statistics which index finds less.
    """
    return _Unsearched(column)


class Damaged(Exception):
    """Stored data is damaged. The message contains nothing of it."""


def decoded(decoder: "msgspec.json.Decoder[T]", content: bytes) -> T:
    """Decode a column's JSON. Raises Damaged."""
    try:
        return decoder.decode(content)
    except _FAULTS as error:
        raise Damaged(type(error).__name__) from error


class LenientJson(TypeDecorator[Any]):
    """JSON of a column. What cannot be decoded is None, and does not block what is read with it."""

    impl = JSON
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        read = super().result_processor(dialect, coltype)
        assert read is not None, "JSON is text in SQLite"

        def read_or_none(value: Any) -> Any:
            try:
                return read(value)
            except _FAULTS:
                return None

        return read_or_none
