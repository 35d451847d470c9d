"""How a command's result is shown: to programs as JSON, to people as text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from printreach.rules.log_text import one_line

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Result:
    """The same in two ways. text: without a line end; may have several lines."""

    json: Mapping[str, Json]
    text: str


def show(result: Result, *, as_json: bool) -> None:
    """Print it on standard output."""
    text = "\n".join(one_line(line) for line in result.text.split("\n"))
    print(json.dumps(result.json) if as_json else text)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> str:
    """Columns as wide as their widest cell; `empty` where there are no rows."""
    if not rows:
        return empty
    lines = [heads, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)
