"""The form of limits, in units that people use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from printreach.rules.accounts.limits import AccountLimits, LimitChanges
from printreach.web.forms import Fields

_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One limit. unit: how many stored units make one of the form's."""

    field: str
    label: str
    hint: str
    unit: int = 1


ROWS: Final = (
    Row(field="upload_bytes", label="Upload, MiB", hint="One request", unit=1024**2),
    Row(field="download_bytes", label="Download, MiB", hint="One request", unit=1024**2),
    Row(field="webcam_stream_s", label="Webcam, minutes", hint="One stream", unit=60),
    Row(field="app_connections", label="App connections", hint="To one printer"),
    Row(field="requests_a_minute", label="Requests a minute", hint="To this site and its APIs"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitField:
    """One field of the form. default: the limit in force if it is left empty."""

    name: str
    label: str
    hint: str
    value: str


def limit_fields(
    changes: LimitChanges, default: AccountLimits, typed: Fields | None = None
) -> list[LimitField]:
    """Return the fields with the stored values, or those that were sent."""
    return [
        LimitField(
            name=row.field,
            label=row.label,
            hint=f"{row.hint}. Empty: {_text(getattr(default, row.field), row.unit)}",
            value=_text(getattr(changes, row.field), row.unit)
            if typed is None
            else typed[row.field],
        )
        for row in ROWS
    ]


def limits_typed(fields: Fields) -> LimitChanges | Mapping[str, str]:
    """Parse the form; return the changes, or errors by field."""
    errors: dict[str, str] = {}
    values: dict[str, int | None] = {}
    for row in ROWS:
        text = fields[row.field].strip()
        if text and not _NUMBER.fullmatch(text):
            errors[row.field] = f"{row.label}: give a number, or leave it empty."
        else:
            values[row.field] = int(Decimal(text) * row.unit) if text else None
    return errors or LimitChanges(**values)


def _text(value: int | None, unit: int) -> str:
    if value is None:
        return ""
    text = f"{Decimal(value) / unit:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
