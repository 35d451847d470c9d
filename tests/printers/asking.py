"""The command API of one adapter, asked as the relay asks it: through a tunnel, in this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from printreach.agent.commands.api import CommandApi
from printreach.agent.commands.files import FileCommands
from printreach.agent.commands.replay import Replays, ServiceClock
from printreach.agent.commands.request import CommandContext, CommandRequest
from printreach.agent.commands.webcams import CameraHub, WebcamCommands
from printreach.agent.owner_limits import NO_OWNER_LIMITS, OwnerLimits
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract.commands import COMMAND_PREFIX, Pause
from printreach.contract.status import ServiceStatus
from printreach.printers.port import Printer
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.heads import (
    Headers,
    RequestHead,
    decode_request,
    decode_response,
    encode_request,
    get,
)
from printreach.wire.session import Role, Session
from tests.fakes.memory_link import memory_link_pair

Json = dict[str, Any]

ANSWER_S = 30.0


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    http_status: int
    headers: Headers
    body: bytes

    @property
    def envelope(self) -> Json:
        reported: Json = json.loads(self.body)
        return reported

    @property
    def status(self) -> int:
        """`Status` of the envelope."""
        return int(self.envelope["Status"])

    @property
    def error(self) -> str:
        """The sentence that a person reads about a failure."""
        return str(self.envelope["Error"])

    @property
    def result(self) -> Json:
        """Of a command that went well."""
        assert self.status == 200, self.envelope
        reported: Json = self.envelope["Result"]
        return reported


class AskedCommand:
    """The relay's side of one command: sends the body, gathers the answer."""

    def __init__(self) -> None:
        self.stream: Stream
        self.head: bytes | None = None
        self.pieces: list[bytes] = []
        self.is_whole = False
        self.reset: str | None = None
        self._changed = asyncio.Event()

    async def reply(self) -> Reply:
        """The whole answer; a broken one fails the test."""
        async with asyncio.timeout(ANSWER_S):
            while not self.is_whole:
                await self.more()
        assert self.head is not None
        head = decode_response(self.head)
        return Reply(head.status, head.headers, b"".join(self.pieces))

    async def more(self) -> None:
        """Wait until more of the answer is here."""
        assert self.reset is None, f"the answer broke off: {self.reset}"
        self._changed.clear()
        await self._changed.wait()

    async def send(self, chunks: AsyncIterator[bytes]) -> None:
        """Send a body as it comes."""
        async for chunk in chunks:
            while self.stream.is_holding:
                await self.more()
            self.stream.send(chunk)
        self.stream.send(b"", fin=True)

    def leave(self) -> None:
        """Go away in the middle, as a caller does whose connection breaks."""
        self.stream.reset(Reason.BROKEN, "the caller went away")

    def on_interim(self, _head: bytes) -> None:
        pass

    def on_head(self, head: bytes, body: bytes, fin: bool) -> None:
        self.head = head
        self.on_data(body, fin)

    def on_data(self, data: bytes, fin: bool) -> None:
        self.pieces.append(data)
        self.stream.taken(len(data))
        self.is_whole = fin
        self._changed.set()

    def on_writable(self) -> None:
        self._changed.set()

    def on_reset(self, _reason: Reason, text: str) -> None:
        self.reset = text
        self._changed.set()


class _End:
    """Owns one tunnel; the agent's end hands streams to the command API."""

    def __init__(self, role: Role, link: Any, api: CommandApi | None) -> None:
        loop = asyncio.get_running_loop()
        self.tunnel = Tunnel(Session(role, now=loop.time()), link, self)
        self.is_ready = asyncio.Event()
        self._api = api

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        head = decode_request(opened.head)
        assert self._api is not None
        self._api.serve(stream, opened, RequestHead(head.method, head.target, head.headers))

    def on_tunnel_ready(self, _capabilities: frozenset[str]) -> None:
        self.is_ready.set()

    def on_tunnel_message(self, _payload: bytes) -> None: ...
    def on_tunnel_draining(self) -> None: ...
    def on_tunnel_closed(self, _code: CloseCode | int | None, _text: str) -> None: ...


class CommandCalls:
    """Asks one command API. Names of commands are as in the interface, without the first slash."""

    def __init__(self, api: CommandApi) -> None:
        here, there = memory_link_pair()
        self._relay = _End(Role.HUB, here, None)
        self._agent = _End(Role.AGENT, there, api)
        self._relay.tunnel.start()
        self._agent.tunnel.start()

    async def greet(self) -> None:
        """Wait until both ends of the tunnel know each other."""
        await self._relay.is_ready.wait()

    @property
    def relay(self) -> Tunnel:
        """The relay's end of the tunnel, for what no method here asks."""
        return self._relay.tunnel

    async def get(self, command: str, **query: object) -> Reply:
        return await self.ask(b"GET", command, query=query).reply()

    async def post(self, command: str, body: Json | None = None, **query: object) -> Reply:
        data = b"" if body is None else json.dumps(body).encode()
        return await self.ask(b"POST", command, data, query=query).reply()

    async def put(
        self,
        command: str,
        chunks: Iterable[bytes] | AsyncIterator[bytes],
        size: int | None,
        path: str,
    ) -> Reply:
        """An upload. size: what its Content-Length says; None sends none."""
        asked = self.begin_put(command, size, path)
        await asked.send(chunks if isinstance(chunks, AsyncIterator) else _each(chunks))
        return await asked.reply()

    def begin_put(self, command: str, size: int | None, path: str) -> AskedCommand:
        headers = [] if size is None else [(b"Content-Length", b"%d" % size)]
        return self.ask(b"PUT", command, None, query={"path": path}, headers=headers)

    def ask(
        self,
        method: bytes,
        command: str,
        body: bytes | None = b"",
        *,
        query: Json | None = None,
        headers: Headers | None = None,
    ) -> AskedCommand:
        """Begin a command. body: None when it follows."""
        target = COMMAND_PREFIX + b"/" + command.encode()
        if query:
            target += b"?" + urlencode(query).encode()
        fields = [(b"Host", b"printer"), *(headers or [])]
        asked = AskedCommand()
        head = encode_request(method, target, fields)
        asked.stream = self._relay.tunnel.open(asked, head, body or b"", fin=body is not None)
        return asked

    def close(self) -> None:
        self._relay.tunnel.close(CloseCode.NORMAL, "the test is over")


@asynccontextmanager
async def command_calls(
    printer: Printer,
    clock: ServiceClock | None = None,
    expect_pause: Callable[[Pause], Callable[[], None]] = lambda _: lambda: None,
    limits: OwnerLimits = NO_OWNER_LIMITS,
    remote_lock: RemoteLock | None = None,
    temperatures: TemperatureRecorder | None = None,
) -> AsyncIterator[CommandCalls]:
    """The command API in front of an adapter that runs. clock: None never heard the service's."""
    now = asyncio.get_running_loop().time
    cameras = CameraHub(printer, [], now)
    outside = CommandContext(
        clock=clock or ServiceClock(now),
        replays=Replays(now),
        service_status=ServiceStatus,
        temperatures=temperatures or TemperatureRecorder(printer, now),
        expect_pause=expect_pause,
        limits=limits,
        remote_lock=remote_lock or RemoteLock(),
    )
    api = CommandApi(printer, FileCommands(printer), WebcamCommands(cameras), _no_log, outside)
    calls = CommandCalls(api)
    await calls.greet()
    try:
        yield calls
    finally:
        await api.close()
        await cameras.close()
        calls.close()


async def _no_log(_request: CommandRequest) -> None:
    raise AssertionError("the log is no matter of the printer")


async def _each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def parts_of_stream(asked: AskedCommand) -> int:
    """Return the number of pictures that came from a webcam's stream."""
    assert asked.head is not None
    kind = get(decode_response(asked.head).headers, b"content-type") or b""
    boundary = b"--" + kind.rpartition(b"boundary=")[2]
    return b"".join(asked.pieces).count(boundary)
