"""The web role as a server on a unix socket, for real."""

import asyncio
import logging
import os
import secrets
import socket
import stat
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop
from litestar import Litestar, Request, get
from litestar.datastructures import State
from litestar.params import FromQuery
from litestar.response import ServerSentEvent, Stream

from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.backends.zones import SystemZones
from printreach.run import web_node
from printreach.run.messaging import Messaging
from printreach.run.settings import settings_from
from printreach.run.web_node import WebNode
from printreach.run.web_services import web_dependencies, web_services
from printreach.run.webhooks import WebhookDependencies
from printreach.store.sealing import KeySealer
from printreach.store.store import Store
from printreach.web.app import WebSettings, create_app
from tests.fakes.mails import RecordingMailer
from tests.fakes.memory_bus import MemoryBus
from tests.fakes.messages import RecordingMessenger
from tests.fakes.printer_http import FakePrinterHttp
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


@pytest.fixture(autouse=True)
def patient_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head may come late, where the machine stood still while it was sent."""
    monkeypatch.setattr(web_node, "_HEAD_TIMEOUT_MS", int(TIMEOUT_S * 1000))


@get("/caller", sync_to_thread=False)
def caller(request: Request[Any, Any, Any]) -> dict[str, str]:
    assert request.client is not None
    return {"host": request.client.host, "scheme": request.url.scheme}


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
    # No page that is fetched here asks the store anything, so it is never opened.
    bus = MemoryBus()
    dependencies = web_dependencies(
        Store(Path("never-opened")),
        bus,
        Messaging(
            mailer=RecordingMailer(),
            outbox=RecordingMailer(),
            messenger=RecordingMessenger(),
            sealer=KeySealer(b"s" * 32, secrets.token_bytes),
            zones=SystemZones(),
        ),
        WebhookDependencies(sender=FakeSender(), keys=FakeKeys()),
        FakePrinterHttp(),
        MemoryDetectorStates(bus),
        FakeScorer(),
    )
    services = web_services(settings_from({}), dependencies)
    app = create_app(WebSettings(base_url="http://localhost:8080", has_mail_server=False), services)
    app.state.begun = asyncio.Event()
    for handler in (caller, events, slow, download):
        app.register(handler)
    return app


@asynccontextmanager
async def serving(
    data_dir: Path, app: Litestar | None = None
) -> AsyncIterator[tuple[WebNode, Path]]:
    node = WebNode(app or an_app())
    path = await node.start(data_dir)
    try:
        yield node, path
    finally:
        await node.stop(1)


def client(path: Path) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    base_url = "http://localhost:8080"
    return httpx.AsyncClient(transport=transport, base_url=base_url, timeout=TIMEOUT_S)


async def fetch(path: Path, target: str, **options: Any) -> httpx.Response:
    async with client(path) as web:
        return await web.get(target, **options)


def test_a_page_comes_over_the_socket(run: Run, tmp_path: Path) -> None:
    async def scenario() -> httpx.Response:
        async with serving(tmp_path) as (_, path):
            return await fetch(path, "/reset", headers={"accept": "text/html"})

    answer = run(scenario())

    assert answer.status_code == 200
    assert "Choose another password" in answer.text
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_the_socket_is_the_users_alone(run: Run, tmp_path: Path) -> None:
    async def scenario() -> tuple[Path, int, int]:
        async with serving(tmp_path / "data") as (_, path):
            return path, path.stat().st_mode, path.parent.stat().st_mode

    path, socket_mode, folder_mode = run(scenario())

    assert path == tmp_path.resolve() / "data" / "web.sock"
    assert stat.S_IMODE(socket_mode) == 0o600
    assert stat.S_IMODE(folder_mode) == 0o700


def test_the_caller_is_who_the_front_says(run: Run, tmp_path: Path) -> None:
    forwarded = {"x-forwarded-for": "198.51.100.7", "x-forwarded-proto": "https"}

    async def scenario() -> Any:
        async with serving(tmp_path) as (_, path):
            return (await fetch(path, "/caller", headers=forwarded)).json()

    assert run(scenario()) == {"host": "198.51.100.7", "scheme": "https"}


def test_a_socket_left_by_a_killed_process_is_replaced(run: Run, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(tmp_path / "web.sock"))

    async def scenario() -> int:
        async with serving(tmp_path) as (_, path):
            return (await fetch(path, "/reset")).status_code

    assert run(scenario()) == 200


def test_a_socket_on_which_another_process_serves_is_left_to_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "web.sock"
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(str(path))
        living.listen()
        node = WebNode(an_app())

        with pytest.raises(OSError, match="another process serves"):
            run(node.start(tmp_path))

        assert path.exists()


def test_a_successor_takes_the_path_and_keeps_it(run: Run, tmp_path: Path) -> None:
    has_begun, may_stop = asyncio.Event(), asyncio.Event()

    async def serve_first() -> None:
        async with serving(tmp_path):
            has_begun.set()
            await may_stop.wait()

    async def scenario() -> tuple[int, int, Path]:
        first, successor = asyncio.create_task(serve_first()), WebNode(an_app())
        await has_begun.wait()
        async with client(tmp_path / "web.sock") as before:
            await before.get("/caller")  # its connection stays open
            path = await successor.start(tmp_path, is_successor=True)
            still_served = (await before.get("/caller")).status_code
        may_stop.set()
        await first
        served_next = (await fetch(path, "/caller")).status_code
        await successor.stop(1)
        return still_served, served_next, path

    still_served, served_next, path = run(scenario())

    assert (still_served, served_next) == (200, 200)
    assert not path.exists()


def test_a_file_in_the_way_is_not_deleted(run: Run, tmp_path: Path) -> None:
    tmp_path.joinpath("web.sock").write_text("precious")

    with pytest.raises(OSError, match="not a socket"):
        run(WebNode(an_app()).start(tmp_path))

    assert tmp_path.joinpath("web.sock").read_text() == "precious"


def test_a_path_too_long_for_a_socket_gets_a_short_private_one(run: Run, tmp_path: Path) -> None:
    data_dir = tmp_path / ("long" * 30)

    async def scenario() -> tuple[Path, int, int]:
        async with serving(data_dir) as (_, path):
            status = (await fetch(path, "/reset")).status_code
            return path, status, path.parent.stat().st_mode

    path, status, folder_mode = run(scenario())

    assert status == 200
    assert len(os.fsencode(path)) <= 107
    assert stat.S_IMODE(folder_mode) == 0o700
    assert not path.parent.exists()


@pytest.mark.parametrize("length", [107, 108])
def test_the_longest_path_that_fits_is_used(run: Run, tmp_path: Path, length: int) -> None:
    room = length - len(os.fsencode(tmp_path.resolve())) - len("//web.sock")
    data_dir = tmp_path / ("d" * room)

    async def scenario() -> Path:
        async with serving(data_dir) as (_, path):
            assert (await fetch(path, "/reset")).status_code == 200
            return path

    assert (run(scenario()).parent == data_dir.resolve()) == (length == 107)


def test_a_stop_ends_event_streams_at_once_and_properly(run: Run, tmp_path: Path) -> None:
    async def scenario() -> bytes:
        async with serving(tmp_path) as (node, path), client(path) as web:
            async with web.stream("GET", "/events") as answer:
                pieces = answer.aiter_bytes()
                heard = await anext(pieces)
                await node.stop(2 * TIMEOUT_S)  # nobody waits for this deadline
                # Reading on raises where the body was cut instead of ended.
                async for piece in pieces:
                    heard += piece
            return heard

    assert b"tick" in run(scenario())


def test_a_stop_lets_a_running_request_finish(run: Run, tmp_path: Path) -> None:
    app = an_app()

    async def scenario() -> str:
        async with serving(tmp_path, app) as (node, path):
            asking = asyncio.create_task(fetch(path, "/slow"))
            await app.state.begun.wait()
            await node.stop(TIMEOUT_S)
            return (await asking).text

    assert run(scenario()) == "finished"


def test_a_stop_refuses_new_connections_and_removes_the_socket(run: Run, tmp_path: Path) -> None:
    async def scenario() -> Path:
        async with serving(tmp_path) as (node, path):
            await node.stop()
            with pytest.raises(httpx.ConnectError):
                await fetch(path, "/reset")
            return path

    assert not run(scenario()).exists()


def test_a_request_that_outlasts_the_deadline_is_ended(run: Run, tmp_path: Path) -> None:
    app = an_app()

    async def scenario() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        async with serving(tmp_path, app) as (node, path):
            asking = asyncio.create_task(fetch(path, f"/slow?seconds={2 * TIMEOUT_S}"))
            await app.state.begun.wait()
            began = loop.time()
            await node.stop(0.3)
            return (await asking).status_code, loop.time() - began

    status, took = run(scenario())

    assert status == 503
    assert took >= 0.3


def test_a_client_that_does_not_read_cannot_hold_up_the_stop(run: Run, tmp_path: Path) -> None:
    app = an_app()

    async def scenario() -> bool:
        async with serving(tmp_path, app) as (node, path):
            _, writer = await asyncio.open_unix_connection(path, limit=1)
            writer.write(b"GET /download HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await app.state.begun.wait()
            await node.stop(0.3)
            writer.close()
            return path.exists()

    assert not run(scenario())


async def open_events(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return reader, writer


def test_two_hundred_event_streams_starve_nobody(run: Run, tmp_path: Path) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as (_, path), client(path) as web:
            streams = [await open_events(path) for _ in range(200)]
            for reader, _ in streams:
                await reader.readuntil(b"tick")
            status = (await web.get("/reset")).status_code
            for _, writer in streams:
                writer.close()
            return status

    assert run(scenario()) == 200


def test_the_applications_own_start_and_end_run_once_each(run: Run, tmp_path: Path) -> None:
    happened: list[str] = []
    app = Litestar(
        on_startup=[lambda: happened.append("start")],
        on_shutdown=[lambda: happened.append("end")],
        logging_config=None,
        openapi_config=None,
    )

    async def scenario() -> None:
        async with serving(tmp_path, app) as (node, _):
            happened.append("serves")
            await node.stop()
            await node.stop()

    run(scenario())

    assert happened == ["start", "serves", "end"]


def test_the_server_writes_nothing_and_leaves_our_logging_alone(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ours = logging.FileHandler(tmp_path / "service.log")

    async def scenario() -> None:
        async with serving(tmp_path) as (_, path):
            await fetch(path, "/reset")

    run(scenario())

    assert capfd.readouterr().out == ""
    assert logging.getLogger("_granian").handlers == []
    assert ours.stream is not None, "the handler was closed"
    ours.close()
