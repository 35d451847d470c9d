"""Browsers at the other ends of the event streams of pages."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from litestar.types import Message

from printreach.hub.accounts.sessions import NewSession, Visitor
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.printers import Printer
from printreach.web.draining import DrainMiddleware
from printreach.web.printers.open_pages import SharedBy
from tests.web.printers.conftest import printing
from tests.web.world import ADA, PASSWORD, WebWorld

PRINTER_ID = printer_id_of(b"k" * 32)
QUIET = Visitor(address="192.0.2.1", browser="test")


@dataclass
class Listener:
    """A browser at the other end of a stream."""

    status: int = 0
    text: str = ""
    is_over: bool = False
    leave: asyncio.Event = field(default_factory=asyncio.Event)
    reads: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> Message:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.text += message.get("body", b"").decode()
            self.is_over = not message.get("more_body", False)

    def events(self) -> list[tuple[str, dict[str, str]]]:
        blocks = [block for block in self.text.split("\r\n\r\n") if "data: " in block]
        lines = [dict(line.split(": ", 1) for line in block.split("\r\n")) for block in blocks]
        return [(line["event"], json.loads(line["data"])) for line in lines]

    def cards(self) -> list[str]:
        return [part for part in self.parts() if "<article" in part]

    def parts(self) -> list[str]:
        return [data["html"] for kind, data in self.events() if kind == "part"]


@dataclass
class Hall:
    """token: of Ada's session."""

    world: WebWorld
    app: DrainMiddleware
    token: str
    account_id: str
    running: list["asyncio.Task[None]"] = field(default_factory=list)

    def listen(
        self,
        path: str = "/printers/events",
        *,
        reads: bool = True,
        language: str = "en",
        token: str = "",
    ) -> Listener:
        """Open a stream. language: the browser's. token: of the session, Ada's if not given."""
        listener = Listener()
        if reads:
            listener.reads.set()
        cookie = f"__Host-printreach_session={token or self.token}".encode()
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "https",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (b"host", b"printreach.example"),
                (b"cookie", cookie),
                (b"accept-language", language.encode()),
            ],
            "client": ("192.0.2.1", 1),
            "server": ("printreach.example", 443),
        }
        stream = self.app(scope, listener.receive, listener.send)  # type: ignore[arg-type]  # ASGI's
        self.running.append(asyncio.ensure_future(stream))
        return listener

    @property
    def watched(self) -> int:
        return self.world.services.live_status.subscribed_count


@asynccontextmanager
async def hall(world: WebWorld) -> AsyncIterator[Hall]:
    """Ada is signed in, and her printer prints."""
    async with world.app.lifespan():
        account = await world.services.accounts.add(ADA, PASSWORD)
        at = world.clock.now()
        printer = Printer(
            printer_id=PRINTER_ID,
            account_id=account.account_id,  # type: ignore[union-attr]  # she is new
            name="Workbench",
            public_key=b"k" * 32,
            linked_at=at,
        )
        await world.store.write(lambda records: records.printers.link(printer))
        world.printers.statuses[PRINTER_ID] = printing()
        begun = await world.services.signing_in.with_password(ADA, PASSWORD, QUIET)
        assert isinstance(begun, NewSession)
        here = Hall(world, DrainMiddleware(world.app), begun.token, printer.account_id)
        try:
            yield here
        finally:
            here.app.end_all()
            await asyncio.gather(*here.running, return_exceptions=True)
            await world.services.live_status.close()


def shared_by(account_id: str) -> SharedBy:
    return SharedBy(account_id=account_id, name="list")
