"""The parts of both protocols: the view, the connection, and matching answers to requests."""

import asyncio
from collections.abc import Awaitable, Callable

from printreach.contract.commands import CommandStatus
from printreach.printers import connecting
from printreach.printers.following import UpdateSignal, keep_following
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused, Trouble, View

ANSWER_S = 10.0
PAUSES_S = 20.0
"""The printer first finishes its current move, and parks its head."""
PAUSING = "Pausing"


class LiveView:
    """A printer's view. follow: receives and calls tell(), until it is lost (PrinterRefused).

    print_id: of the print last reported, "" where it has none. on_lost: called then.
    """

    def __init__(
        self, follow: Callable[[], Awaitable[None]], uniform: Callable[[float, float], float]
    ) -> None:
        self._follow = follow
        self._uniform = uniform
        self._updates = UpdateSignal()
        self._view = View()
        self._latest = self._view
        self.print_id = ""
        self.on_lost: Callable[[], None] = lambda: None

    @property
    def view(self) -> View:
        """The view as last reported."""
        return self._view

    def tell(self, view: View, print_id: str) -> None:
        self._view = self._latest = view
        self.print_id = print_id
        self._updates.tell()

    async def wait_until(self, condition: Callable[[View], bool], seconds: float) -> bool:
        """Wait for the printer to say what makes it so; False when it doesn't in time."""
        return await self._updates.wait_until(lambda: condition(self._view), seconds)

    async def until_paused(self) -> None:
        """Wait until the pause is complete: before that a print can't be resumed.

        Raises PrinterRefused.
        """
        if not await self._updates.wait_until(
            lambda: self._view.job.sub_state != PAUSING, PAUSES_S
        ):
            raise PrinterRefused(CommandStatus.TIMED_OUT, "The printer is still pausing.")

    async def run(self) -> None:
        """Follow until cancelled."""
        await keep_following(self._follow, self._on_lost, lambda: self._latest, self._uniform)

    def _on_lost(self, refused: PrinterRefused) -> None:
        status = CommandStatus(refused.status)
        self._view = View(trouble=Trouble(status=status, sentence=refused.sentence))
        self.on_lost()


class Answers:
    """The requests that wait for an answer."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Json]] = {}

    async def after(self, sending: Awaitable[None], key: str) -> Json:
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


def unreachable(host: str, why: str) -> PrinterRefused:
    """why: ends a sentence."""
    return connecting.unreachable(f"The printer at {host}", why)


def too_many_clients(host: str) -> PrinterRefused:
    sentence = f"The printer at {host} serves too many clients; close one of them."
    return PrinterRefused(CommandStatus.TOO_MANY_CLIENTS, sentence)


def not_authorized(host: str, why: str) -> PrinterRefused:
    """why: what the printer does about it."""
    return PrinterRefused(CommandStatus.NOT_AUTHORIZED, f"The printer at {host} {why}.")
