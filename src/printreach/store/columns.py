"""Helpers of several tables' statements: columns of a record, and lists of values."""

import json
from collections.abc import Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Table, func, select

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


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
