"""Generate docs/platforms.md, operations by platform, from what the adapters declare."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol, cast

from printreach.printers.operations import Operation, Platform
from printreach.printers.registry import KINDS

_HEAD: Final = """\
# What can be asked of which printer

<!-- Made from src/printreach/printers/*/platforms.py by `python -m printreach.run.docs`. -->

An app need not know any of this: what it asks is answered, or refused with 788 where the printer
can't. `Features` in the status tells of the one printer before it is asked.

*Yes*: every printer of the platform can. *Some*: it takes what stands below the table. *No*: so far
none can, and why stands there too. Each is held to what the adapter does, by the tests.

A smart pause is never refused: every printer pauses, and what it can't do of the rest is left out.

"""


class _PlatformsModule(Protocol):
    PLATFORMS: Sequence[Platform]


def platforms() -> list[Platform]:
    """Return the platforms with an adapter, in the order of the registry."""
    found: list[Platform] = []
    for kind in KINDS.values():
        if kind.adapter:
            name = f"{kind.adapter.rpartition('.')[0]}.platforms"
            module = cast("_PlatformsModule", importlib.import_module(name))
            found.extend(module.PLATFORMS)
    return found


def platform_table() -> str:
    """Return the text of docs/platforms.md."""
    columns = platforms()
    titles = " | ".join(platform.title for platform in columns)
    lines = [f"| | {titles} |", f"|---|{'---|' * len(columns)}"]
    for operation in Operation:
        cells = " | ".join(_cell(platform, operation) for platform in columns)
        lines.append(f"| {operation} | {cells} |")
    for platform in columns:
        lines.extend(_notes(platform))
    return _HEAD + "\n".join(lines) + "\n"


def _cell(platform: Platform, operation: Operation) -> str:
    if operation in platform.cannot:
        return "no"
    return "some" if operation in platform.only_where else "yes"


def _notes(platform: Platform) -> Iterator[str]:
    yield from ("", f"## {platform.title}", "")
    if not platform.cannot and not platform.only_where:
        yield "Everything."
    for operations, why in _by_reason(platform.cannot):
        yield f"- {operations}: no. {why}"
    for operations, where in _by_reason(platform.only_where):
        yield f"- {operations}: where {where}."


def _by_reason(reasons: Mapping[Operation, str]) -> Iterator[tuple[str, str]]:
    """Group operations by their reason."""
    for reason in dict.fromkeys(reasons.values()):
        named = [operation.value for operation in Operation if reasons.get(operation) == reason]
        yield ", ".join(named), reason
