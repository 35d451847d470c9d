"""What a smart pause owes a print: from the pause to the moment the printer has it back.

For printers that have no smart pause of their own, so that theirs is made of commands: somebody has
to remember across a restart of the agent which heaters were on, and to notice when the print was
resumed at the printer, which would go on cold.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from printreach.contract.status import AT_WORK, State

from .rests import Kept, Rest, RestStore

log = logging.getLogger(__name__)


class OwedRest(Rest, Protocol):
    """path: of the print's file."""

    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=OwedRest)


class Owed(Generic[R]):
    """Owns what rests. wake: gives it back to a print that goes on without it."""

    def __init__(self, store: RestStore[R], wake: Callable[[R], Coroutine[Any, Any, None]]) -> None:
        self._kept = Kept(store)
        self._wake = wake
        self._waking: asyncio.Task[None] | None = None

    def remember(self, rest: R) -> None:
        self._kept.remember(rest)

    def take(self) -> R | None:
        """Whoever takes it gives it back to the printer, or remembers it again."""
        return self._kept.take()

    def on_heard(self, state: State | None, path: str | None) -> None:
        """Someone may have resumed or ended the print elsewhere. path: of the printer's job."""
        rest = self._kept.rest
        if rest is None or (state is State.PAUSED and path == rest.path):
            return
        self._kept.take()
        if state in AT_WORK:
            log.warning("a smart pause was ended at the printer: the print waits until it is hot")
            self._waking = asyncio.create_task(self._wake(rest))

    async def close(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)
