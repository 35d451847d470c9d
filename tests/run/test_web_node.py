"""The web role in a process without a relay, for real."""

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop
from litestar import Litestar, Request, WebSocket, get, websocket
from litestar.datastructures import State
from litestar.params import FromQuery
from litestar.response import ServerSentEvent, Stream
from websockets.asyncio.client import connect

from printreach.backends.clock import SystemClock
from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.http1.tracing import Tracing
from printreach.run.dependencies import Dependencies, core_of
from printreach.run.embedded import running_service
from printreach.run.settings import settings_from
from printreach.run.sockets import port_of
from printreach.run.web_node import running_web_node
from printreach.run.web_services import web_services
from printreach.store.sealing import KeySealer
from printreach.store.store import Store
from printreach.web.app import WebSettings, create_app
from printreach.web.draining import DrainMiddleware
from tests.fakes.mails import RecordingMailer
from tests.fakes.memory_bus import MemoryBus
from tests.fakes.messages import RecordingMessenger
from tests.fakes.passwords import PlainPasswords
from tests.fakes.printer_http import FakePrinterHttp
from tests.fakes.push import RecordingPush
from tests.fakes.readiness import READY
from tests.fakes.scorer import FakeScorer
from tests.fakes.webhook_sender import FakeKeys, FakeSender

pytestmark = pytest.mark.slow

TIMEOUT_S = 60.0

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Run:
    """Run a coroutine in each kind of event loop that the service may have."""

    def run_in_loop(coroutine: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            return runner.run(asyncio.wait_for(coroutine, TIMEOUT_S))

    return run_in_loop


@get("/caller", sync_to_thread=False)
def caller(request: Request[Any, Any, Any]) -> dict[str, Any]:
    assert request.client is not None
    said = [name for name in request.headers if name.startswith("x-")]
    return {"host": request.client.host, "scheme": request.url.scheme, "said": said}


@websocket("/caller-socket")
async def caller_socket(socket: WebSocket[Any, Any, Any]) -> None:
    assert socket.client is not None
    await socket.accept()
    await socket.send_text(f"{socket.client.host} {socket.url.scheme}")
    await socket.close()


@get("/events")
async def events() -> ServerSentEvent:
    async def ticks() -> AsyncIterator[str]:
        while True:
            yield "tick"
            await asyncio.sleep(0.05)

    return ServerSentEvent(ticks())


@get("/slow")
async def slow(state: State, seconds: FromQuery[float] = 0.2) -> str:
    state.begun.set()
    await asyncio.sleep(seconds)
    return "finished"


@get("/download")
async def download(state: State) -> Stream:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536
            state.begun.set()
            await asyncio.sleep(0)

    return Stream(pieces())


def an_app() -> Litestar:
    """The web role with routes that rest in the middle; state.begun says when one does."""
    app = _one_app()
    app.state.begun = asyncio.Event()
    return app


@cache
def _one_app() -> Litestar:
    """The app of all tests, which takes a quarter of a second to make and keeps nothing."""
    # No page that is fetched here asks the store anything, so it is never opened.
    bus = MemoryBus()
    mailer, settings = RecordingMailer(), settings_from({})
    store = Store(Path("never-opened"))
    dependencies = Dependencies(
        settings=settings,
        core=core_of(settings, store, SystemClock(), PlainPasswords(), mailer),
        mailer=mailer,
        messenger=RecordingMessenger(),
        push_sender=RecordingPush(),
        sealer=KeySealer(b"s" * 32, secrets.token_bytes),
        webhook_sender=FakeSender(),
        webhook_keys=FakeKeys(),
        bus=bus,
        printers=FakePrinterHttp(),
        detector=MemoryDetectorStates(bus),
        scorer=FakeScorer(),
    )
    services = web_services(dependencies)
    app = create_app(WebSettings(base_url="http://localhost:8080", has_mail_server=False), services)
    for handler in (caller, caller_socket, events, slow, download):
        app.register(handler)
    return app


@dataclass
class Node:
    """A running node. stop: leaves it, once."""

    port: int
    stop: Callable[[], Awaitable[None]]


@asynccontextmanager
async def serving(
    app: Litestar | None = None,
    stop_deadline_s: float = 1.0,
    tracing: Tracing | None = None,
    **settings: str,
) -> AsyncIterator[Node]:
    listener = socket.create_server(("127.0.0.1", 0))
    read = settings_from({f"PRINTREACH_{name}": value for name, value in settings.items()})
    draining = DrainMiddleware(app or an_app())
    async with AsyncExitStack() as ends:
        port = port_of(listener)
        await ends.enter_async_context(
            running_web_node(
                draining, read, listener, READY, tracing, stop_deadline_s=stop_deadline_s
            )
        )
        yield Node(port, ends.aclose)


def client(node: Node) -> httpx.AsyncClient:
    headers = {"host": "localhost:8080"}
    base_url = f"http://127.0.0.1:{node.port}"
    return httpx.AsyncClient(base_url=base_url, headers=headers, timeout=TIMEOUT_S)


async def fetch(node: Node, target: str, **options: Any) -> httpx.Response:
    async with client(node) as web:
        return await web.get(target, **options)


def test_a_page_is_served(run: Run) -> None:
    async def scenario() -> httpx.Response:
        async with serving() as node:
            return await fetch(node, "/reset", headers={"accept": "text/html"})

    answer = run(scenario())

    assert answer.status_code == 200
    assert "Set a new password" in answer.text
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("trusted", "seen"),
    [
        ("127.0.0.0/8", {"host": "203.0.113.9", "scheme": "https", "said": []}),
        ("", {"host": "127.0.0.1", "scheme": "http", "said": ["x-forwarded-unproven"]}),
    ],
)
def test_the_callers_origin_is_told_by_a_trusted_proxy_alone(
    run: Run, trusted: str, seen: dict[str, Any]
) -> None:
    said = {
        "x-forwarded-for": "198.51.100.7, 203.0.113.9",
        "x-forwarded-proto": "https",
        "x-real-ip": "198.51.100.7",
        "x-forwarded-unproven": "0",
    }

    async def scenario() -> Any:
        async with serving(TRUSTED_PROXIES=trusted) as node:
            return (await fetch(node, "/caller", headers=said)).json()

    assert run(scenario()) == seen


def test_a_websocket_is_served_with_the_callers_origin(run: Run) -> None:
    said = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}

    async def scenario() -> str | bytes:
        async with (
            serving(TRUSTED_PROXIES="127.0.0.1") as node,
            connect(
                "ws://localhost:8080/caller-socket",
                host="127.0.0.1",
                port=node.port,
                additional_headers=said,
                proxy=None,
            ) as opened,
        ):
            return await opened.recv()

    assert run(scenario()) == "203.0.113.9 wss"


def test_health_is_for_everybody_and_metrics_are_not(run: Run) -> None:
    asked = ["/healthz", "/readyz", "/metrics"]

    async def scenario() -> list[list[int]]:
        async with serving(TRUSTED_PROXIES="127.0.0.1") as node:
            far = {"host": "10.0.0.7", "x-forwarded-for": "203.0.113.9"}
            near = {"host": "127.0.0.1"}
            return [
                [(await fetch(node, path, headers=headers)).status_code for path in asked]
                for headers in (near, far)
            ]

    assert run(scenario()) == [[200, 200, 200], [200, 200, 403]]


@pytest.mark.parametrize("host", ["app-x.localhost:8080", "127.0.0.1", "evil.example"])
def test_other_hosts_are_sent_to_the_base_url(run: Run, host: str) -> None:
    async def scenario() -> httpx.Response:
        async with serving() as node:
            return await fetch(node, "/reset", headers={"host": host})

    answer = run(scenario())

    assert (answer.status_code, answer.headers["location"]) == (307, "http://localhost:8080/")


def test_failure_detection_alone_answers_by_its_own_name(run: Run) -> None:
    async def scenario() -> list[int]:
        async with serving(DETECTOR_URL="https://eye.example") as node:
            headers = {"host": "eye.example"}
            targets = ["/api/detector/v1/createcontext", "/reset"]
            return [(await fetch(node, one, headers=headers)).status_code for one in targets]

    assert run(scenario()) == [405, 307]


@pytest.mark.parametrize("is_handed_over", [False, True])
def test_the_role_alone_listens_on_the_address_of_the_service(
    run: Run, tmp_path: Path, is_handed_over: bool
) -> None:
    environ = {
        "PRINTREACH_DATA_DIR": str(tmp_path / "data"),
        "PRINTREACH_LISTEN": "127.0.0.1:0",
        "PRINTREACH_DETECTOR_WATCH": "false",
    }
    listeners = [socket.create_server(("127.0.0.1", 0))] if is_handed_over else []
    ports = [port_of(one) for one in listeners]

    async def scenario() -> tuple[int, int]:
        async with running_service(settings_from(environ), frozenset({"web"}), listeners) as said:
            port = int(said.rpartition(":")[2])
            url = f"http://{said}/reset"
            async with httpx.AsyncClient(headers={"host": "localhost:8080"}) as web:
                return port, (await web.get(url, timeout=TIMEOUT_S)).status_code

    port, status = run(scenario())

    assert status == 200
    assert ports in ([], [port])


def test_a_head_that_is_too_large_is_refused(run: Run) -> None:
    async def scenario() -> int:
        async with serving() as node:
            return (await fetch(node, "/reset", headers={"x-much": "x" * 200_000})).status_code

    assert run(scenario()) == 431


def test_a_stop_ends_event_streams_at_once_and_properly(run: Run) -> None:
    async def scenario() -> bytes:
        async with serving(stop_deadline_s=2 * TIMEOUT_S) as node, client(node) as web:
            async with web.stream("GET", "/events") as answer:
                pieces = answer.aiter_bytes()
                heard = await anext(pieces)
                await node.stop()  # nobody waits for the deadline
                # Reading on raises where the body was cut instead of ended.
                async for piece in pieces:
                    heard += piece
            return heard

    assert b"tick" in run(scenario())


def test_a_stop_lets_a_running_request_finish(run: Run) -> None:
    app = an_app()

    async def scenario() -> str:
        async with serving(app, stop_deadline_s=TIMEOUT_S) as node:
            asking = asyncio.create_task(fetch(node, "/slow"))
            await app.state.begun.wait()
            await node.stop()
            return (await asking).text

    assert run(scenario()) == "finished"


def test_a_stop_refuses_new_connections(run: Run) -> None:
    async def scenario() -> None:
        async with serving() as node:
            await node.stop()
            with pytest.raises(httpx.ConnectError):
                await fetch(node, "/reset")

    run(scenario())


def test_a_request_that_outlasts_the_deadline_is_ended(run: Run) -> None:
    app = an_app()

    async def scenario() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        async with serving(app, stop_deadline_s=0.3) as node:
            asking = asyncio.create_task(fetch(node, f"/slow?seconds={2 * TIMEOUT_S}"))
            await app.state.begun.wait()
            began = loop.time()
            await node.stop()
            return (await asking).status_code, loop.time() - began

    status, took = run(scenario())

    assert status == 503
    assert took >= 0.3


def test_a_client_that_does_not_read_cannot_hold_up_the_stop(run: Run) -> None:
    app = an_app()

    async def scenario() -> None:
        async with serving(app, stop_deadline_s=0.3) as node:
            _, writer = await asyncio.open_connection("127.0.0.1", node.port, limit=1)
            writer.write(b"GET /download HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await app.state.begun.wait()
            await node.stop()
            writer.close()

    run(scenario())


def test_two_hundred_event_streams_starve_nobody(run: Run) -> None:
    async def scenario() -> int:
        async with serving() as node, client(node) as web:
            streams = [await asyncio.open_connection("127.0.0.1", node.port) for _ in range(200)]
            for _, writer in streams:
                writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for reader, _ in streams:
                await reader.readuntil(b"tick")
            status = (await web.get("/reset")).status_code
            for _, writer in streams:
                writer.close()
            return status

    assert run(scenario()) == 200


def test_the_server_writes_nothing_and_leaves_our_logging_alone(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ours = logging.FileHandler(tmp_path / "service.log")

    async def scenario() -> None:
        async with serving() as node:
            await fetch(node, "/reset")

    run(scenario())

    assert capfd.readouterr().out == ""
    assert logging.getLogger("_granian").handlers == []
    assert ours.stream is not None, "the handler was closed"
    ours.close()
