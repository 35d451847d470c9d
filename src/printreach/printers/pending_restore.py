"""Restores a smart pause when the print is resumed at the printer itself.

For printers that have no smart pause of their own, so that theirs is made of commands: the agent
has to remember across a restart which heaters were on, and to notice a print that was resumed at
the printer, since it would go on cold.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from printreach.contract.status import AT_WORK, State

from .saved_state import CurrentSavedState, SavedState, SavedStateStore

log = logging.getLogger(__name__)


class SavedStateOfFile(SavedState, Protocol):
    """A saved state that belongs to one file. path: of the print's file."""

    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=SavedStateOfFile)


class PendingRestore(Generic[R]):
    """Owns the saved state. restore: called for a print that was resumed without it."""

    def __init__(
        self, store: SavedStateStore[R], restore: Callable[[R], Coroutine[Any, Any, None]]
    ) -> None:
        self._current = CurrentSavedState(store)
        self._restore = restore
        self._restoring: asyncio.Task[None] | None = None

    def remember(self, saved: R) -> None:
        self._current.remember(saved)

    def take(self) -> R | None:
        """Remove and return the state; the caller restores it, or remembers it again."""
        return self._current.take()

    def on_update(self, state: State | None, path: str | None) -> None:
        """Check whether the print was resumed or ended elsewhere. path: of the printer's job."""
        saved = self._current.saved
        if saved is None or (state is State.PAUSED and path == saved.path):
            return
        self._current.take()
        if state in AT_WORK:
            log.warning("a smart pause was ended at the printer: the print waits until it is hot")
            self._restoring = asyncio.create_task(self._restore(saved))

    async def close(self) -> None:
        if self._restoring is not None:
            self._restoring.cancel()
            await asyncio.gather(self._restoring, return_exceptions=True)
