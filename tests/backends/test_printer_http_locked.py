"""The reason of a refused order while remote control is locked."""

from dataclasses import replace

import pytest

from printreach.contract.errors import REMOTE_LOCKED
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import LinkedPrinter
from tests.backends.test_printer_http import DONE, ONE, inside, says
from tests.relay.loop import on_a_loop


@on_a_loop
async def test_an_order_to_a_locked_printer_is_refused_for_the_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with inside() as here:
        agent = await here.rig.agent(script=says(DONE))
        linked = await here.rig.agents.linked_printer(ONE.printer_id)
        assert linked is not None

        async def locked(_printer_id: str) -> LinkedPrinter:
            return replace(linked, is_locked=True)

        monkeypatch.setattr(here.rig.agents, "linked_printer", locked)

        refusal = PrinterRefusal(606, REMOTE_LOCKED.meaning)
        assert await here.printers.order(ONE, "/resume") == refusal
        assert not agent.asked
