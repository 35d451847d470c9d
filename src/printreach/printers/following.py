"""Following a printer: reconnecting each time it is lost, its messages, answers, and callbacks."""

import asyncio
from collections.abc import Awaitable, Callable

from printreach.contract.commands import CommandStatus

from .connecting import RETRY
from .loose import Json
from .port import PrinterRefused

ANSWER_S = 10.0


class UpdateSignal:
    """Wakes those who wait for a printer's next message."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Wake those who wait, because the printer has sent something."""
        latest, self._next = self._next, asyncio.Event()
        latest.set()

    async def wait(self) -> None:
        """Wait for the next message."""
        await self._next.wait()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds; False after the timeout."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    await self.wait()
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

    follow: receives until the printer is lost (PrinterRefused), or should be tried again. heard:
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


class ChangeListeners:
    """The callbacks of a port.SupportsOnChange."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def tell(self) -> None:
        """Call the callbacks, because the view has changed."""
        for callback in self._callbacks:
            callback()


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
            sentence = f"The printer gave no answer within {ANSWER_S:.0f} s."
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
