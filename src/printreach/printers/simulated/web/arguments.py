"""JSON that came from outside, read strictly: what is wrong is named, nothing is guessed."""

import json
from collections.abc import Sequence
from typing import TypeVar

_Value = TypeVar("_Value")


class BadArguments(Exception):
    """The sentence names the argument that is wrong."""


def read_json(data: bytes | str) -> object:
    """Raises BadArguments. No bytes at all are an empty object."""
    try:
        value: object = json.loads(data, parse_constant=_refuse) if data else {}
    except (ValueError, RecursionError):
        raise BadArguments("That is not JSON.") from None
    return value


class Arguments:
    """A JSON object with no other names than the known ones. Absent and null are the same."""

    def __init__(self, given: object, *known: str) -> None:
        """Raises BadArguments."""
        if not isinstance(given, dict):
            raise BadArguments("The arguments have to be a JSON object.")
        if unknown := [name for name in given if name not in known]:
            raise BadArguments(f"There is no argument {unknown[0]!r} here.")
        self._given: dict[str, object] = given

    def any(self, name: str) -> object:
        """Whatever it is, unchecked."""
        return self._given.get(name)

    def text(self, name: str) -> str | None:
        value = self._given.get(name)
        if value is None or isinstance(value, str):
            return value
        raise BadArguments(f"{name} has to be a text.")

    def choice(self, name: str, options: Sequence[str]) -> str | None:
        value = self.text(name)
        if value is None or value in options:
            return value
        raise BadArguments(f"{name} has to be one of {', '.join(options)}.")

    def flag(self, name: str) -> bool | None:
        value = self._given.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise BadArguments(f"{name} has to be true or false.")

    def number(self, name: str, low: float, high: float) -> float | None:
        """Return a number within bounds; NaN is refused too."""
        value = self._given.get(name)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise BadArguments(f"{name} has to be a number from {low:g} to {high:g}.")
        return float(value)


def needed(name: str, value: _Value | None) -> _Value:
    """Return an argument that may not be left out."""
    if value is None:
        raise BadArguments(f"{name} is missing.")
    return value


def _refuse(word: str) -> object:
    """NaN and Infinity are Python's additions to JSON."""
    raise ValueError(word)
