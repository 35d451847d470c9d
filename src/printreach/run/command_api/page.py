"""docs/command-api.md: prose around tables that are made from the types of the code."""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import FieldInfo

from printreach.contract.app_answers import LiveCreated, LiveRequest
from printreach.contract.commands import COMMAND_PREFIX
from printreach.contract.files import FileDetails, FileDone, FileList
from printreach.contract.status import Feature, State, StatusResult, WebcamList
from printreach.contract.temperatures import PresetList, TemperatureHistory
from printreach.rules.connections.permissions import required_of
from printreach.rules.printers.commands import Action, state_problem
from printreach.run.command_api import REF, Schema, fields_of, meaning_of, reachable
from printreach.run.command_api.meanings import FEATURE_MEANINGS, STATE_MEANINGS
from printreach.run.command_api.table import COMMANDS, Command, QueryArgument

_UNITS: Final = {
    "Mm": "mm",
    "Mg": "mg",
    "Percent": "%",
    "Sec": "s",
    "Bytes": "bytes",
    "C": "°C",
    "Celsius": "°C",
}
"""By the last word of a name."""

_HEAD: Final = """\
# The command API

<!-- Made from src/printreach/run/command_api/ and the types of the code by
`python -m printreach.run.docs`. -->

The command API is the same for every kind of printer. [For app developers](for-app-developers.md)
is the tour, this page is the reference, and [command-api.openapi.json](command-api.openapi.json)
is the same for programs that generate clients.

Every path is below `$url/service-command-api`, where `$url` is the address that the portal
returned, and takes the credentials that came with it. Paths are case-sensitive.

- The answer is JSON with HTTP 200: `{"Status": 200, "Result": {…}}`, or
  `{"Status": <code>, "Error": "<sentence>"}`. *Raw* answers have no envelope, and their failures
  have a real HTTP status.
- The codes are 404, 504, 750 to 754 and 785 to 789: [errors](errors.md#the-command-api). Those of
  the service itself, 600 to 613, come as HTTP status before any command is read.
- Arguments go where the command's table says, in the query or as one JSON object in the body, and
  nowhere else. GET and the files' commands take a query, other orders JSON. In JSON, `5.0` counts
  as an integer; in a query, integers are written in digits. Don't compress JSON.
- Names of arguments are case-insensitive in a query, and exact in JSON. Unknown ones are ignored.
  A missing or mistyped argument, or one out of its range, is answered 751 with a sentence that
  names it. JSON booleans aren't strings. A command without arguments needs no body.
- Checks come in this order: 754 unknown path or method, 751 arguments, 785, 787 or 789 the
  printer can't be reached, 788 it can't do that, 786 not in this state.
- *Needs* names the [permission](portal.md#what-the-user-allows) of the connection. While remote
  control is locked, only commands marked for it are allowed.
- *States* are those of `JobStatus.State` in which a command is accepted; in the others it is
  answered 786.
- Orders take an `Idempotency-Key`: a repeat gets the first result.
- HEAD works wherever GET does, without a body.

"""

_FEATURES: Final = """
## Features

`Features` in the status is the sum of these bits, for this printer and this caller: without the
permission `control`, and while remote control is locked, it is 0. A command whose bit is missing
is answered 788. The interface takes its bits from 1 upwards, ours go from 2^30 downwards.

| Bit | Value | Meaning |
|---|---|---|
"""

_STATES: Final = """
## States

`JobStatus.State` is one of these. The platform is the truth: any of them may follow any other.

| State | Meaning |
|---|---|
"""

_SUB_STATES: Final = """
`JobStatus.SubState` is a short text for people, in the platform's own words where it gives some:
what it does while it warms up, why it paused. There is no list of its values; show it, and decide
nothing by it. It is null where there is nothing to say.

**Pausing while it warms up** is refused with 786 on every platform, as the interface has it, also
where the printer's own software would take it: pause in `printing`, or cancel.
"""

_CAMERAS: Final = """
A camera is chosen by `index`, its place in `/webcam/list`, and by nothing else: another argument,
such as a name, is ignored, and the default camera answers. An index that isn't there is answered
404, and so is a camera that is switched off. `SnapshotUrl` and `StreamUrl` are addresses at home,
which only programs in the printer's own network can reach; apps ask for `/webcam/snapshot` and
`/webcam/stream`.
"""

_LIVE_LINKS: Final = """
## Live Links

`POST $service/api/live/createfromappconnection`, with the header `AppToken`, is a call of the
service and not of the printer. It makes a page that shows the printer to whoever has its address.
The body may be left out.
"""

_SECTIONS: Final = (
    ("Status", "", (StatusResult,)),
    ("Temperatures", "", (TemperatureHistory,)),
    ("Presets", "", (PresetList,)),
    ("Files", "", (FileList, FileDone)),
    ("File Details", "", (FileDetails,)),
    ("Cameras", _CAMERAS, (WebcamList,)),
)
"""Each with the types that it begins with; a type stands in the first section that needs it."""


def command_reference() -> str:
    """Return the text of docs/command-api.md."""
    return "".join(_page())


def _page() -> Iterator[str]:
    yield _HEAD
    yield "## Commands\n\n| Command | |\n|---|---|\n"
    for command in COMMANDS:
        title = _title(command)
        first_sentence = command.meaning.partition(". ")[0].rstrip(".")
        yield f"| [`{title}`](#{_anchor(title)}) | {first_sentence} |\n"
    for command in COMMANDS:
        yield "\n".join(_command(command)) + "\n"
    yield _FEATURES
    for feature in Feature:
        yield f"| `{feature.name}` | {feature.value} | {FEATURE_MEANINGS.get(feature, '')} |\n"
    yield _STATES
    for state in State:
        yield f"| `{state}` | {STATE_MEANINGS[state]} |\n"
    yield _SUB_STATES
    done: set[type[Struct]] = set()
    for title, before, roots in _SECTIONS:
        kinds = [kind for kind in reachable(*roots) if kind not in done]
        done.update(kinds)
        yield f"\n## {title}\n{before}" + "\n".join(_tables(*kinds)) + "\n"
    yield _LIVE_LINKS
    yield "\n".join((*_arguments(LiveRequest), *_tables(LiveCreated))) + "\n"


def _title(command: Command) -> str:
    return f"{command.method} {command.path}"


def _anchor(title: str) -> str:
    return title.lower().replace("/", "").replace(" ", "-")


def _command(command: Command) -> Iterator[str]:
    yield from ("", f"### {_title(command)}", "", command.meaning, "")
    requirement = required_of(
        command.method.encode(), COMMAND_PREFIX + command.path.encode("ascii")
    )
    permission = f"`{requirement.permission}`" if requirement.permission else "no permission"
    locked = "; also while locked" if requirement.works_while_locked else ""
    yield f"- Needs {permission}{locked}."
    if command.features:
        bits = ", ".join(f"`{bit.name}` ({bit.value})" for bit in command.features)
        yield f"- Bits: {bits}."
    if command.action is not None:
        yield f"- States: {_states(command.action)}."
    if command.also_post:
        yield "- By POST too, with the arguments as JSON."
    if command.body is not None:
        yield f"- Body: {command.body}."
    yield f"- Answer: {_answer(command)}."
    if command.query:
        yield from ("", _arguments_head("Argument in the query"))
        for name, argument in command.query.items():
            yield _query_row(name, argument)
    if command.arguments is not None:
        yield from _arguments(command.arguments)


def _arguments(kind: type[Struct]) -> Iterator[str]:
    yield from ("", _arguments_head("Argument in JSON"))
    for field, schema in fields_of(kind):
        yield _argument_row(kind, field, schema)


def _arguments_head(title: str) -> str:
    return f"| {title} | Type | Range | Default | Meaning |\n|---|---|---|---|---|"


def _states(action: Action) -> str:
    allowed = [f"`{state}`" for state in State if state_problem(action, state) is None]
    return ", ".join(allowed)


def _answer(command: Command) -> str:
    if command.raw is not None:
        return f"raw, {command.raw}"
    if command.result is None:
        return "an empty `Result`" if command.path != "/pause" else "`Result` as said"
    name = command.result.__name__
    return f"`Result` is a [{name}](#{name.lower()})"


def _query_row(name: str, argument: QueryArgument) -> str:
    limits = {"minimum": argument.least, "maximum": argument.most}
    schema = {"type": argument.kind, **{k: v for k, v in limits.items() if v is not None}}
    default = "**required**" if argument.is_required else _shown(argument.default)
    return _row(name, _words(schema, name), _range(schema), default, argument.meaning)


def _argument_row(kind: type[Struct], field: FieldInfo, schema: Schema) -> str:
    name = field.encode_name
    default = "**required**" if field.required else _shown(field.default)
    return _row(name, _words(schema, name), _range(schema), default, meaning_of(kind, name))


def _row(name: str, *cells: str) -> str:
    return f"| `{name}` | " + " | ".join(cells) + " |"


def _shown(default: object) -> str:
    return (
        "" if default is None or default is UNSET else f"`{msgspec.json.encode(default).decode()}`"
    )


def _range(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None and most is None:
        return ""
    return f"{least:g} and more" if most is None else f"{least:g} to {most:g}"


def _tables(*kinds: type[Struct]) -> Iterator[str]:
    for kind in kinds:
        yield from (
            "",
            f"### {kind.__name__}",
            "",
            "| Field | Type | | Meaning |",
            "|---|---|---|---|",
        )
        for field, schema in fields_of(kind):
            name = field.encode_name
            yield _row(name, _words(schema, name), _presence(field), meaning_of(kind, name))


def _presence(field: FieldInfo) -> str:
    return "may be left out" if field.default is UNSET else ""


def _words(schema: Schema, name: str) -> str:
    """Return a type in words, with the unit that its name ends with."""
    unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), None)
    words = _type_words(schema)
    return f"{words}, {unit}" if unit and ("number" in words or "integer" in words) else words


def _type_words(schema: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REF)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_type_words, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema["type"]
    if isinstance(kind, list):
        return " or ".join(kind)
    return f"list of {_type_words(schema['items'])}" if kind == "array" else str(kind)
