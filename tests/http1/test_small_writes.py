"""Small writes to a caller that is slow to read are joined, and none is lost or reordered."""

import asyncio
import socket
import tracemalloc
from typing import cast

from printreach.http1.small_writes import BACKLOG_BYTES, MAX_HELD_BYTES, SmallWrites
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.relay.loop import on_a_loop
from tests.relay.waiting import until


async def connected() -> tuple[asyncio.Transport, socket.socket]:
    """Return a transport, and a peer that reads nothing by itself."""
    ours, theirs = socket.socketpair()
    for one in (ours, theirs):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        one.setblocking(False)
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
    return transport, theirs


async def read(peer: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        got += await asyncio.get_running_loop().sock_recv(peer, 65_536)
    return got


async def fill(transport: asyncio.Transport) -> int:
    """Write until more is unsent than a caller that reads would leave; return how much."""
    size = 0
    while transport.get_write_buffer_size() <= BACKLOG_BYTES:
        transport.write(bytes(4096))
        size += 4096
        await asyncio.sleep(0)
    return size


@on_a_loop
async def test_a_caller_that_reads_nothing_holds_few_bytes_for_each_byte() -> None:
    transport, peer = await connected()
    with peer:
        output = SmallWrites(transport, asyncio.get_running_loop())
        await fill(transport)

        tracemalloc.start()
        try:
            for _ in range(4 * MAX_HELD_BYTES):
                output.write(b"x")
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        transport.abort()

    assert held < 3 * 4 * MAX_HELD_BYTES


@on_a_loop
async def test_what_was_joined_arrives_in_its_order_once_the_caller_reads() -> None:
    transport, peer = await connected()
    with peer:
        output = SmallWrites(transport, asyncio.get_running_loop())
        filled = await fill(transport)
        written = [b"%d," % number for number in range(100)] + [b"y" * 5000, b"the end"]

        for data in written:
            output.write(data)

        size = filled + sum(map(len, written))
        assert (await read(peer, size))[filled:] == b"".join(written)
        transport.abort()


@on_a_loop
async def test_a_flush_hands_over_what_was_held_before_a_close() -> None:
    transport, peer = await connected()
    with peer:
        output = SmallWrites(transport, asyncio.get_running_loop())
        filled = await fill(transport)

        output.write(b"last words")
        output.flush()
        transport.close()

        assert (await read(peer, filled + 10))[filled:] == b"last words"


@on_a_loop
async def test_a_caller_that_is_gone_is_waited_for_no_longer() -> None:
    transport, peer = await connected()
    with peer:
        output = SmallWrites(transport, asyncio.get_running_loop())
        await fill(transport)
        output.write(b"never read")

        transport.abort()

        await until(lambda: not output.is_waiting)


@on_a_loop
async def test_nothing_is_waited_for_while_a_caller_reads_nothing_and_gets_nothing_more() -> None:
    transport, peer = await connected()
    with peer:
        output = SmallWrites(transport, asyncio.get_running_loop())
        await fill(transport)
        output.write(b"never read")

        await until(lambda: not output.is_waiting)

        assert transport.get_write_buffer_size() > BACKLOG_BYTES
        transport.abort()


class StuckTransport:
    """A transport whose peer reads nothing. written: what it was given."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return BACKLOG_BYTES + 1

    def is_closing(self) -> bool:
        return False


@on_a_hasty_loop
async def test_small_writes_that_go_on_are_joined_for_longer_and_longer() -> None:
    transport = StuckTransport()
    output = SmallWrites(cast("asyncio.Transport", transport), asyncio.get_running_loop())
    for _ in range(6000):
        output.write(b"x")
        await asyncio.sleep(0.01)
    output.flush()

    assert b"".join(transport.written) == b"x" * 6000
    assert len(transport.written) < 100
