"""Chunked uploads that are cut into tiny chunks: all arrive, and nobody waits for them long."""

import asyncio
from typing import Any

import pytest

from printreach.http1.chunked import LAST_CHUNK, encode_chunk
from printreach.relay.connection import MAX_CHUNKS_A_TURN, FrontConnection, IncomingRequest
from printreach.relay.timeouts import Timeouts
from printreach.wire.errors import Reason
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import answer_with_size_of_body, ignore
from tests.relay.waiting import until

CHUNKED = b"Transfer-Encoding: chunked"
LINES = [b"G1 X%d\n" % number for number in range(20_000)]


@pytest.mark.parametrize("ends_its_side", [False, True])
@on_a_loop
async def test_an_upload_of_a_chunk_for_each_short_line_arrives_whole(ends_its_side: bool) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=answer_with_size_of_body)
        head = request(access.host, access.bearer, CHUNKED, method=b"POST")
        caller.send(head + b"".join(map(encode_chunk, LINES)) + LAST_CHUNK)
        if ends_its_side:
            caller.half_close()
        else:
            caller.send(request(access.host, access.bearer, target=b"/next"))

        assert (await caller.answer()).status == 200
        assert (await agent.next()).body == b"".join(LINES)
        if not ends_its_side:
            assert (await caller.answer()).status == 200


@on_a_loop
async def test_an_upload_of_tiny_chunks_that_breaks_off_is_not_taken_as_whole() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        head = request(access.host, access.bearer, CHUNKED, method=b"POST")
        caller.send(head + encode_chunk(b"x") * 10_000)
        caller.half_close()
        asked = await agent.next()

        await until(lambda: asked.reset is Reason.CANCELLED)
        assert not asked.is_complete


class Transport(asyncio.Transport):
    """The transport of a caller that sends as fast as it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = True
        self.is_aborted = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def abort(self) -> None:
        self.is_aborted = True


class Upload:
    """The relay behind one connection, and the handler of its only request: an upload."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.timeouts = Timeouts()
        self.is_serving = True
        self.parts: list[int] = []  # the bytes of each part that was reported
        self.holds_after = self.fails_after = 1_000_000
        self.is_whole = self.is_gone = False
        self.connection: FrontConnection

    def now(self) -> float:
        return self.loop.time()

    def remember(self, connection: FrontConnection) -> bool:
        self.connection = connection
        return True

    def forget(self, connection: FrontConnection) -> None: ...

    def dispatch(self, incoming: IncomingRequest) -> "Upload":
        self.on_body(incoming.body, incoming.fin)
        return self

    def on_body(self, data: bytes, fin: bool) -> None:
        if sum(self.parts) >= self.fails_after:
            raise RuntimeError("no more")
        self.parts.append(len(data))
        self.is_whole = fin
        if sum(self.parts) >= self.holds_after:
            self.connection.pause()

    def on_caller_gone(self) -> None:
        self.is_gone = True


def begin_upload(data: bytes) -> tuple[Upload, FrontConnection, Transport]:
    """Let an upload of one byte in each chunk begin by one read."""
    upload: Any = Upload()
    connection, transport = FrontConnection(upload, None), Transport()
    connection.connection_made(transport)
    connection.data_received(request(b"a.example", CHUNKED, method=b"POST") + data)
    return upload, connection, transport


@on_a_loop
async def test_other_connections_get_a_turn_after_some_chunks() -> None:
    upload, _, transport = begin_upload(encode_chunk(b"x") * 20_000 + LAST_CHUNK)
    assert not transport.is_read
    parts = []
    while not upload.is_whole:
        parts.append(len(upload.parts))
        await asyncio.sleep(0)

    assert set(upload.parts[:-1]) == {MAX_CHUNKS_A_TURN}
    assert sum(upload.parts) == 20_000
    assert parts == list(range(1, len(parts) + 1))  # one part in each turn of the loop
    assert transport.is_read


@on_a_loop
async def test_a_handler_that_has_no_room_is_told_no_more_of_the_body() -> None:
    upload, connection, transport = begin_upload(encode_chunk(b"x") * 10)
    upload.holds_after = MAX_CHUNKS_A_TURN
    connection.data_received(encode_chunk(b"x") * 5_000)
    connection.data_received(encode_chunk(b"x"))  # what had come before reading was paused
    for _ in range(10):
        await asyncio.sleep(0)
    assert upload.parts == [10, MAX_CHUNKS_A_TURN]
    assert not transport.is_read

    upload.holds_after = 1_000_000
    connection.resume()
    connection.resume()
    assert upload.parts == [10, MAX_CHUNKS_A_TURN]
    await until(lambda: sum(upload.parts) == 5_011)
    assert set(upload.parts[1:-1]) == {MAX_CHUNKS_A_TURN}
    assert transport.is_read


@on_a_loop
async def test_a_mistake_in_a_later_part_ends_the_upload() -> None:
    upload, _, transport = begin_upload(encode_chunk(b"x") * 3_000 + b"no size\r\n")
    await until(lambda: transport.is_aborted)

    assert upload.is_gone
    assert not upload.is_whole


@on_a_loop
async def test_a_handler_that_fails_at_a_later_part_gets_no_others() -> None:
    upload, _, transport = begin_upload(encode_chunk(b"x") * 3_000 + LAST_CHUNK)
    upload.fails_after = MAX_CHUNKS_A_TURN
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    await until(lambda: transport.is_aborted)

    assert upload.is_gone
    assert not upload.is_whole


@on_a_loop
async def test_a_caller_is_not_timed_out_while_its_upload_waits_for_the_handler() -> None:
    upload, connection, transport = begin_upload(encode_chunk(b"x") * 5_000)
    connection.pause()
    assert connection.eof_received()
    connection.sweep(upload.now() + 10 * upload.timeouts.body)
    assert not transport.is_aborted

    connection.resume()
    await until(lambda: upload.is_gone)
    assert not upload.is_whole
