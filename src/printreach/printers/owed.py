"""What a smart pause owes a print: from the pause to the moment the printer has it back.

For printers that have no smart pause of their own, so that theirs is made of commands: somebody has
to remember across a restart of the agent which heaters were on, and to notice when the print was
resumed at the printer, which would go on cold.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from printreach.contract.status import State

from .putting_away import put_away

log = logging.getLogger(__name__)

MAX_STORED_BYTES = 64 * 1024
GOES_ON = frozenset({State.RESUMING, State.PRINTING, State.WARMING_UP})


class Rest(Protocol):
    """What was taken from a print; a dataclass. path: of the print's file."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # as typeshed names a dataclass

    @property
    def path(self) -> str: ...


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
        """Raises OSError."""
        self._file.write_text(json.dumps(asdict(rest)))

    def forget(self) -> None:
        put_away(self._file)


class Owed(Generic[R]):
    """Owns what rests. wake: gives it back to a print that goes on without it."""

    def __init__(self, store: RestStore[R], wake: Callable[[R], Coroutine[Any, Any, None]]) -> None:
        self._store = store
        self._wake = wake
        self._rest = store.load()
        self._waking: asyncio.Task[None] | None = None

    def remember(self, rest: R) -> None:
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

    def on_heard(self, state: State | None, path: str | None) -> None:
        """Someone may have resumed or ended the print elsewhere. path: of the printer's job."""
        if self._rest is None or (state is State.PAUSED and path == self._rest.path):
            return
        rest = self.take()
        if rest is not None and state in GOES_ON:
            log.warning("a smart pause was ended at the printer: the print waits until it is hot")
            self._waking = asyncio.create_task(self._wake(rest))

    async def close(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)
