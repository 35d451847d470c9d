"""Output of a command's result: JSON for programs, text for people."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from printreach.rules.safe_text import one_line

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Result:
    """A result in both forms. text: may have several lines; without a line end."""

    json: Mapping[str, Json]
    text: str


def show(result: Result, *, as_json: bool) -> None:
    """Print it on standard output."""
    text = "\n".join(one_line(line) for line in result.text.split("\n"))
    print(json.dumps(result.json) if as_json else text)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> str:
    """Format rows with each column as wide as its widest cell; return `empty` if there are none."""
    if not rows:
        return empty
    lines = [heads, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)
