"""Thousands of agents in one process, which sign in, print, tell events and answer requests.

    python -m bench.fleet.agents '{"first": 0, "count": 5000, "host": "localhost:8080", ...}'

They dial relays directly, any of those that accept, as a balancer would have it. Every line of JSON
that comes on the control socket, a Command or null, is answered with one.
"""

import asyncio
import random
import sys
import time
from collections import Counter
from itertools import count, islice
from typing import Final

import msgspec
import uvloop
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from picows import WSError, ws_connect

from bench.idle_agents import TUNNEL_PATH, IdleAgent, keys_of
from printreach.agent.service_connection import CAPABILITIES
from printreach.agent.uplink import STEADY_S
from printreach.contract import codec, signin
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import State
from printreach.rules.printers import RECONNECT
from printreach.tunnel.stream import Stream
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.frames import MAX_MESSAGE_BYTES
from printreach.wire.heads import decode_request_line, encode_response
from tests.detector.images import scene, written
from tests.fakes.printer_http import status_of

AT_ONCE: Final = 50
"""Agents that sign in for the first time. Those that come back after a loss don't wait."""
SIGN_IN_S: Final = 12.0
PICTURES_A_SECOND: Final = 10
PICTURE: Final = written(scene())
_PART: Final = b"--frame\r\nContent-Type: image/jpeg\r\n\r\n" + PICTURE + b"\r\n"
_SMALL: Final = b'{"result": "%s"}' % (b"." * 1000)


class Agents(msgspec.Struct, frozen=True, kw_only=True):
    """first: the number of the first one's key. host: the service's. relays: their ports."""

    first: int
    count: int
    host: str
    relays: list[int]
    control: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """relays: from now on these. printing: so many of the first print from now on.

    events_a_second: from the printers from `first` to before `end`, in turn, until the next
    command.
    """

    relays: list[int] | None = None
    printing: int | None = None
    events_a_second: float = 0.0
    first: int = 0
    end: int = 0


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """online: signed in now. dials, arrivals: in each second of the monotonic clock."""

    online: int
    events_stored: int
    pictures: int
    dials: dict[int, int]
    arrivals: dict[int, int]


class Fleet:
    """All agents of this process, and what they have done."""

    def __init__(self, agents: Agents) -> None:
        self.agents = agents
        self.relays = agents.relays
        self.turn = asyncio.Semaphore(AT_ONCE)
        self.online: dict[int, FleetAgent] = {}
        self.printing = 0
        self.events_stored = self.pictures = 0
        self.dials: Counter[int] = Counter()
        self.arrivals: Counter[int] = Counter()
        self._numbers = count()
        self._telling: asyncio.Task[None] | None = None

    async def on_control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            command = msgspec.json.decode(line, type=Command | None)
            if command is not None:
                self._do(command)
            writer.write(msgspec.json.encode(self._told()) + b"\n")
            await writer.drain()
        writer.close()

    async def keep(self, number: int, key: Ed25519PrivateKey) -> None:
        """Keep one agent connected, with the pauses of real ones."""
        failures = 0
        while True:
            began_at = time.monotonic()
            try:
                if failures:
                    agent = await self._connect(number, key)
                else:
                    async with self.turn:
                        agent = await self._connect(number, key)
                self.online[number] = agent
                self.arrivals[int(time.monotonic())] += 1
                await agent.closed
                del self.online[number]
                lasted = time.monotonic() - began_at > STEADY_S
            except (OSError, WSError, TimeoutError):
                lasted = False
            failures = 1 if lasted else failures + 1
            await asyncio.sleep(RECONNECT.jittered_s(failures, random.uniform))

    # --- helpers ----------------------------------------------------------------------------------

    async def _connect(self, number: int, key: Ed25519PrivateKey) -> "FleetAgent":
        self.dials[int(time.monotonic())] += 1
        async with asyncio.timeout(SIGN_IN_S):
            link = await self._dial()
            agent = FleetAgent(key, self.agents.host, link, self, number)
            await agent.welcomed
        return agent

    async def _dial(self) -> WebSocketLink:
        """Dial a relay that accepts; a balancer passes by those that don't."""
        ports = random.sample(self.relays, len(self.relays))
        while True:
            link, port = WebSocketLink(), ports.pop()
            try:
                await ws_connect(
                    lambda link=link: link,
                    f"ws://127.0.0.1:{port}{TUNNEL_PATH}",
                    max_frame_size=MAX_MESSAGE_BYTES,
                    extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
                )
            except ConnectionRefusedError:
                if not ports:
                    raise
            else:
                return link

    def _do(self, command: Command) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        if command.relays is not None:
            self.relays = command.relays
            self.dials.clear()
            self.arrivals.clear()
        if command.printing is not None:
            began, self.printing = self.printing, command.printing
            for number in range(began, command.printing):
                if number in self.online:
                    self.online[number].tell(self._event(number, EventType.STARTED))
        if command.events_a_second:
            self._telling = asyncio.create_task(self._keep_telling(command))

    async def _keep_telling(self, command: Command) -> None:
        due = time.monotonic()
        while True:
            for number in range(command.first, command.end):
                if number in self.online:
                    self.online[number].tell(self._event(number, EventType.PROGRESS))
                due += 1 / command.events_a_second
                await asyncio.sleep(max(0.0, due - time.monotonic()))

    def _event(self, number: int, kind: EventType) -> PrintEvent:
        return PrintEvent(
            event_id=f"bench-{self.agents.first}-{next(self._numbers):010}",
            event_type=kind,
            event_time_sec=int(time.time()),
            print_id=f"print-of-{number}",
            file_name="calibration-cube-0.2mm.gcode",
            duration_sec=3600,
            progress=40,
            time_remaining_sec=5400,
            current_layer=12,
        )

    def _told(self) -> Told:
        return Told(
            online=len(self.online),
            events_stored=self.events_stored,
            pictures=self.pictures,
            dials=self.dials,
            arrivals=self.arrivals,
        )


class FleetAgent(IdleAgent):
    """An agent that answers what is asked of its printer, with what real ones would be able to."""

    capabilities = CAPABILITIES

    def __init__(
        self, key: Ed25519PrivateKey, host: str, link: WebSocketLink, fleet: Fleet, number: int
    ) -> None:
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._fleet = fleet
        self._number = number
        super().__init__(key, host, link)

    def tell(self, event: PrintEvent) -> None:
        """Tell an event. The one before is stored by then, or the relay refuses both."""
        self._say(signin.Events(events=[event]))

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None:
        if signin.SEVERAL_NODES in capabilities:
            self._tunnel.notice_sooner()
        super().on_tunnel_ready(capabilities)

    def on_tunnel_message(self, payload: bytes) -> None:
        match signin.decode_from_service(payload):
            case signin.Challenge() | signin.Welcome() | signin.LinkOffer():
                super().on_tunnel_message(payload)
            case signin.EventsStored(event_ids=stored):
                self._fleet.events_stored += len(stored)
            case _:
                pass  # what the watch says, or a lock

    def on_tunnel_closed(self, code: CloseCode | int | None, text: str) -> None:
        if not self.welcomed.done():
            super().on_tunnel_closed(code, text)
        if not self.closed.done():
            self.closed.set_result(None)

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        target = decode_request_line(opened.head).target
        if target.startswith(b"/camera"):
            stream.handler = Camera(stream)
            return
        stream.handler = Ignoring()
        if b"/webcam/snapshot" in target:
            self._fleet.pictures += 1
            _answer(stream, b"image/jpeg", PICTURE)
        elif target.endswith(b"/status"):
            is_printing = self._number < self._fleet.printing
            _answer(stream, b"application/json", self._status(is_printing=is_printing))
        else:
            _answer(stream, b"application/json", _SMALL)

    def _status(self, *, is_printing: bool) -> bytes:
        if not is_printing:
            return codec.encode({"Status": 200, "Result": status_of()})
        status = status_of(State.PRINTING, "calibration-cube-0.2mm.gcode", 40.0)
        latest = msgspec.structs.replace(
            status.service_status, most_recent_print_id_str=f"print-of-{self._number}"
        )
        status = msgspec.structs.replace(status, service_status=latest)
        return codec.encode({"Status": 200, "Result": status})


class Ignoring:
    """A stream that has been answered."""

    def on_interim(self, head: bytes) -> None: ...
    def on_head(self, head: bytes, body: bytes, fin: bool) -> None: ...
    def on_data(self, data: bytes, fin: bool) -> None: ...
    def on_writable(self) -> None: ...
    def on_reset(self, _reason: Reason, _text: str) -> None: ...


class Camera(Ignoring):
    """Sends pictures until nobody watches; a slow viewer misses some."""

    def __init__(self, stream: Stream) -> None:
        kind = (b"Content-Type", b"multipart/x-mixed-replace; boundary=frame")
        stream.respond(encode_response(200, b"OK", [kind]), _PART)
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._next = self._loop.call_later(1 / PICTURES_A_SECOND, self._send)

    def on_reset(self, _reason: Reason, _text: str) -> None:
        self._next.cancel()

    def _send(self) -> None:
        if not self._stream.is_holding:
            self._stream.send(_PART)
        self._next = self._loop.call_later(1 / PICTURES_A_SECOND, self._send)


def _answer(stream: Stream, kind: bytes, body: bytes) -> None:
    headers = [(b"Content-Type", kind), (b"Content-Length", b"%d" % len(body))]
    stream.respond(encode_response(200, b"OK", headers), body, fin=True)


async def _run(agents: Agents) -> None:
    fleet = Fleet(agents)
    keys = islice(keys_of(agents.count, agents.first), agents.count)
    async with asyncio.TaskGroup() as group:
        server = await asyncio.start_unix_server(fleet.on_control, agents.control)
        for number, key in enumerate(keys):
            group.create_task(fleet.keep(number, key))
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_run(msgspec.json.decode(sys.argv[1], type=Agents)))
