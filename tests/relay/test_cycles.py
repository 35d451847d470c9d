"""Requests leave no reference cycles, which would keep their heads until a garbage collection."""

import gc

from printreach.relay.exchange import PrinterExchange
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay


@on_a_loop
async def test_an_answered_request_is_gone_before_anybody_looks_for_cycles() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer_with_length(b"here"))
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                caller.send(request(access.host, access.bearer))
                await caller.answer()
            left = [one for one in gc.get_objects() if isinstance(one, PrinterExchange)]
        finally:
            gc.enable()

    assert left == []
