"""The limits of what an agent tells of its printer, and how to cut values to them.

The reader refuses longer values; the writer cuts first, so that one long text or one odd number
of a printer doesn't cost the whole status.
"""

from functools import cache
from math import isfinite
from operator import is_
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct, inspect

MAX_TEXT_CHARS: Final = 512
MAX_URL_CHARS: Final = 2048
MAX_LIGHTS: Final = 64
MAX_WEBCAMS: Final = 32
MAX_SCORES: Final = 1000
MAX_DETAILS: Final = 64
"""Keys of an object of a platform's own, and items of a list in it."""
MAX_PICTURE_BYTES: Final = 8 * 1024 * 1024
"""One picture of a webcam, or of a file."""
MAX_STATUS_BYTES: Final = 256 * 1024
"""A whole status as JSON. Usual ones have 2 KB, and 15 KB with a large material system."""
MAX_NUMBER: Final = 2**53
"""The greatest number of any field, and with a minus the least: up to here every JSON library reads
whole numbers exactly, and a page has room for the digits."""

Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
Url = Annotated[str, Meta(max_length=MAX_URL_CHARS)]
Whole = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Number = Annotated[float, Meta(ge=-float(MAX_NUMBER), le=float(MAX_NUMBER))]

T = TypeVar("T", bound=Struct)


def cut_to_limits(value: T) -> T:
    """Return the value with each text, list and number cut to what its type allows."""
    cut: T = _cut(value, _shape(type(value)))
    return cut


@cache
def _shape(kind: type) -> inspect.Type:
    return inspect.type_info(kind)


def _cut(value: Any, shape: inspect.Type) -> Any:
    if isinstance(shape, inspect.UnionType):
        fitting = next((member for member in shape.types if _fits(value, member)), None)
        return value if fitting is None else _cut(value, fitting)
    if not _fits(value, shape):
        return value  # UNSET, or of a type that has no size
    match shape:
        case inspect.StrType(max_length=int() as most):
            return value if len(value) <= most else value[:most]
        case inspect.IntType(ge=int() as least, le=int() as most):
            return min(max(value, least), most)
        case inspect.FloatType(ge=float() as least, le=float() as most):
            if isinstance(value, float) and not isfinite(value):
                return 0.0  # no JSON
            return min(max(value, least), most)
        case inspect.ListType(item_type=inner, max_length=most):
            cut = [_cut(item, inner) for item in value[:most]]
            is_same = len(cut) == len(value) and all(map(is_, cut, value))
            return value if is_same else cut
        case inspect.DictType(key_type=keys, value_type=inner, max_length=most):
            pairs = list(value.items())[:most]
            return {_cut(key, keys): _cut(item, inner) for key, item in pairs}
        case inspect.StructType(fields=fields):
            return _cut_struct(value, fields)
    return value


def _cut_struct(value: Struct, fields: tuple[inspect.Field, ...]) -> Struct:
    changes = {}
    for field in fields:
        before = getattr(value, field.name)
        after = _cut(before, field.type)
        if after is not before:
            changes[field.name] = after
    return msgspec.structs.replace(value, **changes) if changes else value


def _fits(value: object, shape: inspect.Type) -> bool:
    match shape:
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, float | int) and not isinstance(value, bool)
        case inspect.ListType():
            return isinstance(value, list)
        case inspect.DictType():
            return isinstance(value, dict)
        case inspect.StructType(cls=kind):
            return isinstance(value, kind)
    return False
