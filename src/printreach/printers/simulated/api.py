"""The simulated printer's own HTTP API, asked as its web page asks it.

Every failure is a PrinterRefused; paths are below the folder of G-code files.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import quote

from printreach.http1.fetch import Fetcher, OpenAnswer
from printreach.printers import loose
from printreach.printers.connecting import as_refusals, connect_to, unreachable
from printreach.printers.port import failed, no_such_file
from printreach.printers.setup import PrinterSetup
from printreach.printers.websocket import WebSocketFailed, websocket
from printreach.wire.heads import Headers

SILENCE_S: Final = 30.0
"""The printer answers a ping within this time, or is lost."""
MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024
_JSON: Final[Headers] = [(b"Content-Type", b"application/json")]
_G_CODE: Final[Headers] = [(b"Content-Type", b"text/x.gcode")]


class Api:
    def __init__(self, setup: PrinterSetup) -> None:
        self._where = f"The printer at {setup.authority}"
        self._connect = connect_to(setup.host, setup.port, tls=setup.tls)
        self._url = f"ws://{setup.authority}/ws"
        self._fetcher = Fetcher(self._connect, setup.authority.encode())

    async def close(self) -> None:
        await self._fetcher.close()

    async def statuses(self) -> AsyncIterator[object]:
        """Yield the status now, and each time it changes. Raises PrinterRefused when that ends."""
        try:
            async with websocket(self._connect, self._url) as socket:
                while True:
                    message = loose.parsed(await socket.receive(SILENCE_S))
                    yield loose.obj(message, "Status")
        except WebSocketFailed as exc:
            raise unreachable(self._where, exc.text) from exc

    async def order(self, name: str, **arguments: object) -> None:
        """Carry out an order. Path: of the file that it is about."""
        body, file = json.dumps(arguments).encode(), str(arguments.get("Path", ""))
        await self._ask(b"POST", f"/api/{name}".encode(), body, file)

    async def files(self) -> list[Any]:
        return loose.items(await self._ask(b"GET", b"/api/files"), "Files")

    async def delete(self, path: str) -> None:
        await self._ask(b"DELETE", _target(path), file=path)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[OpenAnswer]:
        with as_refusals(self._where):
            async with self._fetcher.open(b"GET", _target(path)) as answer:
                if answer.status != 200:
                    _json_of(answer.status, await answer.whole(MAX_ANSWER_BYTES), path)
                yield answer

    async def upload(self, path: str, size: int | None, chunks: AsyncIterable[bytes]) -> int:
        """Return how many bytes arrived."""
        with as_refusals(self._where):
            send = self._fetcher.send(b"PUT", _target(path), _G_CODE, chunks, length=size)
            async with send as answer:
                reported = _json_of(answer.status, await answer.whole(MAX_ANSWER_BYTES))
        return loose.size(reported, "SizeBytes") or 0

    async def _ask(self, method: bytes, target: bytes, body: bytes = b"", file: str = "") -> object:
        with as_refusals(self._where):
            answer = await self._fetcher.fetch(method, target, _JSON if body else [], body)
        return _json_of(answer.status, answer.body, file)


def _target(path: str) -> bytes:
    return b"/api/files/" + quote(path, safe="/").encode("ascii")


def _json_of(status: int, body: bytes, file: str = "") -> object:
    """Return the answer's JSON. Raises PrinterRefused, in the printer's own words if it has any.

    file: what isn't there where the status is 404.
    """
    reported = loose.parsed(body)
    if status == 404 and file:
        raise no_such_file(f"gcode/{file}")
    if not 200 <= status < 300:
        raise failed(loose.text(reported, "Error") or f"The printer answered {status}.")
    return reported
