"""Pauses of which no notification is sent."""

from collections.abc import Callable

import pytest

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import State
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter, refusing
from tests.printers.asking import command_calls


class ExpectedPauses:
    """Notes the pauses that are expected, and forgets those that were refused."""

    def __init__(self) -> None:
        self.pauses: list[Pause] = []

    def expect(self, order: Pause) -> Callable[[], None]:
        self.pauses.append(order)
        return lambda: self.pauses.remove(order)


@pytest.mark.parametrize(
    ("arguments", "is_silent"),
    [
        ({}, False),
        ({"SuppressNotification": True}, True),
        ({"SmartPause": True}, True),
        ({"SmartPause": True, "SuppressNotification": False}, False),
        ({"SmartPause": False, "SuppressNotification": False}, False),
    ],
)
@on_a_hasty_loop
async def test_a_pause_is_silent_where_it_says_so_or_is_smart(
    arguments: dict[str, bool], is_silent: bool
) -> None:
    printer, expecting = ScriptedPrinter(), ExpectedPauses()
    printer.be(State.PRINTING)
    async with command_calls(printer, expect_pause=expecting.expect) as calls:
        assert (await calls.post("pause", arguments)).status == 200

    assert [order.is_silent for order in expecting.pauses] == [is_silent]


@on_a_hasty_loop
async def test_a_pause_that_is_refused_silences_nothing() -> None:
    printer, expecting = ScriptedPrinter(), ExpectedPauses()
    async with command_calls(printer, expect_pause=expecting.expect) as calls:
        assert (await calls.post("pause", {"SuppressNotification": True})).status == 786
        assert (await calls.post("pause", {"SuppressNotification": "yes"})).status == 751

    assert expecting.pauses == []


@pytest.mark.parametrize("status", [CommandStatus.EXECUTION_FAILED, CommandStatus.TIMED_OUT])
@on_a_hasty_loop
async def test_a_pause_that_the_printer_refuses_is_expected_no_longer(
    status: CommandStatus,
) -> None:
    printer, expecting = ScriptedPrinter(), ExpectedPauses()
    printer.be(State.PRINTING)
    printer.refusal = refusing(status)
    async with command_calls(printer, expect_pause=expecting.expect) as calls:
        assert (await calls.post("pause", {"SuppressNotification": True})).status == status

    assert expecting.pauses == []
