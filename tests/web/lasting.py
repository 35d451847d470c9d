"""A person with two browsers, a printer and lasting answers; and every way to lose access to it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from printreach.hub.accounts.sessions import NewSession, Visitor
from printreach.hub.leases import Access, AccessEnded, Leases
from printreach.rules.accounts import Account
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.printers import Printer
from printreach.store.store import Records
from tests.web.printers.conftest import printing
from tests.web.world import ADA, BASE_URL, PASSWORD, WebWorld

BOB: Final = "bob@example.org"
PRINTER_ID: Final = printer_id_of(b"k" * 32)
VISITOR: Final = Visitor(address="192.0.2.1", browser="test")
UPLOAD_TYPE: Final = b"multipart/form-data; boundary=xyz"
FORM_TYPE: Final = b"application/x-www-form-urlencoded"
UPLOAD: Final = f"/printers/{PRINTER_ID}/files"
FIELD: Final = b'--xyz\r\nContent-Disposition: form-data; name="note"\r\n\r\nthis takes long'
FILE: Final = (
    b'\r\n--xyz\r\nContent-Disposition: form-data; name="file"; filename="foreign.gcode"\r\n'
    b"Content-Type: text/plain\r\n\r\nG28\n"
)
END: Final = b"\r\n--xyz--\r\n"


@dataclass
class Caller:
    """A browser at the other end. goes_on: unless it is set, nothing is taken behind the first
    piece of a body."""

    status: int = 0
    body: bytes = b""
    is_whole: bool = False
    sent: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Future[None] | None" = None

    async def receive(self) -> Any:
        return await self.sent.get()

    async def send(self, message: Any) -> None:
        match message["type"]:
            case "http.response.start":
                self.status = message["status"]
            case "http.response.body":
                self.body += message.get("body", b"")
                self.is_whole = not message.get("more_body", False)
                await self.goes_on.wait()
            case "websocket.send":
                self.body += message["text"].encode()
            case "websocket.close":
                self.is_whole = True
            case _:
                pass

    def uploads(self, data: bytes, *, more: bool = True) -> None:
        self.sent.put_nowait({"type": "http.request", "body": data, "more_body": more})

    @property
    def is_over(self) -> bool:
        return self.is_whole or (self.task is not None and self.task.done())


@dataclass
class Home:
    """Ada is signed in by two browsers, and her printer prints. token: of the first browser."""

    world: WebWorld
    ada: Account
    bob: Account
    printer: Printer
    token: str
    elsewhere: NewSession
    callers: list[Caller] = field(default_factory=list)
    was_refused: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(
        self,
        path: str,
        kind: str = "http",
        method: str = "GET",
        *,
        content_type: bytes = UPLOAD_TYPE,
        is_slow: bool = False,
    ) -> Caller:
        caller = Caller()
        if not is_slow:
            caller.goes_on.set()
        if kind == "websocket":
            caller.sent.put_nowait({"type": "websocket.connect"})
        cookie = f"__Host-printreach_session={self.token}".encode()
        scope: dict[str, Any] = {
            "type": kind,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https" if kind == "http" else "wss",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"path=gcode%2Fa.gcode",
            "root_path": "",
            "subprotocols": [],
            "headers": [
                (b"host", b"printreach.example"),
                (b"origin", BASE_URL.encode()),
                (b"content-type", content_type),
                (b"cookie", cookie),
            ],
            "client": ("192.0.2.1", 1),
            "server": ("printreach.example", 443),
        }
        running = self.world.app(scope, caller.receive, caller.send)  # type: ignore[arg-type]  # ASGI's
        caller.task = asyncio.ensure_future(running)
        self.callers.append(caller)
        return caller

    @property
    def access(self) -> Access:
        return Access(account_id=self.ada.account_id, visitor=VISITOR, session=self.token)


Lose = Callable[[Home], Awaitable[object]]


async def sign_out(here: Home) -> None:
    await here.world.services.sessions.end_with_token(here.token)


async def end_elsewhere(here: Home) -> None:
    kept = here.elsewhere.session.session_id
    await here.world.services.sessions.end_others(here.ada.account_id, kept)


async def change_password(here: Home) -> None:
    session, new = here.elsewhere.session, "another long passphrase"
    changed = await here.world.services.owner.change_password(here.ada, session, PASSWORD, new)
    assert isinstance(changed, str)


async def block(here: Home) -> None:
    at = here.world.clock.now()
    await here.world.store.write(
        lambda records: records.accounts.set_blocked(here.ada.account_id, at)
    )


async def delete(here: Home) -> None:
    await here.world.services.accounts.delete(ADA)


async def remove(here: Home) -> None:
    await here.world.services.printers.remove(PRINTER_ID)


async def relink(here: Home) -> None:
    """In one unit of work, so that nobody sees the printer without an owner."""
    bobs = Printer(
        printer_id=PRINTER_ID,
        account_id=here.bob.account_id,
        name="Bob's",
        public_key=here.printer.public_key,
        linked_at=here.world.clock.now(),
    )

    async def change(records: Records) -> None:
        await records.printers.remove(PRINTER_ID, here.world.clock.now())
        await records.printers.link(bobs)

    await here.world.store.write(change)


OF_ACCOUNT: Final[dict[str, Lose]] = {"it is blocked": block, "it is deleted": delete}
OF_SESSION: Final[dict[str, Lose]] = {
    "signed out": sign_out,
    "session ended elsewhere": end_elsewhere,
    "password changed": change_password,
    **OF_ACCOUNT,
}
OF_PRINTER: Final[dict[str, Lose]] = {"removed": remove, "linked by another account": relink}
LASTING: Final[dict[str, dict[str, Lose]]] = {
    f"/printers/{PRINTER_ID}/events": OF_SESSION | OF_PRINTER,
    f"/printers/{PRINTER_ID}/webcam/stream": OF_SESSION | OF_PRINTER,
    f"/printers/{PRINTER_ID}/webcam/still": OF_SESSION | OF_PRINTER,
    f"/printers/{PRINTER_ID}/files/download": OF_SESSION | OF_PRINTER,
    f"/printers/{PRINTER_ID}/history/prints.csv": OF_SESSION | OF_PRINTER,
    f"/printers/{PRINTER_ID}/history/prints.json": OF_SESSION | OF_PRINTER,
    "/printers/events": OF_SESSION,
    "/activity/prints.csv": OF_SESSION,
    "/activity/prints.json": OF_SESSION,
    "/account/export": OF_SESSION,
    "/api/events": OF_SESSION,
    "websocket /api/events": OF_SESSION,
    "a live link": OF_ACCOUNT | OF_PRINTER,
}
"""What lasts, and what ends it. What is about an account alone goes on without a certain printer;
a Live Link is meant for people without a session."""


@asynccontextmanager
async def home(world: WebWorld, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Home]:
    async with world.app.lifespan():
        ada = await world.services.accounts.add(ADA, PASSWORD)
        bob = await world.services.accounts.add(BOB, PASSWORD)
        begun = await world.services.signing_in.with_password(ADA, PASSWORD, VISITOR)
        elsewhere = await world.services.signing_in.with_password(ADA, PASSWORD, VISITOR)
        assert isinstance(ada, Account)
        assert isinstance(bob, Account)
        assert isinstance(begun, NewSession)
        assert isinstance(elsewhere, NewSession)
        printer = Printer(
            printer_id=PRINTER_ID,
            account_id=ada.account_id,
            name="Workbench",
            public_key=b"k" * 32,
            linked_at=world.clock.now(),
        )
        await world.store.write(lambda records: records.printers.link(printer))
        world.printers.statuses[PRINTER_ID] = printing()
        mjpeg = "multipart/x-mixed-replace; boundary=frame"
        world.printers.raw["/webcam/stream"] = mjpeg, b"--frame\r\n"
        world.printers.raw["/webcam/snapshot"] = "image/jpeg", b"\xff\xd8"
        world.printers.raw["/files/download"] = "application/octet-stream", b"G28\n"
        world.printers.is_endless = True
        here = Home(world, ada, bob, printer, begun.token, elsewhere)
        look = Leases.look

        async def look_and_note(self: Leases, access: Access) -> None:
            try:
                await look(self, access)
            except AccessEnded:
                here.was_refused.set()
                raise

        monkeypatch.setattr(Leases, "look", look_and_note)
        try:
            yield here
        finally:
            tasks = [caller.task for caller in here.callers if caller.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await world.services.close()
