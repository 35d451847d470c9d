"""`GET /api/events`: its readers, how it continues, and when it ends."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from litestar.types import Message

from printreach.contract.events import EventType, PrintEvent
from printreach.hub import leases
from printreach.hub.accounts.access_tokens import MadeToken
from printreach.hub.accounts.sessions import NewSession, Visitor
from printreach.hub.prints.fanout import Fanout
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.printers import Printer
from printreach.web import disconnects
from printreach.web.prints import event_stream
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.web.world import ADA, BASE_URL, PASSWORD, WebWorld

QUIET = Visitor(address="192.0.2.1", browser="test")


@dataclass
class Reader:
    """A program at the other end. reads: whether it takes what it is sent."""

    status: int = 0
    text: str = ""
    is_over: bool = False
    sent: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    reads: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> Any:
        return await self.sent.get()

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        match message["type"]:
            case "http.response.start":
                self.status = message["status"]
            case "http.response.body":
                self.text += message.get("body", b"").decode()
                self.is_over = not message.get("more_body", False)
            case "websocket.send":
                self.text += f"data: {message.get('text', '')}\r\n\r\n"
            case "websocket.close":
                self.status, self.is_over = message.get("code", 0), True
            case _:
                pass

    @property
    def event_ids(self) -> list[str]:
        lines = [line for line in self.text.split("\r\n") if line.startswith("data: {")]
        told = [json.loads(line.removeprefix("data: ")) for line in lines]
        return [one["EventId"] for one in told if "EventId" in one]

    async def heard(self, *event_ids: str) -> None:
        await self.until(lambda: self.event_ids == list(event_ids))

    async def begun(self) -> None:
        await self.until(lambda: self.text)

    async def over(self) -> None:
        await self.until(lambda: self.is_over)

    async def until(self, is_so: Any) -> None:
        async with asyncio.timeout(60):
            while not is_so():  # noqa: ASYNC110  # what is looked at tells no event
                await asyncio.sleep(0.01)


@dataclass
class Hall:
    """Ada, her printer, and programs that read."""

    world: WebWorld
    account: Account
    token: MadeToken
    session: str
    running: list["asyncio.Future[None]"] = field(default_factory=list)

    def ask(
        self,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        *,
        kind: str = "http",
        reads: bool = True,
    ) -> Reader:
        """headers: Ada's token, where none are given."""
        given = headers or {"authorization": f"Bearer {self.token.secret}"}
        reader = Reader()
        if reads:
            reader.reads.set()
        if kind == "websocket":
            reader.sent.put_nowait({"type": "websocket.connect"})
        scope: dict[str, Any] = {
            "type": kind,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "https" if kind == "http" else "wss",
            "path": "/api/events",
            "raw_path": b"/api/events",
            "query_string": query.encode(),
            "root_path": "",
            "subprotocols": [],
            "headers": [
                (b"host", b"printreach.example"),
                (b"accept", b"application/json"),
                *((name.encode(), text.encode()) for name, text in given.items()),
            ],
            "client": ("192.0.2.1", 1),
            "server": ("printreach.example", 443),
        }
        if kind == "http":
            scope["method"] = "GET"
        stream = self.world.app(scope, reader.receive, reader.send)  # type: ignore[arg-type]  # ASGI's
        self.running.append(asyncio.ensure_future(stream))
        return reader

    async def happen(self, *event_ids: str) -> None:
        at = self.world.clock.now()
        events = [
            PrintEvent(event_id=one, event_type=EventType.COMPLETE, event_time_sec=0)
            for one in event_ids
        ]
        await self.world.store.write(lambda records: records.events.append("p1", events, at))
        await Fanout(self.world.core, []).fan_out_due()
        await self.world.bus.publish(Notice(Topic.EVENT, self.account.account_id))

    @property
    def cookie(self) -> str:
        return f"__Host-printreach_session={self.session}"


@asynccontextmanager
async def hall(world: WebWorld) -> AsyncIterator[Hall]:
    async with world.app.lifespan():
        account = await world.services.accounts.add(ADA, PASSWORD)
        assert isinstance(account, Account)
        printer = Printer(
            printer_id="p1",
            account_id=account.account_id,
            name="Workbench",
            public_key=b"k" * 32,
            linked_at=NOON,
        )
        await world.store.write(lambda records: records.printers.link(printer))
        made = await world.services.access_tokens.make(account.account_id, "CI", ["events:read"])
        begun = await world.services.signing_in.with_password(ADA, PASSWORD, QUIET)
        assert isinstance(made, MadeToken)
        assert isinstance(begun, NewSession)
        here = Hall(world, account, made, begun.token)
        try:
            yield here
        finally:
            for stream in here.running:
                stream.cancel()
            await asyncio.gather(*here.running, return_exceptions=True)


@contextmanager
def often(monkeypatch: pytest.MonkeyPatch, world: WebWorld) -> Iterator[None]:
    """Beats come quickly."""
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)
    world.services.event_streams.look_every_s = 0.02
    yield


KINDS = pytest.mark.parametrize("kind", ["http", "websocket"])


@KINDS
def test_events_are_read_as_they_happen(world: WebWorld, kind: str) -> None:
    async def read() -> None:
        async with hall(world) as here:
            await here.happen("event-001")
            reader = here.ask("after=event-001", kind=kind)
            await reader.until(lambda: reader.text)
            await here.happen("event-002", "event-003")
            await reader.heard("event-002", "event-003")

    asyncio.run(read())


@KINDS
def test_a_session_of_the_person_reads_too(world: WebWorld, kind: str) -> None:
    async def read() -> None:
        async with hall(world) as here:
            await here.happen("event-001")
            reader = here.ask(
                "after=oldest", {"cookie": here.cookie, "origin": BASE_URL}, kind=kind
            )
            await reader.heard("event-001")

    asyncio.run(read())


@on_a_loop
async def test_a_browser_resumes_by_itself_from_what_it_heard_last(world: WebWorld) -> None:
    async with hall(world) as here:
        await here.happen("event-001", "event-002", "event-003")
        bearer = f"Bearer {here.token.secret}"
        reader = here.ask(
            "after=event-001", {"authorization": bearer, "last-event-id": "event-002"}
        )
        await reader.heard("event-003")

        assert "id: event-003\r\n" in reader.text
        assert "event: event\r\n" in reader.text


@pytest.mark.parametrize(
    "credentials",
    [
        {"x-none": "1"},
        {"authorization": "Bearer prt_nonsense"},
        {"authorization": "Bearer "},
        {"authorization": "Basic cHJ0Xzp4"},
        {"cookie": "__Host-printreach_session=nonsense"},
    ],
)
def test_nobody_reads_without_a_token_or_a_session(
    world: WebWorld, credentials: dict[str, str]
) -> None:
    async def read() -> list[Reader]:
        async with hall(world) as here:
            await here.happen("event-001")
            readers = [
                here.ask("after=oldest", credentials),
                here.ask("after=oldest", {"origin": BASE_URL, **credentials}, kind="websocket"),
            ]
            for reader in readers:
                await reader.over()
            return readers

    stream, socket = asyncio.run(read())

    assert stream.status == 401
    assert socket.status == 4401
    assert "event-001" not in stream.text + socket.text


@on_a_loop
async def test_a_token_for_something_else_opens_nothing(world: WebWorld) -> None:
    async with hall(world) as here:
        other = "prt_" + secrets.token_hex(16)
        reader = here.ask(headers={"authorization": f"Bearer {other}"})
        await reader.over()

        assert reader.status == 401


@on_a_loop
async def test_another_site_opens_no_socket_with_a_persons_cookie(world: WebWorld) -> None:
    async with hall(world) as here:
        reader = here.ask(
            headers={"cookie": here.cookie, "origin": "https://own-a.tunnel.example"},
            kind="websocket",
        )
        await reader.over()

        assert reader.text == ""


@KINDS
def test_an_event_that_is_not_kept_is_told_clearly(world: WebWorld, kind: str) -> None:
    async def read() -> Reader:
        async with hall(world) as here:
            await here.happen("event-001")
            reader = here.ask("after=event-000", kind=kind)
            await reader.over()
            return reader

    reader = asyncio.run(read())

    assert reader.status == {"http": 410, "websocket": 4410}[kind]
    assert "after=oldest" in reader.text


@KINDS
@pytest.mark.parametrize("way", ["token", "session", "account"])
def test_a_stream_ends_when_its_reader_may_read_no_more(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    async def read() -> None:
        async with hall(world) as here:
            by_cookie = {"cookie": here.cookie, "origin": BASE_URL} if way == "session" else None
            reader = here.ask("after=oldest", by_cookie, kind=kind)
            await here.happen("event-001")
            await reader.heard("event-001")
            account_id = here.account.account_id
            match way:
                case "token":
                    await world.services.access_tokens.end(account_id, here.token.token.token_id)
                case "session":
                    await world.services.sessions.end_with_token(here.session)
                case _:
                    await world.services.accounts.delete(ADA)
            await reader.over()
            await here.happen("event-002")
            assert reader.event_ids == ["event-001"]

    with often(monkeypatch, world):
        asyncio.run(read())


@KINDS
def test_a_quiet_stream_says_now_and_then_that_it_is_there(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async def read() -> None:
        async with hall(world) as here:
            reader = here.ask(kind=kind)
            mark = {"http": ": beat", "websocket": "data: {}"}[kind]
            await reader.until(lambda: reader.text.count(mark) > 3)

    with often(monkeypatch, world):
        asyncio.run(read())


@pytest.mark.slow
@on_a_loop
async def test_a_reader_that_takes_nothing_holds_up_nobody(world: WebWorld) -> None:
    async with hall(world) as here:
        stuck = [here.ask("after=oldest", kind=kind, reads=False) for kind in ("http", "websocket")]
        reader = here.ask("after=oldest")
        for number in range(100):
            await here.happen(f"event-{number:03d}")
        await reader.heard(*(f"event-{number:03d}" for number in range(100)))

        assert [one.text for one in stuck] == ["", ""]


@on_a_loop
async def test_a_reader_that_takes_nothing_for_too_long_is_ended(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disconnects, "SENT_WITHIN_S", 0.05)
    async with hall(world) as here:
        readers = [here.ask("after=oldest", kind=kind) for kind in ("http", "websocket")]
        for reader in readers:
            await reader.begun()
            reader.reads.clear()
        await here.happen("event-001")
        async with asyncio.timeout(60):
            await asyncio.gather(*here.running)

        assert [reader.event_ids for reader in readers] == [[], []]


@on_a_loop
async def test_a_stream_that_is_left_gives_its_room_back(world: WebWorld) -> None:
    async with hall(world) as here:
        await here.happen("event-001")
        for _ in range(3):
            readers = [here.ask("after=oldest", kind="websocket") for _ in range(20)]
            for reader in readers:
                await reader.heard("event-001")
            over = here.ask("after=oldest", kind="websocket")
            await over.over()
            assert over.status == 4429
            for reader in readers:
                reader.sent.put_nowait({"type": "websocket.disconnect", "code": 1000})
            await asyncio.wait(here.running, timeout=60)


@on_a_loop
async def test_a_token_says_when_it_was_used_last(world: WebWorld) -> None:
    async with hall(world) as here:
        at = world.clock.advance(timedelta(hours=1))
        await here.happen("event-001")
        await here.ask("after=oldest").heard("event-001")
        [token] = await world.services.access_tokens.of_account(here.account.account_id)

        assert token.used_at == at
