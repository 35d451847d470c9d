"""The whole fake printer."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from tests.fakes.bambu.broker import ACCESS_CODE, USER, Broker
from tests.fakes.bambu.card import Card
from tests.fakes.bambu.machine import Machine
from tests.rigs.certificates import self_signed
from tests.rigs.waiting import free_port, wait_for

SERIAL = "01P00A000000001"
TICK_S = 0.05
TIMEOUT_S = 60


class FakeBambu:
    """Made by fake_bambu(). lock: held while the machine changes."""

    def __init__(self, folder: Path, speed: float) -> None:
        self._tick_s = TICK_S / speed
        self.certificate, self.key = self_signed(folder, SERIAL)
        self.broker = Broker(folder, SERIAL, self.certificate, self.key)
        (folder / "card").mkdir()
        self.card = Card(folder / "card", self.certificate, self.key, USER, ACCESS_CODE)
        self.camera_port = free_port()
        self.machine = Machine(self.card.read)
        self.lock = threading.RLock()
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_message = self._on_message
        self._client.reconnect_delay_set(1, 1)
        self._is_over = threading.Event()
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)

    def start(self) -> None:
        self.broker.start()
        self._client.connect("127.0.0.1", self.broker.inner_port)
        self._client.loop_start()
        self._thread.start()
        wait_for("the fake printer", self._is_up.is_set, TIMEOUT_S)

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join(5)
        self._client.loop_stop()
        self.card.close()
        self.broker.stop()

    def go_away(self) -> None:
        """As when it is switched off."""
        self.broker.stop()
        self._is_up.clear()

    def come_back(self) -> None:
        self.broker.start()
        wait_for("the fake printer", self._is_up.is_set, TIMEOUT_S)

    def say(self, payload: bytes | str) -> None:
        """Anything at all, as a report."""
        self._client.publish(f"device/{SERIAL}/report", payload)

    def _on_connect(self, client: mqtt.Client, *_: object) -> None:
        client.subscribe(f"device/{SERIAL}/request")

    def _on_subscribe(self, *_: object) -> None:
        self._is_up.set()

    def _on_message(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        with self.lock:
            answers = self.machine.hear(json.loads(message.payload))
            for answer in answers:
                self.say(json.dumps(answer))
            self._push()

    def _live(self) -> None:
        while not self._is_over.wait(self._tick_s):
            with self.lock:
                self.machine.pass_time(TICK_S)
                self._push()

    def _push(self) -> None:
        changes = self.machine.changes()
        if changes is not None and self._client.is_connected():
            self.say(json.dumps(changes))


@contextmanager
def fake_bambu(folder: Path, speed: float = 1.0) -> Iterator[FakeBambu]:
    """folder: for its certificate, card and logs. speed: of the machine's time."""
    fake = FakeBambu(folder, speed)
    fake.start()
    try:
        yield fake
    finally:
        fake.stop()
