"""The interface of one platform's smart pauses: its orders, and the state that it saves."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from .print_progress import PrintReport, RememberedPrint
from .saved_state import SavedState


class SavedPause(SavedState, RememberedPrint, Protocol):
    """The state that a smart pause saved of a print."""

    @property
    def has_heat(self) -> bool: ...
    @property
    def has_moves(self) -> bool: ...


S = TypeVar("S", bound=SavedPause)


class PausePlatform(Protocol[S]):
    """The platform's part of smart pauses. Orders raise PrinterRefused.

    repauses: a print that was resumed at the printer is paused again, to get everything back;
    otherwise it gets its heat back while it goes on. refuses_moves_whole: moves that are refused
    were not begun.
    """

    repauses: bool
    refuses_moves_whole: bool

    def print_report(self) -> PrintReport | None:
        """None while the printer can't be reached."""
        ...

    def is_warm(self, saved: S) -> bool: ...
    def without_moves(self, saved: S) -> S: ...

    def limit_problem(self, saved: S) -> str | None:
        """Return the limit of the agent's owner that a restore would exceed, as a sentence."""
        ...

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool: ...
    async def pause_print(self) -> None: ...
    async def resume_print(self) -> None: ...
    async def heat(self, saved: S) -> None: ...
    async def move_back(self, saved: S) -> None: ...
