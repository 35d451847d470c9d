"""An answer that breaks off must not look whole, whatever its framing."""

import asyncio

import pytest

from printreach.wire.errors import Reason
from tests.relay.caller import request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import Asked


def breaks_off(asked: Asked) -> None:
    asked.answer(body=b"half of it", fin=False)
    asyncio.get_running_loop().call_later(0.05, asked.stream.reset, Reason.BROKEN)


@on_a_loop
async def test_an_answer_until_close_that_breaks_off_ends_in_a_reset() -> None:
    """To a caller of HTTP/1.0 a proper close would be the end of a whole answer."""
    async with relay() as rig:
        access = rig.connect()
        await rig.agent(script=breaks_off)
        reader, writer = await asyncio.open_connection("127.0.0.1", rig.port)
        writer.write(request(access.host, access.bearer, version=b"HTTP/1.0"))
        assert (await reader.readuntil(b"half of it")).startswith(b"HTTP/1.1 200")

        with pytest.raises(ConnectionResetError):
            await reader.read()

        writer.close()
