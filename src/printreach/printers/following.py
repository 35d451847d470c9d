"""Following a printer: reconnecting each time it is lost, its messages, answers, and callbacks."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from printreach.contract.commands import CommandStatus
from printreach.languages import in_english

from .connecting import RETRY
from .loose import Json
from .port import PrinterRefused, View, trouble_of

ANSWER_S = 10.0


class UpdateSignal:
    """Wakes those who wait for a printer's next message."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Wake those who wait, because the printer has sent something."""
        latest, self._next = self._next, asyncio.Event()
        latest.set()

    async def wait_until(self, condition: Callable[[], bool], seconds: float | None) -> bool:
        """Wait until the condition holds; False after the timeout, which None leaves out."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    await self._next.wait()
        except TimeoutError:
            return False
        return True


async def keep_following(
    follow: Callable[[], Awaitable[None]],
    on_lost: Callable[[PrinterRefused], None],
    latest: Callable[[], object],
    uniform: Callable[[float, float], float],
) -> None:
    """Follow until cancelled, with a backoff while attempts in a row bring no message.

    follow: receives until the printer is lost (PrinterRefused), or should be tried again. latest:
    returns another object once the printer has sent something.
    """
    failures = 0
    while True:
        before = latest()
        try:
            await follow()
        except PrinterRefused as refused:
            on_lost(refused)
        failures = 1 if latest() is not before else failures + 1
        await asyncio.sleep(RETRY.jittered_s(failures, uniform))


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run work beside the block, and cancel it at the block's end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class ChangeListeners:
    """The callbacks of a port.Printer.on_change()."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def tell(self) -> None:
        """Call the callbacks, because the view has changed."""
        for callback in self._callbacks:
            callback()


class LiveView(ABC):
    """The view of one printer, kept fresh by following it.

    on_update: called after each message, and when the printer is lost. changes: the listeners of
    the adapter's on_change().
    """

    def __init__(self, uniform: Callable[[float, float], float]) -> None:
        self.changes = ChangeListeners()
        self.on_update: Callable[[], None] = lambda: None
        self._uniform = uniform
        self._updates = UpdateSignal()
        self._view = self._latest = View()

    @property
    def view(self) -> View:
        return self._view

    async def run(self) -> None:
        """Follow until cancelled."""
        await keep_following(self._follow, self._on_lost, lambda: self._latest, self._uniform)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait for the printer to report what makes it so; False when it doesn't in time."""
        return await self._updates.wait_until(condition, seconds)

    @abstractmethod
    async def _follow(self) -> None:
        """Raises PrinterRefused when the printer is lost; returns when it is to be tried again."""

    def _show(self, view: View) -> None:
        """The printer has told something, of which this view was made."""
        self._view = self._latest = view
        self._updates.tell()
        self._report_change()

    def _on_lost(self, refused: PrinterRefused) -> None:
        self._view = View(trouble=trouble_of(refused))
        self._report_change()

    def _report_change(self) -> None:
        self.on_update()
        self.changes.tell()


class Answers:
    """The requests that wait for an answer."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Json]] = {}

    async def after(self, sending: Awaitable[object], key: str) -> Json:
        """Send, and wait for the answer of this key. Raises PrinterRefused."""
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        try:
            await sending
            async with asyncio.timeout(ANSWER_S):
                return await answer
        except TimeoutError:
            sentence = in_english(
                "The printer gave no answer within %(seconds)s s.", seconds=f"{ANSWER_S:.0f}"
            )
            raise PrinterRefused(CommandStatus.TIMED_OUT, sentence) from None
        finally:
            self._waiting.pop(key, None)

    def settle(self, key: str, message: Json) -> None:
        answer = self._waiting.get(key)
        if answer is not None and not answer.done():
            answer.set_result(message)

    def give_up(self, refused: PrinterRefused) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(refused)
