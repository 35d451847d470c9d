"""What lasts: streams of events, of pictures and of bytes, and uploads; each ends with its access.

A stream is read in a task of its own while the walk goes on. What it brings is held against whose
it is after each step; when its access has ended, so has the stream by the time that is promised.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from printreach.http1.client import ExchangeFailure
from printreach.http1.fetch import FetchFailed
from printreach.rules.printers.members import Role
from printreach.wire.heads import Headers
from tests.fakes.hasty_loop import settle
from tests.isolation.walk.model import Key, Kind, Tenure
from tests.isolation.walk.probes import COMMANDS, proof_of
from tests.isolation.walk.service import BASE_URL
from tests.isolation.walk.world import PRINTERS, Leak, World, cookie_of
from tests.relay.scripted_agent import SERVICE_HOST, printer_id

MAX_STREAMS: Final = 8
ENDS_WITHIN_S: Final = 31.0
"""Thirty seconds are promised where every notice is lost; the beat of the walk's clock is one."""
_BOUNDARY: Final = "part"


@dataclass(eq=False, kw_only=True)
class Stream:
    """One request whose answer goes on.

    tenure: of the printer that it is of; None where it is of all that the key's person has.
    data: what came and was not looked at yet. ended_because: "" while it is open.
    """

    what: str
    key: Key
    tenure: Tenure | None
    task: asyncio.Task[None] | None = None
    data: bytearray = field(default_factory=bytearray)
    status: int = 0
    ended_because: str = ""
    bad_since: float | None = None

    @property
    def is_open(self) -> bool:
        return not self.ended_because


@dataclass
class Streams:
    """All that are open in the walk. uploads: events that let one go on, by its stream."""

    world: World
    open: list[Stream] = field(default_factory=list)
    uploads: dict[Stream, asyncio.Event] = field(default_factory=dict)

    async def begin(self) -> None:
        """Open one of any kind, with any credential that is good for it."""
        if len(self.open) >= MAX_STREAMS:
            return
        kinds = (Kind.SESSION, Kind.ACCESS_TOKEN, Kind.APP, Kind.SHARED, Kind.OWN_COOKIE, Kind.LIVE)
        key = self.world.pick(self.world.good(*kinds))
        if key is None:
            return
        match key.kind:
            case Kind.SESSION:
                await self._by_browser(key)
            case Kind.ACCESS_TOKEN:
                token = [(b"Authorization", f"Bearer {key.secret}".encode())]
                await self._open("events", key, None, SERVICE_HOST, "/api/events", token)
            case Kind.LIVE:
                path = f"/live/{key.secret}/events"
                await self._open("Live Link", key, key.tenure, SERVICE_HOST, path, [])
            case _:
                await self._by_connection(key)

    def look(self) -> None:
        """Hold what has come against whose it is."""
        for stream in self.open:
            data, stream.data = bytes(stream.data), bytearray()
            if data:
                key, what = stream.key, f"stream of {stream.what} by {stream.key}"
                # These are let in to an account, and may go on where that has the printer again.
                tenure = None if key.kind in (Kind.SESSION, Kind.LIVE) else stream.tenure
                is_live = key.kind is Kind.LIVE
                self.world.look(
                    data,
                    what,
                    key.person,
                    tenure,
                    shows_address=not is_live,
                    shows_shared=key.kind is Kind.SESSION and stream.what != "events",
                )
        self.open = [one for one in self.open if one.is_open]

    def note_ends(self) -> None:
        """Remember since when each has no access any more. Of an upload its end is looked at."""
        for stream in self.open:
            if self._may_go_on(stream) or stream in self.uploads:
                stream.bad_since = None
            elif stream.bad_since is None:
                stream.bad_since = self.world.now()

    def check_ends(self) -> None:
        """What had no access for as long as is promised is over."""
        for stream in self.open:
            since = stream.bad_since
            if stream.is_open and since is not None and self.world.now() - since > ENDS_WITHIN_S:
                raise Leak(f"the stream of {stream.what} by {stream.key} goes on")

    def say_more(self) -> None:
        """Printers go on with every answer that they have not ended."""
        for agent in [one for name in PRINTERS for one in self.world.agents_of(name)]:
            agent.long_answers = [one for one in agent.long_answers if one.reset is None]
            for asked in agent.long_answers:
                asked.stream.send(agent.word.encode())

    async def let_upload_go_on(self) -> None:
        """The file follows, which was to have followed long ago."""
        stream = self.world.pick(list(self.uploads))
        if stream is not None:
            self.uploads.pop(stream).set()
            await settle()
            self._check_uploads(stream)

    async def leave(self) -> None:
        """A caller goes away."""
        stream = self.world.pick(self.open)
        if stream is not None and stream.task is not None:
            stream.task.cancel()
            await asyncio.gather(stream.task, return_exceptions=True)

    async def close(self) -> None:
        """All callers go away."""
        tasks = [stream.task for stream in self.open if stream.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.open.clear()
        self.uploads.clear()

    # --- opening ----------------------------------------------------------------------------------

    async def _by_browser(self, session: Key) -> None:
        own = self.world.pick(self.world.model.seen_by(session.person))
        headers = [cookie_of(session), (b"Accept", b"text/event-stream")]
        kinds = ["events", "list"] + ["page", "webcam", "upload"] * (own is not None)
        kind = self.world.chance.choice(kinds)
        path = f"/printers/{printer_id(own.printer)}" if own is not None else ""
        match kind:
            case "events":
                await self._open(kind, session, None, SERVICE_HOST, "/api/events", headers)
            case "list":
                await self._open(kind, session, None, SERVICE_HOST, "/printers/events", headers)
            case "page":
                await self._open(kind, session, own, SERVICE_HOST, f"{path}/events", headers)
            case "webcam":
                target = f"{path}/webcam/stream"
                await self._open(kind, session, own, SERVICE_HOST, target, headers)
            case _:
                await self._upload(session, own, f"{path}/files")

    async def _by_connection(self, key: Key) -> None:
        proof = proof_of(self.world, key)
        match self.world.chance.randrange(3):
            case 0:
                target = f"{COMMANDS}/webcam/stream"
            case 1:
                target = "/endless"
            case _:
                target = "/socket"
                proof = [*proof, (b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
        await self._open(target, key, key.tenure, key.host, target, proof)

    async def _open(
        self,
        what: str,
        key: Key,
        tenure: Tenure | None,
        host: str,
        target: str,
        headers: Headers,
        body: AsyncIterator[bytes] | None = None,
    ) -> Stream:
        stream = Stream(what=what, key=key, tenure=tenure)
        all_headers = [*self.world.from_somewhere(), *headers]
        reading = self._read(stream, host, target, all_headers, body)
        stream.task = asyncio.create_task(reading)
        self.open.append(stream)
        await settle()
        return stream

    async def _read(
        self,
        stream: Stream,
        host: str,
        target: str,
        headers: Headers,
        body: AsyncIterator[bytes] | None,
    ) -> None:
        fetcher = self.world.service.fetcher(host)
        if body is None:
            opening = fetcher.open(b"GET", target.encode(), headers)
        else:
            opening = fetcher.send(b"POST", target.encode(), headers, body, length=None)
        try:
            async with opening as answer:
                stream.status = answer.status
                async for chunk in answer.chunks():
                    stream.data += chunk
            stream.ended_because = "it is whole"
        except FetchFailed as failed:
            is_late = failed.failure is ExchangeFailure.TIMED_OUT
            stream.ended_because = "nothing came" if is_late else f"it broke: {failed.text}"
        finally:
            stream.ended_because = stream.ended_because or "the caller left"

    async def _upload(self, session: Key, own: Tenure | None, path: str) -> None:
        """A form whose file is long in coming: what is before it has arrived."""
        go_on, mark = asyncio.Event(), f"upload-{self.world.next_number()}.gcode"

        async def form() -> AsyncIterator[bytes]:
            yield (
                f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="before"\r\n\r\nwords\r\n'
            ).encode()
            await go_on.wait()
            yield (
                f"--{_BOUNDARY}\r\nContent-Disposition: form-data; "
                f'name="file"; filename="{mark}"\r\n\r\nG28\r\n--{_BOUNDARY}--\r\n'
            ).encode()

        headers = [
            cookie_of(session),
            (b"Origin", BASE_URL.encode()),
            (b"Content-Type", f"multipart/form-data; boundary={_BOUNDARY}".encode()),
        ]
        stream = await self._open(mark, session, own, SERVICE_HOST, path, headers, form())
        self.uploads[stream] = go_on

    def _check_uploads(self, stream: Stream) -> None:
        """It reaches that printer, where it is still this person's, or again; or none."""
        for one in self.world.arrived():
            if stream.what.encode() in one.asked.target:
                of_now = self.world.model.tenures[one.tenure - 1] if one.tenure else None
                printer = stream.tenure.printer if stream.tenure is not None else None
                is_own = of_now is not None and of_now.may(stream.key.person, Role.CONTROL)
                if not is_own or one.printer != printer:
                    raise Leak(f"{stream.what} by {stream.key} reached {one.printer}")
                if not self.world.is_good(stream.key):
                    raise Leak(f"{stream.what} by {stream.key}, which is signed out")

    def _may_go_on(self, stream: Stream) -> bool:
        if stream.tenure is None:
            return self.world.is_good(stream.key)
        tenure = self.world.model.printers[stream.tenure.printer]
        needed = Role.CONTROL if stream in self.uploads else Role.WATCH
        is_own = tenure is not None and tenure.may(stream.key.person, needed)
        return self.world.is_good(stream.key) and is_own
