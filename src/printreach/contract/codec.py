"""Strict JSON encoding and decoding of the contract's types. Errors name the argument."""

import re
from math import isfinite
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_canonical_encoder = msgspec.json.Encoder(order="sorted")
_AT = re.compile(r"(.*) - at `\$\.?(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*?)`.*")
_NOT_AMONG = re.compile(r"Invalid enum value (.*) - at `\$\.?(.*)`")
_EXPECTED = re.compile(
    r"Expected `(?P<kinds>[^`]*)`(?P<length> of length)?"
    r"(?: (?P<bound><=|>=|<|>|==) (?P<limit>\S+?))?(?:, got `(?P<got>[^`]*)`)?"
)
_KINDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "datetime": "a time",
}
_BOUNDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than", "==": "exactly"}
NOT_JSON = "The body is not JSON."
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_EXACT_UP_TO = 2**53
"""Up to here each whole number has a floating-point number of its own."""


class BadArguments(ValueError):
    """JSON of another shape; the message is a sentence that names the argument."""


BAD_JSON: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The exceptions of msgspec's decoders for a stranger's bytes: no JSON, of another shape, text that
isn't UTF-8, and nested too deep."""


def encode(value: object) -> bytes:
    """JSON of any shape of the contract. UNSET fields are left out."""
    return _encoder.encode(value)


def _number(text: str) -> int | float:
    """Read a number that has a fraction or an exponent; 5.0 and 5e0 are the whole number 5."""
    value = float(text)
    if not isfinite(value):
        raise msgspec.ValidationError("Number out of range")
    return int(value) if value.is_integer() and abs(value) <= _EXACT_UP_TO else value


_decoder = msgspec.json.Decoder(float_hook=_number)


def decode_arguments(body: bytes, shape: type[T]) -> T:
    """Read a JSON object; an empty body counts as an empty object. Raises BadArguments.

    A whole number may be written as 5.0, and a byte order mark may stand first, since libraries of
    some languages write them.
    """
    try:
        content = _decoder.decode(body.removeprefix(BYTE_ORDER_MARK).strip() or b"{}")
        return msgspec.convert(content, shape)
    except BAD_JSON as exc:
        raise BadArguments(sentence_of(exc, shape)) from exc


def canonical_arguments(body: bytes) -> bytes:
    """Return the same bytes for the same arguments, however they are written.

    What is no JSON is returned as it is.
    """
    try:
        return _canonical_encoder.encode(decode_arguments(body, object))
    except BadArguments:
        return body


def sentence_of(problem: Exception, shape: object = None) -> str:
    """Return what is wrong with a body that msgspec could not decode; it names the place.

    shape: what the body should have been; with it, the sentence names the texts to choose from.
    """
    if not isinstance(problem, msgspec.ValidationError):
        return NOT_JSON
    message = str(problem)
    missing = _MISSING.fullmatch(message)
    if missing is not None:
        return f"{missing[1]} is missing in the JSON."
    other = _NOT_AMONG.fullmatch(message)
    if other is not None:
        choices = _choices(shape, other[2])
        return f"{other[2]} must be {choices}." if choices else f"{other[2]} can't be {other[1]}."
    located = _AT.fullmatch(message)
    finding, where = (located[1], located[2]) if located is not None else (message, "")
    return f"{where or 'The body'}: {in_plain_words(finding)}."


def in_plain_words(finding: str) -> str:
    """Return msgspec's finding on a value, the place left out, as the rest of a sentence."""
    found = _EXPECTED.fullmatch(finding)
    if found is None:
        return finding[:1].lower() + finding[1:].replace("`", "")
    words = f"expected {_kinds(found['kinds'])}"
    if found["bound"]:
        unit = ""
        if found["length"]:
            unit = " characters" if found["kinds"].startswith("str") else " entries"
        words += f" of {_BOUNDS[found['bound']]} {found['limit']}{unit}"
    return f"{words}, got {_kinds(found['got'])}" if found["got"] else words


def _kinds(names: str) -> str:
    """The kinds that msgspec names, such as `int | null`."""
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))


def _choices(shape: object, name: str) -> str:
    """Return the texts that an argument of the shape may be, as "X, Y or Z".

    "" where that isn't known.
    """
    described = msgspec.inspect.type_info(shape)
    fields = described.fields if isinstance(described, msgspec.inspect.StructType) else ()
    for field in fields:
        if field.encode_name == name and isinstance(field.type, msgspec.inspect.EnumType):
            *first, last = [str(member.value) for member in field.type.cls]
            return f"{', '.join(first)} or {last}" if first else last
    return ""
