"""Printers appear in Home Assistant, by a real Mosquitto."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiomqtt
import pytest

from printreach.backends.mqtt_broker import MqttBroker
from printreach.contract.status import State
from printreach.hub.home_assistant import HomeAssistant
from printreach.hub.printers.live import LiveStatus
from printreach.ports.mqtt import (
    BrokerLost,
    BrokerMessage,
    BrokerSession,
    MqttAddress,
    read_mqtt_url,
)
from printreach.rules.home_assistant import Topics
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import FakePrinterHttp, status_of
from tests.hub.world import ADA, BOB, PRINTER_ID, OpenWorld, World
from tests.rigs.mosquitto import PASSWORD, USER, Mosquitto

pytestmark = [pytest.mark.peer, pytest.mark.slow]

PATIENCE_S = 60.0
LONGER_THAN_A_TEST_S = 600.0
TOPICS = Topics()
CONFIG = TOPICS.config(PRINTER_ID)
STATE = TOPICS.state(PRINTER_ID)
AVAILABILITY = TOPICS.availability(PRINTER_ID)


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    folder = tmp_path / "mosquitto"
    folder.mkdir()
    broker = Mosquitto(folder)
    broker.start()
    yield broker
    broker.stop()


@dataclass
class Home:
    """Home Assistant, as far as it shows: what was told, by topic, an empty message away."""

    client: aiomqtt.Client
    told: dict[str, bytes] = field(default_factory=dict)

    async def listen(self) -> None:
        await self.client.subscribe("#")
        async for message in self.client.messages:
            if message.payload:
                self.told[str(message.topic)] = message.payload
            else:
                self.told.pop(str(message.topic), None)

    async def press(self, payload: str, *, retain: bool = False) -> None:
        await self.client.publish(TOPICS.order(PRINTER_ID), payload, qos=1, retain=retain)

    async def sees(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not is_so():  # noqa: ASYNC110  # what is looked at tells no event
                await asyncio.sleep(0.02)

    def state(self) -> dict[str, object]:
        read = json.loads(self.told.get(STATE, b"{}"))
        assert isinstance(read, dict)
        return read


@asynccontextmanager
async def home_at(broker: Mosquitto) -> AsyncIterator[Home]:
    async with aiomqtt.Client(
        "127.0.0.1", broker.port, username=USER, password=PASSWORD, timeout=PATIENCE_S
    ) as client:
        home = Home(client)
        listening = asyncio.create_task(home.listen())
        try:
            yield home
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


@asynccontextmanager
async def telling(
    world: World, http: FakePrinterHttp, broker: Mosquitto | str, *, look_every_s: float = 0.2
) -> AsyncIterator[asyncio.Task[None]]:
    """A worker of the service, as long as this is open."""
    live = LiveStatus(http, world.clock)
    telling = HomeAssistant(
        core=world.core,
        broker=MqttBroker(read_mqtt_url(broker if isinstance(broker, str) else broker.url)),
        live=live,
        printers=http,
        version="1",
        look_every_s=look_every_s,
        picture_every_s=0.2,
    )
    running = asyncio.create_task(telling.run())
    try:
        yield running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await live.close()


async def operators_printer(world: World) -> FakePrinterHttp:
    """A printer of an operator's, which prints."""
    account = await world.accounts.add(ADA, "a long enough passphrase", is_admin=True)
    assert account is not None
    await world.link_printer()
    at = world.clock.now()
    await world.agents.node_alive("node", at)
    await world.agents.agent_connected(
        PRINTER_ID, "node", at, lan_ip=None, agent_version=None, platform="octoprint"
    )
    http = FakePrinterHttp()
    http.statuses[PRINTER_ID] = status_of(State.PRINTING, "vase.gcode", 42.0)
    http.raw["/webcam/snapshot"] = ("image/jpeg", b"jpeg")
    return http


@on_a_loop
async def test_a_printer_appears_and_says_what_it_does(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: home.state().get("progress") == 42.0)
            await home.sees(lambda: home.told.get(AVAILABILITY) == b"online")
            await home.sees(lambda: home.told.get(TOPICS.picture(PRINTER_ID)) == b"jpeg")
            http.statuses[PRINTER_ID] = status_of(State.PAUSED, "vase.gcode", 43.0)
            await home.sees(lambda: home.state().get("state") == "paused")

        assert json.loads(home.told[CONFIG])["device"]["name"] == "Workshop"


@on_a_loop
async def test_a_press_of_a_button_is_an_order(open_world: OpenWorld, mosquitto: Mosquitto) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        http.answers |= {"/pause": {}, "/cancel": {}}
        async with telling(world, http, mosquitto):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            for nonsense in ("", "pause", "/files/delete", "x" * 10_000):
                await home.press(nonsense)
            await home.client.publish(TOPICS.order("anothers"), "PAUSE", qos=1)
            await home.press("PAUSE")
            await home.press("CANCEL")
            await home.sees(lambda: len(http.orders) == 2)

        assert {(one.printer_id, one.command) for one in http.orders} == {
            (PRINTER_ID, "/pause"),
            (PRINTER_ID, "/cancel"),
        }


@on_a_loop
async def test_an_order_that_a_broker_kept_is_not_carried_out_again(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        http.answers |= {"/pause": {}, "/cancel": {}}
        await home.press("CANCEL", retain=True)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            await home.press("PAUSE")
            await home.sees(lambda: bool(http.orders))

        assert [one.command for one in http.orders] == ["/pause"]


@on_a_loop
async def test_an_order_is_refused_as_soon_as_the_printer_is_no_operators(
    open_world: OpenWorld, mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        http.answers |= {"/pause": {}, "/cancel": {}}
        async with telling(world, http, mosquitto, look_every_s=LONGER_THAN_A_TEST_S):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            await home.press("PAUSE")
            await home.sees(lambda: bool(http.orders))
            await world.printers.remove(PRINTER_ID)
            await home.press("CANCEL")
            await home.sees(lambda: "isn't an operator's" in caplog.text)

        assert [one.command for one in http.orders] == ["/pause"]


@on_a_loop
async def test_a_printer_that_is_renamed_or_removed_changes_there_too(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: CONFIG in home.told and STATE in home.told)
            await world.store.write(lambda records: records.printers.rename(PRINTER_ID, "Cellar"))
            await home.sees(lambda: b"Cellar" in home.told[CONFIG])
            await world.printers.remove(PRINTER_ID)
            await home.sees(lambda: not {CONFIG, STATE, AVAILABILITY} & set(home.told))


@on_a_loop
async def test_what_was_removed_while_nobody_told_is_cleared_at_the_next_start(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: CONFIG in home.told)
        others = "homeassistant/device/printreach_zz/config"
        foreign = json.dumps({"origin": {"name": "Printreach", "support_url": "https://other"}})
        await home.client.publish(others, foreign, qos=1, retain=True)
        await world.printers.remove(PRINTER_ID)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: CONFIG not in home.told)

        assert others in home.told


@on_a_loop
async def test_printers_of_people_who_are_no_operators_do_not_appear(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        await world.add_account(BOB)
        bobs = await world.link_printer(BOB, b"b" * 32)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: CONFIG in home.told)
            await world.store.write(lambda records: records.printers.rename(PRINTER_ID, "Cellar"))
            await home.sees(lambda: b"Cellar" in home.told[CONFIG])

        assert TOPICS.config(bobs.printer_id) not in home.told


@on_a_loop
async def test_a_service_that_stops_says_so(open_world: OpenWorld, mosquitto: Mosquitto) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        async with telling(world, FakePrinterHttp(), mosquitto):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")

        await home.sees(lambda: home.told.get(TOPICS.bridge) == b"offline")


class Line:
    """A line to the broker that can be cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> int:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        assert isinstance(port, int)
        return port

    def cut(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers += [writer, back]
        await asyncio.gather(_copy(reader, back), _copy(there, writer), return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(4096):
        writer.write(chunk)


@on_a_loop
async def test_a_service_that_vanishes_is_told_by_its_last_will(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        line = Line(mosquitto.port)
        url = mosquitto.url.replace(f":{mosquitto.port}", f":{await line.open()}")
        async with telling(world, FakePrinterHttp(), url):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            line.cut()
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"offline")


@on_a_loop
async def test_after_a_restart_of_the_broker_everything_is_there_again(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            async with home_at(mosquitto) as home:
                await home.sees(lambda: STATE in home.told)
            mosquitto.stop()
            mosquitto.start()
            async with home_at(mosquitto) as home:
                await home.sees(lambda: {CONFIG, STATE, AVAILABILITY} <= set(home.told))


class BrokerThatGoesWithoutAWord:
    """Takes a connection, and loses it while it is closed."""

    def __init__(self) -> None:
        self.is_connected = asyncio.Event()

    def connected(
        self, _will_topic: str, _will: bytes
    ) -> AbstractAsyncContextManager[BrokerSession]:
        return self._connection()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[BrokerSession]:
        try:
            yield self
        except asyncio.CancelledError:
            raise BrokerLost("the broker gave no answer") from None

    async def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """It takes everything."""

    async def subscribe(self, pattern: str) -> None:
        self.is_connected.set()

    async def messages(self) -> AsyncIterator[BrokerMessage]:
        await asyncio.Event().wait()
        yield BrokerMessage("", b"", False)


@on_a_loop
async def test_a_connection_that_fails_while_it_is_closed_holds_nothing_up(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        broker, live = BrokerThatGoesWithoutAWord(), LiveStatus(FakePrinterHttp(), world.clock)
        home = HomeAssistant(
            core=world.core, broker=broker, live=live, printers=FakePrinterHttp(), version="1"
        )
        running = asyncio.create_task(home.run())
        await broker.is_connected.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await live.close()


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("mqtt://broker", MqttAddress(host="broker", port=1883, is_tls=False)),
        ("mqtts://broker", MqttAddress(host="broker", port=8883, is_tls=True)),
        (
            "mqtt://u:p%40@[::1]:1884/",
            MqttAddress(host="::1", port=1884, is_tls=False, user="u", password="p@"),
        ),
    ],
)
def test_a_brokers_address_is_read(url: str, read: MqttAddress) -> None:
    assert read_mqtt_url(url) == read


@pytest.mark.parametrize("url", ["", "broker", "http://b", "mqtt://", "mqtt://b/t", "mqtt://b?x=1"])
def test_what_is_no_address_of_a_broker_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="broker"):
        read_mqtt_url(url)
