"""The camera port: TLS, 80 bytes of greeting, then pictures."""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.printers.film import picture

PICTURE_S = 0.05


class CameraPort:
    """greetings: what clients have sent."""

    def __init__(self, access_code: str) -> None:
        self._code = access_code.encode().ljust(32, b"\0")
        self.greetings: list[bytes] = []

    async def show(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            greeting = await reader.readexactly(80)
            self.greetings.append(greeting)
            number = 0
            while greeting[48:] == self._code:
                number += 1
                data = picture(number)
                writer.write(struct.pack("<IIII", len(data), 0, 1, 0))
                writer.write(data)
                await writer.drain()
                await asyncio.sleep(PICTURE_S)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has seen enough
        finally:
            writer.close()


@asynccontextmanager
async def camera_port_at(
    port: int, certificate: Path, key: Path, access_code: str
) -> AsyncIterator[CameraPort]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    camera_port = CameraPort(access_code)
    server = await asyncio.start_server(camera_port.show, "127.0.0.1", port, ssl=context)
    try:
        yield camera_port
    finally:
        server.close()
