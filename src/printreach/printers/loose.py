"""Lenient readers of vendors' JSON: a field may be missing, null, of another type or out of range.

Each function answers None for what can't be read, and never raises.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from printreach.contract.files import JsonObject, JsonValue
from printreach.contract.sizes import MAX_NUMBER, MAX_TEXT_CHARS
from printreach.contract.unset import UNSET, UnsetType

T = TypeVar("T")
Json = Mapping[str, Any]
"""An object of a vendor, which is only read by these functions."""

EMPTY: Json = {}
MAX_INT = 2**31 - 1
MAX_DEPTH = 16
MAX_MERGE_DEPTH = 12
MAX_KEYS = 1000
"""The most keys of one object; several times what any printer has."""
_DURATION = re.compile(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", re.ASCII)


def parsed(message: bytes | bytearray | str) -> object:
    """Return parsed JSON; None for a text that is not JSON."""
    try:
        value: object = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return value


def known(value: T | None) -> T | UnsetType:
    """Return the value as an optional field of the contract has it."""
    return UNSET if value is None else value


def obj(source: object, *path: str) -> Json:
    """Return the object at a path of keys; an empty one where there is none."""
    at = source
    for key in path:
        at = at.get(key) if isinstance(at, Mapping) else None
    return at if isinstance(at, Mapping) else EMPTY


def items(source: object, key: str) -> list[Any]:
    """Return the list of a key; an empty one where there is none."""
    value = source.get(key) if isinstance(source, Mapping) else None
    return value if isinstance(value, list) else []


def number(source: object, key: str) -> float | None:
    """Return a number up to MAX_NUMBER; texts that hold one count, true and false don't."""
    value = source.get(key) if isinstance(source, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed_number = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed_number if abs(parsed_number) <= MAX_NUMBER else None


def as_number(value: object) -> float | None:
    """Return a value that isn't in an object as number() does."""
    return number({"": value}, "")


def positive(source: object, key: str) -> float | None:
    """Return a number above 0."""
    value = number(source, key)
    return value if value is not None and value > 0 else None


def whole(source: object, key: str) -> int | None:
    """Return a number without its fraction, within 32 bits."""
    value = number(source, key)
    if value is None or abs(value) > MAX_INT:
        return None
    return int(value)


def count(source: object, key: str) -> int | None:
    """Return a whole number from 0."""
    value = whole(source, key)
    return value if value is not None and value >= 0 else None


def text(source: object, key: str) -> str | None:
    """Return a text that isn't empty, cut to 512 characters."""
    value = source.get(key) if isinstance(source, Mapping) else None
    return sendable(value[:MAX_TEXT_CHARS]) if isinstance(value, str) and value else None


def sendable(value: str) -> str:
    """Return a text without lone surrogates, which JSON may hold where a name is no UTF-8."""
    return value.encode("utf-8", "replace").decode()


def flag(source: object, key: str) -> bool | None:
    value = source.get(key) if isinstance(source, Mapping) else None
    return value if isinstance(value, bool) else None


def length_mm(lengths: Iterable[float | None]) -> int | None:
    """Return the sum of lengths, those of all extruders for example; None where none is known."""
    known_mm = [length for length in lengths if length is not None and length >= 0]
    return int(min(sum(known_mm), MAX_INT)) if known_mm else None


def duration_s(text: str) -> int | None:
    """Return the seconds of a slicer's "1d 2h 3m 4s"; None for anything else."""
    parts = _DURATION.fullmatch(text.strip()[:40])
    if parts is None or not any(parts.groups()):
        return None
    units = zip(parts.groups(), (86_400, 3_600, 60, 1), strict=True)
    total_s = sum(int(count or 0) * unit for count, unit in units)
    return total_s if total_s <= MAX_INT else None


def percent(value: float | None) -> float:
    """Progress as the contract has it: 0.0 to 100.0, 0.0 when unknown."""
    return 0.0 if value is None else min(100.0, max(0.0, value))


def percent_of(source: object, key: str) -> int | None:
    """Return a share, 1.0 of which is the whole, in percent and rounded; None below 0."""
    share = number(source, key)
    return round(share * 100) if share is not None and 0 <= share * 100 <= MAX_INT else None


def size(source: object, key: str) -> int | None:
    """Return a whole number from 0, of any size that JSON can hold exactly."""
    value = number(source, key)
    return int(value) if value is not None and 0 <= value <= MAX_NUMBER else None


def plain(source: object) -> JsonObject:
    """Return an object that JSON can hold; what it can't, or what is nested too deeply, is null."""
    return {sendable(key): _plain(value, MAX_DEPTH) for key, value in obj(source).items()}


def merged(old: Json, changes: Json, depth: int = MAX_MERGE_DEPTH) -> dict[str, Any]:
    """old with the changes in it: objects are merged, everything else is replaced."""
    new = dict(old)
    for key, value in changes.items():
        if key not in new and len(new) >= MAX_KEYS:
            continue
        before = new.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping) and depth > 0:
            value = merged(before, value, depth - 1)
        new[key] = value
    return new


def _plain(value: object, depth: int) -> JsonValue:
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        return {sendable(str(key)): _plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth - 1) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if abs(value) <= MAX_NUMBER else None
    return sendable(value) if isinstance(value, str) else None
