"""The memory of idle callers between two requests; there may be thousands."""

import gc
import tracemalloc
from contextlib import AsyncExitStack

import pytest

from printreach.http1.heads import MAX_HEAD_BYTES
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay

CALLERS = 20
MANY_LINES = b"\r\n".join(b"%c%c: %c%c" % (97 + i % 26, 98, 99 + i % 20, 100) for i in range(3900))


@pytest.mark.slow
@on_a_loop
async def test_an_idle_caller_keeps_no_more_memory_than_a_few_heads() -> None:
    async with relay() as rig, AsyncExitStack() as stack:
        access = rig.connect()
        agent = await rig.agent(script=lambda asked: asked.answer_with_length(b"here"))
        head = request(access.host, access.bearer + b"\r\n" + MANY_LINES)
        assert len(head) > 0.9 * MAX_HEAD_BYTES
        tracemalloc.start()
        try:
            for _ in range(CALLERS):
                caller = await stack.enter_async_context(calling(rig.port))
                caller.send(head)
                assert (await caller.answer()).body == b"here"
                agent.asked.clear()
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert held / CALLERS < 4 * MAX_HEAD_BYTES
