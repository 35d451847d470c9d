"""The connection to a real broker, and the cancellation of a call that waits."""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from printreach.backends.mqtt_broker import MqttBroker
from printreach.ports.mqtt import BrokerSession, read_mqtt_url
from tests.fakes.loop import on_a_loop
from tests.rigs.mosquitto import Mosquitto

pytestmark = [pytest.mark.peer, pytest.mark.slow]

PATIENCE_S = 60.0


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    broker = Mosquitto(tmp_path)
    broker.start()
    yield broker
    broker.stop()


async def told(session: BrokerSession) -> None:
    await session.publish("printreach/x", b"x", retain=False)


async def listening(session: BrokerSession) -> None:
    await session.subscribe("printreach/#")


class Stopping:
    """Stops whoever waits for an answer, some turns of the loop behind the answer.

    stopped: those that still waited by then.
    """

    def __init__(self) -> None:
        self.waiting: asyncio.Task[None]
        self.turns = 0
        self.stopped: list[asyncio.Task[None]] = []

    def soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._after, self.turns)

    def _after(self, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._after, turns - 1)
        elif self.waiting.cancel():
            self.stopped.append(self.waiting)


@pytest.mark.parametrize(("answer", "wait"), [("_on_publish", told), ("_on_subscribe", listening)])
def test_who_is_stopped_as_the_brokers_answer_comes_stops(
    mosquitto: Mosquitto,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    wait: Callable[[BrokerSession], Coroutine[None, None, None]],
) -> None:
    stopping, hear = Stopping(), getattr(aiomqtt.Client, answer)

    def hear_and_stop(client: aiomqtt.Client, *said: object) -> None:
        hear(client, *said)
        stopping.soon()

    monkeypatch.setattr(aiomqtt.Client, answer, hear_and_stop)

    @on_a_loop
    async def body() -> None:
        async with MqttBroker(read_mqtt_url(mosquitto.url)).connected("will", b"") as session:
            for turns in range(4):
                stopping.turns = turns
                stopping.waiting = asyncio.create_task(wait(session))
                async with asyncio.timeout(PATIENCE_S):
                    await asyncio.gather(stopping.waiting, return_exceptions=True)

    body()

    assert stopping.stopped
    assert all(one.cancelled() for one in stopping.stopped)


@on_a_loop
async def test_who_has_been_stopped_already_may_still_say_good_bye(mosquitto: Mosquitto) -> None:
    said: list[str] = []
    connected = asyncio.Event()

    async def stay() -> None:
        async with MqttBroker(read_mqtt_url(mosquitto.url)).connected("will", b"") as session:
            try:
                connected.set()
                await asyncio.Event().wait()
            finally:
                await session.publish("printreach/x", b"good-bye", retain=False)
                said.append("good-bye")

    staying = asyncio.create_task(stay())
    await connected.wait()
    staying.cancel()
    await asyncio.gather(staying, return_exceptions=True)

    assert said == ["good-bye"]
    assert staying.cancelled()


@on_a_loop
async def test_a_broker_that_went_away_unnoticed_leaves_no_error_behind(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_to_loop: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: told_to_loop.append(said))
    clients: list[aiomqtt.Client] = []

    class NotedClient(aiomqtt.Client):
        def __init__(self, *words: Any, **named: Any) -> None:
            super().__init__(*words, **named)
            clients.append(self)

    monkeypatch.setattr(aiomqtt, "Client", NotedClient)
    async with MqttBroker(read_mqtt_url(mosquitto.url)).connected("will", b""):
        mosquitto.stop()
        await asyncio.wait([clients[0]._disconnected], timeout=PATIENCE_S)
    clients.clear()
    gc.collect()

    assert told_to_loop == []
