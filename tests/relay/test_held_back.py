"""What was held back for a slow caller is sent before its connection is closed or given up."""

import asyncio
from types import SimpleNamespace
from typing import Any

from printreach.http1.small_writes import BACKLOG_BYTES
from printreach.relay.connection import FrontConnection
from printreach.relay.timeouts import Timeouts
from tests.relay.loop import on_a_loop


class SlowTransport(asyncio.Transport):
    """A transport whose peer reads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.calls.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return BACKLOG_BYTES + 1

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def is_closing(self) -> bool:
        return "close" in self.calls

    def close(self) -> None:
        self.calls.append("close")


def connected() -> tuple[FrontConnection, SlowTransport]:
    front: Any = SimpleNamespace(
        loop=asyncio.get_running_loop(),
        timeouts=Timeouts(),
        now=lambda: 0.0,
        remember=lambda _: True,
        forget=lambda _: None,
    )
    connection, transport = FrontConnection(front, None), SlowTransport()
    connection.connection_made(transport)
    return connection, transport


@on_a_loop
async def test_it_is_sent_before_the_connection_is_closed() -> None:
    connection, transport = connected()

    connection.write(b"the end of an answer")
    connection.close_raw()

    assert transport.calls == [b"the end of an answer", "close"]


@on_a_loop
async def test_it_is_sent_before_another_protocol_takes_the_connection() -> None:
    connection, transport = connected()

    connection.write(b"the end of an answer")
    connection.detach()

    assert transport.calls == [b"the end of an answer"]
