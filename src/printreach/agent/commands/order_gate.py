"""The checks before an order, and how it is given to the printer.

Checks come in this order: 751 arguments, 785 / 787 / 789 printer not reachable, 788 not supported,
786 wrong state.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from printreach.agent.commands.pending_orders import PendingOrders
from printreach.agent.commands.request import CommandRequest, bad_arguments
from printreach.contract.commands import CommandStatus
from printreach.contract.status import Feature
from printreach.languages import N_, in_english
from printreach.printers.port import Printer, PrinterRefused, not_supported
from printreach.rules.printers.commands import Action

COMMAND_TIMEOUT_S = 25.0
"""Less than the 30 s for which a command is valid."""

T = TypeVar("T")


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
