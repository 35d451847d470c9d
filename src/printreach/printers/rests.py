"""What a smart pause took from a print, remembered across a restart of the agent."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from printreach.rules.commands import MAX_DISTANCE_MM

from . import loose
from .putting_away import put_away

log = logging.getLogger(__name__)

MAX_STORED_BYTES: Final = 64 * 1024
MAX_TARGET_C: Final = 500.0


class Rest(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # as typeshed names a dataclass


R = TypeVar("R", bound=Rest)


class RestStore(Generic[R]):
    """One rest in a file. read: makes it of what was stored; None where that isn't legible."""

    def __init__(self, file: Path, read: Callable[[object], R | None]) -> None:
        self._file = file
        self._read = read

    def load(self) -> R | None:
        """None where nothing rests, or what is there can't be read."""
        try:
            with self._file.open("rb") as file:
                told = json.loads(file.read(MAX_STORED_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        return self._read(told)

    def save(self, rest: R) -> None:
        """Raises OSError; what was stored before stays then."""
        fresh = self._file.with_name(f"{self._file.name}.new")
        fresh.write_text(json.dumps(asdict(rest)))
        fresh.replace(self._file)

    def forget(self) -> None:
        put_away(self._file)


class Kept(Generic[R]):
    """The rest that a printer is in, if any; in the store as well."""

    def __init__(self, store: RestStore[R]) -> None:
        self._store = store
        self._rest = store.load()

    @property
    def rest(self) -> R | None:
        return self._rest

    def remember(self, rest: R) -> None:
        """Where it can't be stored that is logged: the print goes on all the same."""
        self._rest = rest
        try:
            self._store.save(rest)
        except OSError as exc:
            log.warning("a restart of the agent would forget this smart pause: %s", exc.strerror)

    def take(self) -> R | None:
        """Whoever takes it gives it back to the printer, or remembers it again."""
        rest, self._rest = self._rest, None
        self._store.forget()
        return rest


def target_c(told: object, key: str) -> float:
    """A heater's target as it was stored; 0 for what no heater could have had."""
    target = loose.number(told, key)
    return target if target is not None and 0 < target <= MAX_TARGET_C else 0.0


def distance_mm(told: object, key: str) -> int:
    """A lift or a retraction as it was stored; 0 for what no smart pause could have asked for."""
    distance = loose.count(told, key) or 0
    return distance if distance <= MAX_DISTANCE_MM else 0
