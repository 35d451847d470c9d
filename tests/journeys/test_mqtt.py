"""A printer's own MQTT broker through an App Connection: MQTT over WebSocket."""

import json
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from websockets.exceptions import InvalidStatus

from tests.fakes.bambu.broker import ACCESS_CODE, USER
from tests.fakes.bambu.printer import SERIAL, FakeBambu, fake_bambu
from tests.journeys.conftest import goes_straight
from tests.rigs.calls import call
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.sockets import websocket
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.peer]

PROXY = "/service-command-api/proxy/mqtt"
REPORT, REQUEST = f"device/{SERIAL}/report", f"device/{SERIAL}/request"
LARGE_BYTES = 3 << 20
WAIT_S = 60.0


@pytest.fixture(scope="module")
def fake(rigs_folder: Path) -> Iterator[FakeBambu]:
    if goes_straight():
        pytest.skip("it is the relay's way to the broker that is tested")
    folder = rigs_folder / "bambu"
    folder.mkdir()
    with fake_bambu(folder) as running:
        yield running


@pytest.fixture(scope="module")
def linked(relay: Service, fake: FakeBambu) -> Iterator[LinkedPrinter]:
    secrets = {
        "PRINTREACH_PRINTER_ACCESS_CODE": ACCESS_CODE,
        "PRINTREACH_PRINTER_SERIAL": SERIAL,
    }
    address = f"127.0.0.1:{fake.broker.port}"
    with relay.printer("bambu", address, platform="bambu", env=secrets) as printer:
        way = relay.way(relay.connect(printer))
        printer.agent.program.wait_until("the printer", lambda: _is_reached(way))
        yield printer


@pytest.fixture(scope="module")
def way(relay: Service, linked: LinkedPrinter) -> Way:
    return relay.way(relay.connect(linked))


class App:
    """An MQTT client as apps have one."""

    def __init__(self, way: Way, **login: str) -> None:
        self.messages: Queue[bytes] = Queue()
        self.codes: Queue[int] = Queue()
        self.granted: Queue[bool] = Queue()
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, transport="websockets")
        headers = {"Host": way.host, **dict(way.credentials)}
        self.client.ws_set_options(path=PROXY, headers=headers)
        if login:
            self.client.username_pw_set(**login)
        self.client.on_connect = self._on_connect
        self.client.on_subscribe = lambda *_: self.granted.put(True)
        self.client.on_message = lambda _c, _d, message: self.messages.put(bytes(message.payload))
        self.client.connect("127.0.0.1", way.port)
        self.client.loop_start()

    def _on_connect(self, client: mqtt.Client, *what: Any) -> None:
        client.subscribe(REPORT)
        self.codes.put(int(what[2].value))

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def test_an_app_without_a_login_gets_in_with_the_agents(way: Way) -> None:
    with App(way) as app:
        assert app.codes.get(timeout=WAIT_S) == 0


def test_what_the_app_publishes_reaches_the_printer_and_its_report_the_app(way: Way) -> None:
    with App(way) as app:
        app.granted.get(timeout=WAIT_S)
        app.client.publish(REQUEST, json.dumps({"pushing": {"command": "pushall"}}))
        while True:
            report = json.loads(app.messages.get(timeout=WAIT_S)).get("print", {})
            if report.get("msg") == 0:
                break

    assert report["gcode_state"] == "IDLE"


def test_a_login_of_the_apps_own_is_left_to_the_printer_to_judge(way: Way) -> None:
    with App(way, username=USER, password="wrong") as app:
        assert app.codes.get(timeout=WAIT_S) != 0


def test_a_large_message_arrives_unchanged(way: Way, fake: FakeBambu) -> None:
    large = bytes(range(256)) * (LARGE_BYTES // 256)
    with App(way) as app:
        app.granted.get(timeout=WAIT_S)
        fake.say(large)
        while len(message := app.messages.get(timeout=WAIT_S)) < LARGE_BYTES:
            pass  # the reports in between

    assert message == large


def test_what_is_no_mqtt_is_refused_with_a_close_code(way: Way) -> None:
    with websocket(way, PROXY, subprotocols=["mqtt"]) as connection:
        connection.send(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(Exception, match="1002"):
            connection.recv(timeout=WAIT_S)


def test_a_request_that_is_no_websocket_is_told_so(way: Way) -> None:
    answer = call(way, PROXY)

    assert (answer.status, json.loads(answer.body)["Status"]) == (400, 751)


def test_a_printer_without_a_broker_does_not_support_it(relay: Service, tmp_path: Path) -> None:
    with (
        relay.printer("nomqtt", "127.0.0.1:9", platform="simulated") as printer,
        pytest.raises(InvalidStatus) as refused,
        websocket(relay.way(relay.connect(printer)), PROXY, subprotocols=["mqtt"]),
    ):
        pass

    assert refused.value.response.status_code in (501, 502)


def _is_reached(way: Way) -> bool | None:
    answer = call(way, "/service-command-api/status")
    return json.loads(answer.body)["Status"] == 200 or None
