"""Write the files that are generated from the code: `python -m printreach.run.docs [REPOSITORY]`.

They are committed, so that review shows a change of what the service promises; a test fails if a
committed one differs from the output of this module.
"""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, cast

import msgspec

from printreach.agent.commands.answers import RAW_STATUS, RAW_STATUS_OF_OTHERS
from printreach.contract.commands import MEANINGS
from printreach.contract.detection_api import HTTP_STATUSES, REMEDIES
from printreach.contract.errors import AWAITED, FAILURES
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform
from printreach.run.command_api import command_api_description
from printreach.run.command_api.page import command_reference
from printreach.store.migrate import new_database
from printreach.web.app import APIS, openapi_document

_ERRORS_HEAD: Final = """\
# Error codes

<!-- Made from src/printreach/contract/ by `python -m printreach.run.docs`. -->

A test provokes every one of them, except those [not in use yet](#not-in-use-yet).

## The service

These are failures of the service itself, on printer hosts and App APIs. They are outside HTTP's
range, and if a printer answers with one of them, it comes as 612, so they are never the printer's
own. Each comes with

- the code as HTTP status,
- the header `X-Service-Error: <code>`,
- the JSON body `{"Status": <code>, "Error": "<text>"}`; or, for a browser (`Accept: text/html`),
  a small page.

`Error` is the meaning below or something more exact. *Temporary* means that waiting alone may
help, so the same request may be sent again later.

606 also comes with valid credentials if the printer's owner hasn't allowed a
[permission](portal.md#what-the-user-allows) or has locked remote control; `Error` and the reason
phrase of the status line say which.

| Code | Meaning | What a person can do | Temporary |
|---|---|---|---|
"""


_COMMANDS_HEAD: Final = """
## The command API

Failures of a command travel with HTTP 200 in the envelope
`{"Status": <code>, "Error": "<text>"}`; `Error` is a sentence for people. If the answer would not
have been JSON (a download, a picture, a log), the HTTP status shows the failure, too. A platform
may add codes of its own, 400 to 599.

| Status | Meaning | HTTP status of a raw answer |
|---|---|---|
"""

_DETECTION_HEAD: Final = """
## The failure-detection API

A call that is not answered with 200 has the JSON body `{"ErrorType": "<type>", "ErrorDetails":
"<sentence>"}`. None of them counts as a call. See [detection-api.md](detection-api.md).

| ErrorType | HTTP | Meaning | What a program does |
|---|---|---|---|
"""

_AWAITED_HEAD: Final = """
## Not in use yet

| Code | Comes with |
|---|---|
"""


def error_table() -> str:
    """Return the text of docs/errors.md."""
    failures = (
        f"| {code:d} | {failure.meaning} | {failure.remedy} | "
        f"{'yes' if failure.temporary else 'no'} |\n"
        for code, failure in FAILURES.items()
    )
    commands = (
        f"| {status:d} | {meaning} | {RAW_STATUS.get(status, RAW_STATUS_OF_OTHERS)} |\n"
        for status, meaning in MEANINGS.items()
    )
    detection = (
        f"| {error} | {status} | {REMEDIES[error][0]}. | {REMEDIES[error][1]} |\n"
        for error, status in HTTP_STATUSES.items()
    )
    awaited = (f"| {code} | {part} |\n" for code, part in AWAITED.items())
    return "".join(
        (
            *(_ERRORS_HEAD, *failures),
            *(_COMMANDS_HEAD, *commands),
            *(_DETECTION_HEAD, *detection),
            *(_AWAITED_HEAD, *awaited),
        )
    )


def api_description() -> str:
    """Return the text of docs/openapi.json, formatted so that a change shows line by line."""
    return msgspec.json.format(openapi_document(APIS)).decode() + "\n"


_PLATFORMS_HEAD: Final = """\
# What each printer can do

<!-- Made from src/printreach/printers/*/__init__.py by `python -m printreach.run.docs`. -->

Apps don't need to know any of this: a printer that can't do something refuses it with 788, and
`Features` in the status says beforehand what a particular printer can do.

*Yes*: every printer of the platform can. *Some*: some can; the notes below the table say which.
*No*: none can so far; the notes say why. Tests hold every entry to what the adapter does.

No printer refuses the smart pause of a running print: every printer pauses, and leaves out the
parts that it can't do. While a print warms up, every pause is refused with 786, but the print can
be cancelled.

"""


class _PlatformsModule(Protocol):
    PLATFORMS: Sequence[Platform]


def platforms() -> list[Platform]:
    """Return the platforms in the order of the table of facts."""
    listed: list[Platform] = []
    for name in PLATFORM_FACTS:
        module = importlib.import_module(f"printreach.printers.{name}")
        listed.extend(cast("_PlatformsModule", module).PLATFORMS)
    return listed


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
    return _PLATFORMS_HEAD + "\n".join(lines) + "\n"


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
        yield f"- {operations}: if {where}."


def _by_reason(reasons: Mapping[Operation, str]) -> Iterator[tuple[str, str]]:
    """Group operations by their reason."""
    for reason in dict.fromkeys(reasons.values()):
        named = [operation.value for operation in Operation if reasons.get(operation) == reason]
        yield ", ".join(named), reason


DOCUMENTS: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "docs/command-api.md": command_reference,
        "docs/command-api.openapi.json": command_api_description,
        "docs/errors.md": error_table,
        "docs/openapi.json": api_description,
        "docs/platforms.md": platform_table,
        "src/printreach/store/new_database.sql": new_database,
    }
)
"""From a path in the repository to the function that returns its text."""


def main(arguments: list[str]) -> None:
    """Write every document into the repository named first, the working directory by default."""
    repository = Path(arguments[0] if arguments else ".")
    for name, write in DOCUMENTS.items():
        repository.joinpath(name).write_text(write(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
