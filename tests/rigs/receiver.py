"""A server that webhooks are sent to, as well-behaved or as hostile as a test wants it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter
Behave: TypeAlias = Callable[["Received", Writer], Awaitable[bool]]
"""Answers one request; False ends the connection."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """A request as it arrived. headers: by their names in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """The received requests, in order. behave: how it answers from now on."""

    port: int = 0
    behave: Behave = field(default=lambda _, writer: answer(writer, 200))
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    async def serve(self, reader: Reader, writer: Writer) -> None:
        """One connection."""
        self.connections += 1
        try:
            while (one := await _read(reader)) is not None:
                self.received.append(one)
                if not await self.behave(one, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side had enough
        finally:
            writer.close()


async def answer(writer: Writer, status: int, body: bytes = b"ok", *headers: str) -> bool:
    """A plain answer."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    await writer.drain()
    return True


def always(status: int, *headers: str) -> Behave:
    """Answer each request with that."""
    return lambda _, writer: answer(writer, status, b"ok", *headers)


async def hang(_: Received, writer: Writer) -> bool:
    """Say nothing until the other side gives up."""
    await asyncio.wait_for(writer.wait_closed(), 60)
    return False


async def hang_up(_: Received, _writer: Writer) -> bool:
    """Close instead of answering."""
    return False


def server_tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    """For a chain and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver on loopback; leaving cuts off whoever is still connected."""
    receiver = Receiver()
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: Reader, writer: Writer) -> None:
        task = asyncio.create_task(receiver.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(reader: Reader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    line, *fields = head.split("\r\n")[:-2]
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in fields)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(line=line, headers=headers, body=body)
