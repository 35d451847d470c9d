"""Pauses that were ordered and have not shown yet: whether to tell of them, and a popup."""

from dataclasses import replace
from typing import Final

from printreach.contract.commands import Pause
from printreach.rules.prints import PrintMark

SILENCE_S: Final = 60.0
"""Within this a pause that was ordered silently has to show."""


def expect_pause(mark: PrintMark, order: Pause, at: float) -> PrintMark:
    """A pause is ordered: not to be told of, or to be shown in a popup. at: as in Moment."""
    until = at + SILENCE_S
    has_popup = order.smart_pause and order.show_smart_pause_popup
    memory = replace(
        mark.memory,
        silent_until=until if order.is_silent else mark.memory.silent_until,
        popup_until=until if has_popup else mark.memory.popup_until,
    )
    return replace(mark, memory=memory)


def forget_pause(mark: PrintMark, expected: PrintMark, before: PrintMark) -> PrintMark:
    """The pause that was ordered has been refused. expected, before: with and without the order.

    What has been ordered since then stays, and so does a pause that was seen meanwhile.
    """
    memory, ordered, old = mark.memory, expected.memory, before.memory
    if memory.silent_until == ordered.silent_until:
        memory = replace(memory, silent_until=old.silent_until)
    if memory.popup_until == ordered.popup_until:
        memory = replace(memory, popup_until=old.popup_until)
    return replace(mark, memory=memory)


def is_expected(until: float | None, at: float) -> bool:
    """Whether an order that counts until then still does; a clock that was set back ends it."""
    return until is not None and 0 <= until - at <= 2 * SILENCE_S
