"""JSON schemas of what the command API reads and answers, from the types of the contract."""

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType
from msgspec.structs import FieldInfo

from printreach.run.command_api.meanings import FIELDS, RANGES

Schema = dict[str, Any]

REF: Final = "#/components/schemas/"


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
