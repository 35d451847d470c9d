"""Starts of prints that the printer's live view does not show yet.

A view may be seconds older than the order that was just accepted. A cancel that is judged by such a
view alone would be refused with "There is no print to cancel", and the print would go on.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from printreach.contract.commands import CommandStatus
from printreach.contract.files import FileDone
from printreach.contract.status import UNDER_WAY, State
from printreach.printers.port import PrinterRefused

T = TypeVar("T")

SHOWS_WITHIN_S: Final = 8.0
"""How long after the printer's answer to a start its view may take to show the print."""
CANCEL_WAITS_S: Final = 10.0
"""How long a cancel waits for a start at most; after that it is sent all the same."""
_LOOK_EVERY_S: Final = 0.1
_MAY_PRINT: Final = frozenset({CommandStatus.TIMED_OUT, CommandStatus.NOT_CONNECTED})
"""Refusals after which the printer may have taken the start."""


class PendingStarts:
    """Carries out the starts of one printer, and tracks those that its view does not show yet.

    state: of the printer's live view.
    """

    def __init__(self, state: Callable[[], State]) -> None:
        self._state = state
        self._following: set[asyncio.Task[bool]] = set()
        self._starting: set[asyncio.Task[FileDone]] = set()
        self._cancels = 0

    async def carry_out(self, start: Callable[[], Coroutine[Any, Any, FileDone]]) -> FileDone:
        """Start a print; it goes on to its end where the caller goes away.

        Whether the printer took an order that was broken off midway, nobody could tell. Raises
        PrinterRefused, with 786 while a print is being cancelled.
        """
        if self._cancels:
            raise PrinterRefused(
                CommandStatus.INVALID_STATE, "A print is being cancelled; start again after that."
            )
        starting = _kept(self._starting, start())
        _kept(self._following, self._until_shown(starting))
        return await asyncio.shield(starting)

    @contextmanager
    def cancelling(self) -> Iterator[None]:
        """Let no start through while the context is open."""
        self._cancels += 1
        try:
            yield
        finally:
            self._cancels -= 1

    async def settle(self) -> bool:
        """Wait until the starts under way show, for 10 s at most.

        True where the printer may have a print that its view does not show.
        """
        waited_for = set(self._following)
        await self._until_print(CANCEL_WAITS_S, lambda: all(one.done() for one in waited_for))
        return any(not one.done() or one.cancelled() or one.result() for one in waited_for)

    async def close(self) -> None:
        tasks = [*self._starting, *self._following]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_shown(self, starting: asyncio.Task[FileDone]) -> bool:
        """Whether the printer may have taken the start."""
        await asyncio.wait([starting])
        if _is_refused(starting):
            return False
        await self._until_print(SHOWS_WITHIN_S)
        return True

    async def _until_print(self, at_most_s: float, or_when: Callable[[], bool] = bool) -> None:
        """Wait until the view shows a print. or_when: another reason to go on."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + at_most_s
        while loop.time() < deadline:
            if self._state() in UNDER_WAY or or_when():
                return
            await asyncio.sleep(_LOOK_EVERY_S)


def _is_refused(starting: asyncio.Task[FileDone]) -> bool:
    if starting.cancelled():
        return False
    why = starting.exception()
    return isinstance(why, PrinterRefused) and why.status not in _MAY_PRINT


def _kept(tasks: set[asyncio.Task[T]], work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task
