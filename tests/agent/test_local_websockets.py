"""WebSockets from the tunnel to the printer: raw bytes behind a handshake that it agreed to."""

import asyncio

import pytest

from printreach.wire.errors import Reason
from printreach.wire.heads import Headers
from tests.agent.beside_printer import beside_printer, eventually, until
from tests.fakes.loop import on_a_loop

HANDSHAKE: Headers = [
    (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZQ=="),
    (b"Sec-WebSocket-Version", b"13"),
]
SWITCHING = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: abc\r\n\r\n"
)


@on_a_loop
async def test_a_handshake_asks_the_printer_for_the_upgrade() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(target=b"/ws?x=1", headers=HANDSHAKE, fin=False, upgrade=True)

        assert await (await rig.printer.accept()).answer(SWITCHING) == (
            b"GET /ws?x=1 HTTP/1.1\r\nHost: app-1.example.org\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\nSec-WebSocket-Version: 13\r\n"
            b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        )
        await until(asked.has_head)
        assert asked.heads == [b"101 Switching Protocols\r\nSec-WebSocket-Accept: abc\r\n"]


@on_a_loop
async def test_behind_a_101_bytes_are_raw_both_ways() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, fin=False, upgrade=True)
        visit = await rig.printer.accept()
        await visit.answer(SWITCHING + b"\x81\x02hi")
        await eventually(lambda: asked.body == b"\x81\x02hi")

        asked.stream.send(b"\x81\x85mask hello")
        assert await visit.receive(12) == b"\x81\x85mask hello"
        visit.send(b"\x81\x03you")
        await eventually(lambda: asked.body == b"\x81\x02hi\x81\x03you")


@on_a_loop
async def test_frames_before_the_101_wait_for_it() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, body=b"first ", fin=False, upgrade=True)
        asked.stream.send(b"second")
        visit = await rig.printer.accept()
        await visit.head()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.03):
                await visit.reader.read(1)

        visit.send(SWITCHING)
        assert await visit.receive(12) == b"first second"
        assert asked.body == b""


@on_a_loop
async def test_a_printer_that_refuses_the_upgrade_never_sees_what_came_behind_it() -> None:
    async with beside_printer() as rig:
        smuggled = b"DELETE /api/files HTTP/1.1\r\nHost: printer\r\n\r\n"
        asked = rig.ask(headers=HANDSHAKE, body=smuggled, fin=False, upgrade=True)
        asked.stream.send(smuggled)
        visit = await rig.printer.accept()
        await visit.answer(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nnever")
        await until(asked.is_whole)
        asked.stream.send(smuggled, fin=True)
        await eventually(lambda: rig.agent.stream_count == 0)

        visit.close()
        assert await visit.end() == b""


@on_a_loop
async def test_a_refusal_that_goes_on_drains_what_came_behind_the_handshake() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, fin=False, upgrade=True)
        visit = await rig.printer.accept()
        await visit.answer(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nne")
        await until(asked.has_head)
        asked.stream.send(b"x" * 1_000_000, fin=True)
        await eventually(lambda: not asked.stream.is_holding)

        visit.send(b"ver")
        await until(asked.is_whole)


@on_a_loop
async def test_the_callers_end_leaves_the_printer_time_for_its_own() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, fin=False, upgrade=True)
        visit = await rig.printer.accept()
        await visit.answer(SWITCHING)
        await until(asked.has_head)

        asked.stream.send(b"bye", fin=True)
        assert await visit.end() == b"bye"
        visit.send(b"good bye")
        visit.close()

        await until(asked.is_whole)
        assert asked.body == b"good bye"
        assert rig.agent.stream_count == 0


@on_a_loop
async def test_the_printers_end_is_passed_on_and_what_follows_is_drained() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, fin=False, upgrade=True)
        visit = await rig.printer.accept()
        await visit.answer(SWITCHING + b"bye")
        visit.close()

        await until(asked.is_whole)
        asked.stream.send(b"x" * 1_000_000, fin=True)
        await eventually(lambda: rig.hub.stream_count == 0)
        await eventually(lambda: rig.agent.stream_count == 0)


@on_a_loop
async def test_a_caller_that_leaves_ends_the_printers_connection() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, fin=False, upgrade=True)
        visit = await rig.printer.accept()
        await visit.answer(SWITCHING)
        await until(asked.has_head)
        asked.stream.reset(Reason.CANCELLED)

        await visit.end()


@on_a_loop
async def test_a_printer_that_crashes_breaks_the_stream() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(headers=HANDSHAKE, fin=False, upgrade=True)
        visit = await rig.printer.accept()
        await visit.answer(SWITCHING)
        await until(asked.has_head)
        visit.reset()

        await until(asked.is_over)
        assert [ending.reason for ending in asked.endings] == [Reason.BROKEN]
