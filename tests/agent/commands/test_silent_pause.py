"""Which pauses nobody is to be notified of."""

import pytest

from printreach.contract.status import State
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import command_calls


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
    printer, silenced = ScriptedPrinter(), []
    printer.be(State.PRINTING)
    async with command_calls(printer, silence_pause=lambda: silenced.append(1)) as calls:
        assert (await calls.post("pause", arguments)).status == 200

    assert bool(silenced) == is_silent


@on_a_hasty_loop
async def test_a_pause_that_is_refused_silences_nothing() -> None:
    printer, silenced = ScriptedPrinter(), []
    async with command_calls(printer, silence_pause=lambda: silenced.append(1)) as calls:
        assert (await calls.post("pause", {"SuppressNotification": True})).status == 786
        assert (await calls.post("pause", {"SuppressNotification": "yes"})).status == 751

    assert silenced == []
