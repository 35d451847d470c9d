"""docs/protocol.md as the tests read it."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()

_BLOCK = re.compile(r"^```hex (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES: dict[str, str] = dict(_BLOCK.findall(PAGE))
"""The text of each example by its name: hex and, three blanks on, what it means."""

JSON_EXAMPLES: dict[str, str] = dict(
    re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
"""Control messages, by their names."""


def table(line_above: str, *columns: int) -> list[tuple[str, ...]]:
    """Some columns of the first table behind a line of the page, without the marks of code."""
    behind = PAGE.split(f"\n{line_above}\n", 1)[1].split("\n\n")
    lines = next(part for part in behind if part.lstrip().startswith("|")).strip().splitlines()
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines[2:]]
    return [tuple(row[column] for column in columns) for row in rows]
