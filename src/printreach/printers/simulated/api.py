"""The simulated printer's own HTTP API, asked as its web page asks it."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import quote

from printreach.contract.commands import CommandStatus
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed, OpenAnswer
from printreach.printers import loose
from printreach.printers.connecting import connect_to
from printreach.printers.port import PrinterRefused, failed, no_such_file
from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

MAX_EVENT_BYTES = 1024 * 1024


class Api:
    def __init__(self, setup: PrinterSetup) -> None:
        self._address = setup.authority
        connect = connect_to(setup.host, setup.port, tls=setup.tls)
        self._fetcher = Fetcher(connect, setup.authority.encode())

    async def close(self) -> None:
        await self._fetcher.close()

    async def statuses(self) -> AsyncIterator[object]:
        """Yield the status now, and each time it changes. Raises PrinterRefused when that ends."""
        with self._as_refusals():
            async with self._fetcher.open(b"GET", b"/events") as answer:
                buffer = bytearray()
                async for chunk in answer.chunks():
                    buffer += chunk
                    if len(buffer) > MAX_EVENT_BYTES:
                        raise failed("The printer's events are too large.")
                    while (end := buffer.find(b"\n\n")) >= 0:
                        event = bytes(buffer[:end])
                        del buffer[: end + 2]
                        for status in _data_of(event):
                            yield status
        raise self._unreachable("it ended its event stream")

    async def order(self, name: str, arguments: dict[str, Any]) -> None:
        """Raises PrinterRefused with the printer's own words."""
        _require_ok(await self._post(name, arguments))

    async def start(self, path: str) -> None:
        """path: below the folder of G-code files."""
        answer = await self._post("print", {"Action": "start", "Path": path})
        if answer.status == 404:
            raise no_such_file(f"gcode/{path}")
        _require_ok(answer)

    async def _post(self, name: str, arguments: dict[str, Any]) -> FetchedAnswer:
        body = json.dumps(arguments).encode()
        with self._as_refusals():
            return await self._fetcher.fetch(b"POST", f"/api/{name}".encode(), [_JSON], body)

    async def files(self) -> list[Any]:
        with self._as_refusals():
            answer = await self._fetcher.fetch(b"GET", b"/api/files")
        _require_ok(answer)
        return loose.items(loose.parsed(answer.body), "Files")

    async def delete(self, path: str) -> None:
        with self._as_refusals():
            answer = await self._fetcher.fetch(b"DELETE", _file_target(path))
        if answer.status == 404:
            raise no_such_file(f"gcode/{path}")
        _require_ok(answer)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[OpenAnswer]:
        with self._as_refusals():
            async with self._fetcher.open(b"GET", _file_target(path)) as answer:
                if answer.status == 404:
                    raise no_such_file(f"gcode/{path}")
                yield answer

    async def upload(self, path: str, size: int | None, chunks: AsyncIterable[bytes]) -> int:
        """Bytes that arrived."""
        with self._as_refusals():
            headers: Headers = [(b"Content-Type", b"text/x.gcode")]
            send = self._fetcher.send(b"PUT", _file_target(path), headers, chunks, length=size)
            async with send as answer:
                body = b"".join([chunk async for chunk in answer.chunks()])
                _require_ok(FetchedAnswer(answer.status, answer.headers, body))
        return loose.count(loose.parsed(body), "SizeBytes") or 0

    @contextmanager
    def _as_refusals(self) -> Iterator[None]:
        """Turn network errors into PrinterRefused."""
        try:
            yield
        except FetchFailed as exc:
            raise self._unreachable(exc.text) from exc

    def _unreachable(self, why: str) -> PrinterRefused:
        sentence = f"The printer at {self._address} can't be reached: {why}."
        return PrinterRefused(CommandStatus.NOT_CONNECTED, sentence)


_JSON = (b"Content-Type", b"application/json")


def _file_target(path: str) -> bytes:
    return b"/api/files/" + quote(path, safe="/").encode("ascii")


def _require_ok(answer: FetchedAnswer) -> None:
    if not 200 <= answer.status < 300:
        words = loose.text(loose.parsed(answer.body), "Error")
        raise failed(words or f"The printer answered {answer.status}.")


def _data_of(event: bytes) -> list[object]:
    lines = [line[5:] for line in event.split(b"\n") if line.startswith(b"data:")]
    return [loose.parsed(b"\n".join(lines))] if lines else []
