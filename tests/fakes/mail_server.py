"""A mail server that takes what it is told to take."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class FakeMailServer:
    """refusals: answers to RCPT before it takes one. busy: so many mails it does not want now."""

    port: int = 0
    busy: int = 0
    refusals: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 fake\r\n")
        while line := (await reader.readline()).decode().strip():
            self.said.append(line)
            writer.write((await self._answer(line, reader, writer)).encode() + b"\r\n")
            if line == "quit":
                break
        writer.close()

    async def _answer(
        self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> str:
        match line.split(":")[0].split()[0].lower():
            case "ehlo":
                return "250-fake\r\n250 AUTH PLAIN"
            case "auth":
                return "235 in"
            case "rcpt" if self.refusals:
                return self.refusals.pop(0)
            case "mail" if self.busy:
                self.busy -= 1
                return "451 later"
            case "data":
                writer.write(b"354 go on\r\n")
                self.mails.append((await reader.readuntil(b"\r\n.\r\n")).decode())
                return "250 taken"
            case "quit":
                return "221 bye"
            case _:
                return "250 well"


@asynccontextmanager
async def mail_server(*refusals: str) -> AsyncIterator[FakeMailServer]:
    """One on a free port."""
    fake = FakeMailServer(refusals=list(refusals))
    server = await asyncio.start_server(fake._talk, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()
