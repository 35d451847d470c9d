"""The checks before an order, how it is given to the printer, and what it leads to.

Checks come in this order: 751 arguments, 785 / 787 / 789 printer not reachable, 788 not supported,
786 wrong state.

The printer's live view may be seconds older than the order that was just accepted. What follows
such an order is judged by the state that it leads to: by the old one a cancel right after a start
would be refused with "There is no print to cancel", and the print would go on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from printreach.agent.commands.request import CommandRequest, bad_arguments
from printreach.contract.commands import CommandStatus
from printreach.contract.status import Feature, State
from printreach.languages import N_, in_english
from printreach.printers.port import Printer, PrinterRefused, not_supported
from printreach.rules.printers.commands import Action, shows_effect, state_problem

COMMAND_TIMEOUT_S = 25.0
"""Less than the 30 s for which a command is valid."""

T = TypeVar("T")

SHOWS_WITHIN_S: Final = 8.0
"""From the printer's answer to an order until its view shows the effect, or never will."""
ORDER_WAITS_S: Final = 10.0
"""The longest that an order waits for those before it; then the view counts as it is, and a cancel
goes to the printer all the same."""
_LOOK_EVERY_S: Final = 0.05
_MAY_BE_TAKEN: Final = frozenset({CommandStatus.TIMED_OUT, CommandStatus.NOT_CONNECTED})
"""Refusals after which the printer may have taken the order."""
_BEFORE_CANCEL: Final = frozenset({Action.START, Action.CANCEL})
"""A cancel waits for these alone: it has its place in a pause, and before one."""


class PendingOrders:
    """Carries out what changes the state of one printer, and knows what is still to show.

    state: of the printer's live view.
    """

    def __init__(self, state: Callable[[], State]) -> None:
        self._state = state
        self._following: dict[asyncio.Task[bool], Action] = {}
        self._orders: set[asyncio.Task[Any]] = set()
        self._cancels = 0
        self._cancels_so_far = 0

    async def carry_out(self, action: Action, order: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Give an order; it is completed even if the caller disconnects.

        An order that was cut off midway may or may not have reached the printer. Raises
        PrinterRefused, with 786 for a start while a print is being cancelled.
        """
        self._require_no_cancel(action)
        task = asyncio.create_task(order())
        self._orders.add(task)
        task.add_done_callback(self._orders.discard)
        following = asyncio.create_task(self._until_shown(action, task))
        self._following[following] = action
        following.add_done_callback(self._following.pop)
        return await asyncio.shield(task)

    @contextmanager
    def cancelling(self) -> Iterator[None]:
        """Let no start through while the context is open."""
        self._cancels += 1
        self._cancels_so_far += 1
        try:
            yield
        finally:
            self._cancels -= 1

    async def settle_for(self, action: Action) -> None:
        """Wait until what was ordered so far shows, for 10 s at most.

        Raises PrinterRefused (786) for a start where a cancel is under way or came in between: it
        ends whatever was started before it.
        """
        self._require_no_cancel(action)
        cancels = self._cancels_so_far
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ORDER_WAITS_S
        while self._following and (left_s := deadline - loop.time()) > 0:
            await asyncio.wait(self._following, timeout=left_s)
        if cancels != self._cancels_so_far:
            self._require_no_cancel(action, has_come=True)

    def require_state(self, action: Action) -> None:
        """Raises PrinterRefused (786) where the action has no place in the state as it shows."""
        wrong = state_problem(action, self._state())
        if wrong is not None:
            raise PrinterRefused(CommandStatus.INVALID_STATE, wrong)

    async def settle_for_cancel(self) -> bool:
        """Wait until the starts and cancels under way show, for 10 s at most.

        True where the printer may have a print that its view does not show.
        """
        waited_for = {
            shown: action for shown, action in self._following.items() if action in _BEFORE_CANCEL
        }
        if waited_for:
            await asyncio.wait(waited_for, timeout=ORDER_WAITS_S)
        starts = [shown for shown, action in waited_for.items() if action is Action.START]
        return any(not shown.done() or shown.cancelled() or shown.result() for shown in starts)

    async def close(self) -> None:
        tasks = [*self._orders, *self._following]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _require_no_cancel(self, action: Action, *, has_come: bool = False) -> None:
        if action is Action.START and (self._cancels or has_come):
            raise PrinterRefused(
                CommandStatus.INVALID_STATE,
                N_("A print is being cancelled; start again after that."),
            )

    async def _until_shown(self, action: Action, order: asyncio.Task[T]) -> bool:
        """Return whether the printer may have taken the order."""
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        while not shows_effect(action, self._state()):
            if order.done() and _is_refused(order):
                return False
            if order.done() and deadline is None:
                deadline = loop.time() + SHOWS_WITHIN_S
            if deadline is not None and loop.time() >= deadline:
                return True
            await asyncio.sleep(_LOOK_EVERY_S)
        return True


def _is_refused(order: asyncio.Task[T]) -> bool:
    if order.cancelled():
        return False
    why = order.exception()
    return isinstance(why, PrinterRefused) and why.status not in _MAY_BE_TAKEN


class OrderGate:
    """Lets orders through to one printer. pending: those whose effect doesn't show yet."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self.pending = PendingOrders(lambda: printer.view.job.state)

    async def check(
        self, problem: str | None, feature: Feature | None, action: Action | None
    ) -> None:
        """751, then 785 / 787 / 789, then 788, then 786 by what earlier orders lead to."""
        if problem is not None:
            raise bad_arguments(problem)
        self.require_reachable()
        if feature is not None and feature not in self._printer.view.features:
            raise not_supported(N_("This printer can't do that."))
        if action is not None:
            await self.pending.settle_for(action)
            self.require_reachable()
            self.pending.require_state(action)

    async def give(
        self,
        request: CommandRequest,
        action: Action | None,
        order: Callable[[], Coroutine[Any, Any, T]],
    ) -> T:
        """Give the printer an order that may still be given.

        action: None where it changes no state.
        """
        request.begin_to_act()
        if action is None:
            return await within(order())
        return await self.pending.carry_out(action, lambda: within(order()))

    def require_reachable(self) -> None:
        trouble = self._printer.view.trouble
        if trouble is not None:
            raise PrinterRefused(trouble.status, trouble.sentence)


async def within(work: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(COMMAND_TIMEOUT_S):
            return await work
    except TimeoutError:
        raise PrinterRefused(
            CommandStatus.TIMED_OUT,
            in_english(
                "The printer gave no answer in %(seconds)s s.",
                seconds=f"{COMMAND_TIMEOUT_S:.0f}",
            ),
        ) from None
