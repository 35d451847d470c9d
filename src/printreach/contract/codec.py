"""JSON bytes to and from the shapes of the contract, strictly. Mistakes name the argument."""

import re
from typing import TypeVar

import msgspec

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_AT = re.compile(r"(.*) - at `\$\.?(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*?)`.*")
_KINDS = {
    "`float`": "a number",
    "`int`": "a whole number",
    "`str`": "a text",
    "`bool`": "true or false",
}


class BadArguments(ValueError):
    """JSON that isn't what was asked for; the message is a sentence that names the argument."""


def encode(value: object) -> bytes:
    """JSON of any shape of the contract. What is UNSET is left out."""
    return _encoder.encode(value)


def decode_arguments(body: bytes, shape: type[T]) -> T:
    """Read a JSON object; an empty body counts as an empty object. Raises BadArguments."""
    try:
        return msgspec.json.decode(body.strip() or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadArguments(sentence_of(exc)) from exc


def sentence_of(problem: Exception) -> str:
    """What is wrong with a body that msgspec could not decode; it names the place."""
    if not isinstance(problem, msgspec.ValidationError):
        return "The body is not JSON."
    message = str(problem)
    missing = _MISSING.fullmatch(message)
    if missing is not None:
        return f"{missing[1]} is missing."
    located = _AT.fullmatch(message)
    what, where = (located[1], located[2]) if located is not None else (message, "")
    for kind, words in _KINDS.items():
        what = what.replace(kind, words)
    what = what[:1].lower() + what[1:].replace("`", "")
    return f"{where or 'The body'}: {what}."
