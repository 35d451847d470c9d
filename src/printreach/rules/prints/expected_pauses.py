"""Pauses that were ordered and not yet observed: whether to report them, and show a popup."""

from dataclasses import replace
from typing import Final

from printreach.contract.commands import Pause
from printreach.rules.prints import TrackedPrint

SILENCE_S: Final = 60.0
"""A pause that was ordered silently has to be observed within this time."""


def expect_pause(tracked: TrackedPrint, order: Pause, at: float) -> TrackedPrint:
    """Note an order to pause that is silent or shows a popup. at: steady_s of Moment."""
    until = at + SILENCE_S
    has_popup = order.smart_pause and order.show_smart_pause_popup
    memory = replace(
        tracked.memory,
        silent_until=until if order.is_silent else tracked.memory.silent_until,
        popup_until=until if has_popup else tracked.memory.popup_until,
    )
    return replace(tracked, memory=memory)


def forget_pause(
    tracked: TrackedPrint, expected: TrackedPrint, before: TrackedPrint
) -> TrackedPrint:
    """Undo expect_pause, because the printer refused. expected, before: with and without the order.

    Later orders stay, and so does a pause that was observed meanwhile.
    """
    memory, ordered, old = tracked.memory, expected.memory, before.memory
    if memory.silent_until == ordered.silent_until:
        memory = replace(memory, silent_until=old.silent_until)
    if memory.popup_until == ordered.popup_until:
        memory = replace(memory, popup_until=old.popup_until)
    return replace(tracked, memory=memory)


def is_expected(until: float | None, at: float) -> bool:
    """Whether an order is still valid; a clock that was set back ends it."""
    return until is not None and 0 <= until - at <= 2 * SILENCE_S
