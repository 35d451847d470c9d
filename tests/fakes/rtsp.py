"""A camera that speaks RTSP or RTSPS: JPEG pictures in RTP packets, inside the connection.

As much of RFC 2326 and RFC 2435 as a player needs.
"""

import asyncio
import base64
import io
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from PIL import Image

WIDTH, HEIGHT = 64, 48
PICTURE_S = 0.1
TICKS_A_SECOND = 90_000
PAYLOAD_BYTES = 1200
SDP = (
    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
    "m=video 0 RTP/AVP 26\r\na=control:track0\r\n"
)


@dataclass
class RtspCameraFake:
    """asked: the heads of all requests. port: where it listens."""

    user: str
    password: str
    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def proof(self) -> str:
        pair = f"{self.user}:{self.password}".encode()
        return "Authorization: Basic " + base64.b64encode(pair).decode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.asked.append(head)
                method = head.split(" ", 1)[0]
                writer.write(self._answer(method, head))
                if method == "PLAY":
                    await _play(writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the player has left
        finally:
            writer.close()

    def _answer(self, method: str, head: str) -> bytes:
        sequence = next(line for line in head.split("\r\n") if line.lower().startswith("cseq"))
        lines, body = [sequence], ""
        status = "200 OK"
        if method != "OPTIONS" and self.proof not in head:
            status = "401 Unauthorized"
            lines.append('WWW-Authenticate: Basic realm="camera"')
        elif method == "DESCRIBE":
            body = SDP
            lines += ["Content-Type: application/sdp", f"Content-Length: {len(body)}"]
        elif method == "SETUP":
            lines += ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1", "Session: 1"]
        elif method == "OPTIONS":
            lines.append("Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN")
        return "\r\n".join([f"RTSP/1.0 {status}", *lines, "", body]).encode()


@asynccontextmanager
async def rtsp_camera(
    user: str, password: str, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RtspCameraFake]:
    camera = RtspCameraFake(user, password)
    server = await asyncio.start_server(camera.serve, "127.0.0.1", 0, ssl=tls)
    camera.port = server.sockets[0].getsockname()[1]
    try:
        yield camera
    finally:
        server.close()


async def _play(writer: asyncio.StreamWriter) -> None:
    sequence, ticks, shade = 0, 0, 0
    while True:
        shade = (shade + 40) % 256
        for packet in _packets(shade, sequence, ticks):
            writer.write(b"$\0" + struct.pack(">H", len(packet)) + packet)
            sequence = (sequence + 1) % 65536
        await writer.drain()
        ticks += int(TICKS_A_SECOND * PICTURE_S)
        await asyncio.sleep(PICTURE_S)


def _packets(shade: int, sequence: int, ticks: int) -> list[bytes]:
    """One picture as RTP: the tables travel in the first packet, the scan in all."""
    tables, scan = _jpeg(shade)
    pieces = [scan[at : at + PAYLOAD_BYTES] for at in range(0, len(scan), PAYLOAD_BYTES)]
    packets, offset = [], 0
    for index, piece in enumerate(pieces):
        marker = 0x80 if index == len(pieces) - 1 else 0
        head = struct.pack(">BBHII", 0x80, 26 | marker, (sequence + index) % 65536, ticks, 1)
        where = struct.pack(">IBBBB", offset, 1, 255, WIDTH // 8, HEIGHT // 8)
        inside = struct.pack(">BBH", 0, 0, len(tables)) + tables if index == 0 else b""
        packets.append(head + where + inside + piece)
        offset += len(piece)
    return packets


def _jpeg(shade: int) -> tuple[bytes, bytes]:
    """The quantisation tables and the scan of a picture."""
    file = io.BytesIO()
    Image.new("RGB", (WIDTH, HEIGHT), (shade, 80, 160)).save(file, "JPEG", subsampling="4:2:0")
    data, tables, at = file.getvalue(), b"", 2
    while True:
        marker, size = struct.unpack_from(">HH", data, at)
        segment = data[at + 4 : at + 2 + size]
        at += 2 + size
        if marker == 0xFFDB:
            starts = range(1, len(segment), 65)
            tables += b"".join(segment[start : start + 64] for start in starts)
        if marker == 0xFFDA:
            return tables, data[at:-2]
