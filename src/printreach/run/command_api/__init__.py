"""docs/command-api.openapi.json: the command API for programs that generate clients.

JSON schemas of what it reads and answers come from the types of the contract; page.py writes the
reference for people.
"""

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import FieldInfo

from printreach import __version__
from printreach.agent.commands.answers import RAW_STATUS, RAW_STATUS_OF_OTHERS
from printreach.contract.commands import COMMAND_PREFIX, MEANINGS
from printreach.run.command_api.meanings import FIELDS, RANGES
from printreach.run.command_api.table import COMMANDS, Command, QueryArgument

Schema = dict[str, Any]

REF: Final = "#/components/schemas/"


def command_api_description() -> str:
    """Return the text of docs/command-api.openapi.json."""
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Printreach command API",
            "version": __version__,
            "summary": "The same commands for every kind of 3D printer.",
        },
        "servers": [
            {
                "url": "{url}" + COMMAND_PREFIX.decode(),
                "variables": {"url": {"default": "https://app-connection.example.com"}},
            }
        ],
        "security": [{"basic": []}, {"bearer": []}],
        "paths": _paths(),
        "components": {
            "schemas": {kind.__name__: _object(kind) for kind in _described()}
            | {"Failure": _FAILURE},
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }
    return msgspec.json.format(msgspec.json.encode(document)).decode() + "\n"


_FAILURE: Final[Schema] = {
    "type": "object",
    "properties": {
        "Status": {"type": "integer", "not": {"const": 200}},
        "Error": {"type": "string"},
        "Features": {"type": "integer"},
    },
    "required": ["Status", "Error"],
}


def _described() -> list[type[Struct]]:
    arguments = [one.arguments for one in COMMANDS if one.arguments is not None]
    results = [one.result for one in COMMANDS if one.result is not None]
    return sorted(reachable(*arguments, *results), key=lambda kind: kind.__name__)


def _object(kind: type[Struct]) -> Schema:
    properties = {}
    for field, schema in fields_of(kind):
        meaning = meaning_of(kind, field.encode_name)
        properties[field.encode_name] = {**schema, "description": meaning} if meaning else schema
    is_read = any(command.arguments is kind for command in COMMANDS)
    needed = [
        field.encode_name
        for field, _ in fields_of(kind)
        if field.required or not (is_read or field.default is UNSET)
    ]
    return {"type": "object", "properties": properties, "required": needed}


def _paths() -> Schema:
    paths: Schema = {}
    for command in COMMANDS:
        methods = (command.method, *(("POST",) if command.also_post else ()))
        paths[command.path] = {method.lower(): _operation(command, method) for method in methods}
    return paths


def _operation(command: Command, method: str) -> Schema:
    words = command.path.strip("/").replace("-", "/").split("/")
    names = words if method == command.method else [*words, "by", method.lower()]
    operation: Schema = {
        "operationId": names[0] + "".join(word.capitalize() for word in names[1:]),
        "description": command.meaning,
        "responses": {_status(command): _success(command), **_raw_failures(command)},
    }
    parameters: list[Schema] = []
    if method == command.method:
        parameters.extend(_parameter(*one) for one in command.query.items())
    if command.is_order:
        parameters.append(_IDEMPOTENCY_KEY)
    if parameters:
        operation["parameters"] = parameters
    content = _request_content(command, method)
    if content is not None:
        operation["requestBody"] = {"content": content, "required": _needs_body(command)}
    return operation


def _needs_body(command: Command) -> bool:
    if command.arguments is None:
        return command.body is not None
    return any(field.required for field, _ in fields_of(command.arguments))


def _request_content(command: Command, method: str) -> Schema | None:
    if method != command.method:
        arguments = {name: {"type": one.kind} for name, one in command.query.items()}
        return {"application/json": {"schema": {"type": "object", "properties": arguments}}}
    if command.arguments is not None:
        schema = {"$ref": REF + command.arguments.__name__}
        return {"application/json": {"schema": schema}}
    if command.body is not None:
        return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return None


def _parameter(name: str, argument: QueryArgument) -> Schema:
    schema: Schema = {"type": argument.kind}
    for key, value in (
        ("default", argument.default),
        ("minimum", argument.least),
        ("maximum", argument.most),
    ):
        if value is not None:
            schema[key] = value
    return {
        "name": name,
        "in": "query",
        "required": argument.is_required,
        "description": argument.meaning,
        "schema": schema,
    }


_IDEMPOTENCY_KEY: Final[Schema] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of the caller's choice, another one for each order: where an order with"
    " it was carried out, a repeat gets the first result.",
    "schema": {"type": "string"},
}


def _status(command: Command) -> str:
    """Return the HTTP status of a success."""
    return "200" if command.media or command.raw is None else "101"


def _success(command: Command) -> Schema:
    if command.raw is not None:
        content = {media: {"schema": _raw_schema(media)} for media in command.media}
        return {"description": command.raw, "content": content}
    result: Schema = {"type": "object"}
    if command.result is not None:
        result = {"$ref": REF + command.result.__name__}
    done = {
        "type": "object",
        "properties": {"Status": {"const": 200}, "Result": result},
        "required": ["Status", "Result"],
    }
    either = {"oneOf": [done, {"$ref": REF + "Failure"}]}
    return {
        "description": "The result, or why there is none.",
        "content": {"application/json": {"schema": either}},
    }


def _raw_schema(media: str) -> Schema:
    is_text = media.startswith("text/")
    return {"type": "string"} if is_text else {"type": "string", "format": "binary"}


def _raw_failures(command: Command) -> Schema:
    if command.raw is None:
        return {}
    failed: Schema = {}
    for http in sorted({*RAW_STATUS.values(), RAW_STATUS_OF_OTHERS}):
        codes = [
            status for status in MEANINGS if RAW_STATUS.get(status, RAW_STATUS_OF_OTHERS) == http
        ]
        failed[str(http)] = {
            "description": " ".join(f"{code:d}: {MEANINGS[code]}" for code in codes),
            "content": {"application/json": {"schema": {"$ref": REF + "Failure"}}},
        }
    return failed


def fields_of(kind: type[Struct]) -> Sequence[tuple[FieldInfo, Schema]]:
    """Return the fields of a type with their JSON schemas, under their wire names."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return [
        (field, _ranged(kind, field.encode_name, schema_of(hints[field.name])))
        for field in msgspec.structs.fields(kind)
    ]


def _ranged(kind: type[Struct], name: str, schema: Schema) -> Schema:
    if name not in RANGES.get(kind, {}):
        return schema
    least, most = RANGES[kind][name]
    return {**schema, "minimum": least, "maximum": most}


def schema_of(hint: Any) -> Schema:
    """Return the JSON schema of a type of the contract."""
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        return {**schema_of(inner), **_bounds(inner, metas)}
    if get_origin(hint) in (typing.Union, types.UnionType):
        return _union([schema_of(one) for one in get_args(hint) if one is not UnsetType])
    if get_origin(hint) is list:
        return {"type": "array", "items": schema_of(get_args(hint)[0])}
    if get_origin(hint) is dict:
        return {"type": "object"}
    if issubclass(hint, Struct):
        return {"$ref": REF + hint.__name__}
    if issubclass(hint, Enum):
        return {"type": "string", "enum": [member.value for member in hint]}
    return {"type": _JSON_TYPES[hint]}


_JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _union(choices: list[Schema]) -> Schema:
    if len(choices) == 1:
        return choices[0]
    if all(set(choice) <= {"type", "maxLength"} for choice in choices):
        longest = {key: value for choice in choices for key, value in choice.items()}
        return {**longest, "type": [choice["type"] for choice in choices]}
    return {"anyOf": choices}


def _bounds(inner: Any, metas: Sequence[Any]) -> Schema:
    bounds: Schema = {}
    for meta in metas:
        assert isinstance(meta, Meta)
        if meta.max_length is not None:
            bounds["maxItems" if get_origin(inner) is list else "maxLength"] = meta.max_length
        if meta.ge is not None:
            bounds["minimum"] = meta.ge
        if meta.le is not None:
            bounds["maximum"] = meta.le
    return bounds


def reachable(*roots: type[Struct]) -> list[type[Struct]]:
    """Return these types and all that their fields hold, each once, in reading order."""
    found: list[type[Struct]] = []
    waiting = list(roots)
    while waiting:
        kind = waiting.pop(0)
        if kind not in found:
            found.append(kind)
            hints = typing.get_type_hints(kind, include_extras=True)
            waiting = [*(one for hint in hints.values() for one in _structs(hint)), *waiting]
    return found


def _structs(hint: Any) -> Iterator[type[Struct]]:
    if get_origin(hint) is dict:
        return
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for inner in get_args(hint):
        yield from _structs(inner)


def meaning_of(kind: type[Struct], name: str) -> str:
    return FIELDS.get(kind, {}).get(name, "")
