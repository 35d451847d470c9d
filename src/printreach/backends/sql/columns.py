"""Which columns make up a record: those named like its fields."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def columns_for(record: "type[DataclassInstance]", table: Table) -> list[Column[Any]]:
    """One for each field, of the same name. Raises KeyError at import where one is missing."""
    return [table.c[field.name] for field in fields(record)]
