"""A print is reported to its owner, their program, a server at home and Home Assistant."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aiomqtt
import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.rigs.mosquitto import PASSWORD as BROKER_PASSWORD
from tests.rigs.mosquitto import USER, Mosquitto
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service, service
from tests.rigs.simulated import FAST, SimulatedPrinter, simulated_printer
from tests.rigs.waiting import free_port, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.peer]

GCODE = "G28\n" + "G1 X10 F6000\nG1 X16\n" * 400
OPERATOR = "operator@example.com"
GOTIFY_TOKEN = "AbCdEfGhIjKlMnO"


@dataclass
class Heard:
    """What a server at home was sent, by path."""

    port: int = 0
    bodies: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def at(self, path: str) -> list[dict[str, object]]:
        return [body for where, body in self.bodies if where == path]


@pytest.fixture(scope="module")
def home() -> Iterator[Heard]:
    """A server that takes everything: as Gotify, and as a LAN webhook."""
    heard = Heard()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.bodies.append((self.path, body))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    heard.port = server.server_port
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield heard
    server.shutdown()
    serving.join(30)
    server.server_close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    running = Mosquitto(tmp_path_factory.mktemp("mosquitto"))
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, broker: Mosquitto) -> Iterator[Service]:
    port = free_port()
    env = {
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
        "PRINTREACH_MQTT_URL": broker.url,
    }
    with service(tmp_path_factory.mktemp("news"), port=port, env=env) as running:
        yield running


@pytest.fixture(scope="module")
def printer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedPrinter]:
    with simulated_printer(tmp_path_factory.mktemp("printer"), "news") as running:
        running.put("part.gcode", GCODE)
        yield running


@pytest.fixture(scope="module")
def linked(here: Service, printer: SimulatedPrinter, home: Heard) -> Iterator[LinkedPrinter]:
    env = {"PRINTREACH_PRINTER_LAN_WEBHOOKS": f"http://127.0.0.1:{home.port}/lan"}
    with here.printer("news", printer.url, platform="simulated", env=env) as linked:
        linked.agent.wait_until_looked()
        yield linked


@pytest.fixture(scope="module")
def owner(here: Service) -> Iterator[httpx.Client]:
    """The owner's browser, signed in."""
    with httpx.Client(base_url=f"http://localhost:{here.port}", timeout=30) as client:
        client.headers["origin"] = here.base_url
        client.headers["accept"] = "text/html"
        answer = client.post("/signin", data={"email": OWNER, "password": PASSWORD, "next": "/"})
        assert answer.status_code == 303
        yield client


def make_token(owner: httpx.Client) -> str:
    fields = {"name": "CI", "scope-events:read": "yes", "password": PASSWORD}
    made = owner.post("/account/tokens", data=fields)
    found = re.search(r"prt_[a-z2-7]+", owner.get(made.headers["location"]).text)
    assert found is not None
    return found[0]


def events_read(here: Service, token: str, count: int) -> list[dict[str, object]]:
    """The first events that are kept, by a program that knows nothing but the token."""
    told: list[dict[str, object]] = []
    headers = {"authorization": f"Bearer {token}"}
    url = f"http://localhost:{here.port}/api/events?after=oldest"
    with httpx.stream("GET", url, headers=headers, timeout=60) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                told.append(json.loads(line.removeprefix("data: ")))
            if len(told) == count:
                break
    return told


def first_event_by_socket(here: Service, token: str) -> dict[str, object]:
    """The first event that is kept, over a WebSocket."""
    url = f"ws://localhost:{here.port}/api/events?after=oldest"
    headers = {"Authorization": f"Bearer {token}"}
    with connect(url, additional_headers=headers) as socket:
        while True:
            told = json.loads(socket.recv(60))
            if "EventId" in told:
                assert isinstance(told, dict)
                return told


def test_a_print_is_told_wherever_its_owner_wants_to_hear_of_it(
    here: Service,
    printer: SimulatedPrinter,
    linked: LinkedPrinter,
    owner: httpx.Client,
    home: Heard,
) -> None:
    place = {"way": "gotify", "server": f"http://127.0.0.1:{home.port}", "token": GOTIFY_TOKEN}
    assert owner.post("/notifications/add", data=place).status_code == 303
    wanted = {"event-1": "yes", "event-2": "yes"}
    assert owner.post("/notifications/events", data=wanted).status_code == 303
    printer.run_at(1)  # until it was seen: an agent that stands still would miss a short print
    printer.start("part.gcode")
    wait_for("a message", lambda: home.at("/message") or None, 120)
    printer.run_at(FAST)
    wait_for("another one", lambda: len(home.at("/message")) >= 2 or None, 120)
    wait_for("the LAN webhook", lambda: 2 in _kinds(home) or None, 60)
    token = make_token(owner)
    streamed = events_read(here, token, 2)
    first_by_socket = first_event_by_socket(here, token)

    titles = [body["title"] for body in home.at("/message")]
    assert titles == ["news: print started", "news: print finished"]
    assert "part.gcode is finished." in str(home.at("/message")[1]["message"])
    assert _kinds(home)[0] == 1
    assert streamed[0]["EventId"] == home.at("/lan")[0]["EventId"]
    assert streamed[0]["EventType"] == 1
    assert first_by_socket == streamed[0]
    assert GOTIFY_TOKEN not in here.program.log_since((0, 0))


def test_an_operators_printer_appears_in_home_assistant(
    here: Service, printer: SimulatedPrinter, broker: Mosquitto
) -> None:
    here.admin("account", "add", OPERATOR, "--admin", stdin=PASSWORD + "\n")
    with here.agent("operators", printer.url, platform="simulated") as agent:
        code = agent.event("link-code")["LinkCode"]
        words = ("printer", "link", code, "--account", OPERATOR, "--name", "Operators")
        linked = here.admin(*words)
        agent.event("connected")
        state = asyncio.run(first_of(broker, f"printreach/{linked['PrinterId']}/state"))

    assert state["state"] in ("idle", "printing", "complete")


async def first_of(broker: Mosquitto, topic: str) -> dict[str, object]:
    """What is told there first."""
    async with aiomqtt.Client(
        "127.0.0.1", broker.port, username=USER, password=BROKER_PASSWORD
    ) as client:
        await client.subscribe(topic)
        async with asyncio.timeout(60):
            message = await anext(aiter(client.messages))
    read = json.loads(message.payload)
    assert isinstance(read, dict)
    return read


def test_a_socket_of_events_is_closed_when_its_token_ends(
    here: Service, owner: httpx.Client
) -> None:
    token = make_token(owner)
    tokens = re.findall(r"/account/tokens/([^/\"]+)/end", owner.get("/account/tokens").text)
    url = f"ws://localhost:{here.port}/api/events"
    with connect(url, additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        socket.recv(60)
        for one in tokens:
            assert owner.post(f"/account/tokens/{one}/end").status_code == 303
        with suppress(ConnectionClosed):
            while True:
                socket.recv(60)  # an event of a test before, or a heartbeat

    assert socket.close_code == 4001


def _kinds(home: Heard) -> list[object]:
    return [body["EventType"] for body in home.at("/lan")]
