"""The broker of a Centauri Carbon 2: reports, orders and their answers."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import IntEnum

import aiomqtt
from aiomqtt.exceptions import MqttConnectError

from printreach.contract.files import JsonObject
from printreach.printers import loose
from printreach.printers.connecting import (
    MAX_MQTT_MESSAGE_BYTES,
    cancellations,
    end_where_cancelled,
)
from printreach.printers.elegoo.live_view import (
    Answers,
    not_authorized,
    too_many_clients,
    unreachable,
)
from printreach.printers.elegoo.ports import Ports
from printreach.printers.loose import Json
from printreach.printers.port import failed
from printreach.printers.setup import PrinterSetup

log = logging.getLogger(__name__)

USER, USUAL_CODE = "elegoo", "123456"
KEEPALIVE_S = 15
MQTT_S = 8.0
REGISTER_S = 5.0
DEAD_S = 65.0
MAX_WAITING_MESSAGES = 100

# As MQTT 5 numbers what MQTT 3 calls 4 and 5, and 3; paho-mqtt gives them so for both.
_BAD_CREDENTIALS = {134, 135}
_BUSY = {136, 137, 151}
_REFUSED = 128
_BAD_TOKEN = 1000


class Method(IntEnum):
    """The requests that are sent. The numbers are the protocol's."""

    ATTRIBUTES = 1001
    STATUS = 1002
    START = 1020
    PAUSE = 1021
    STOP = 1022
    RESUME = 1023
    HOME = 1026
    MOVE = 1027
    TEMPS = 1028
    LED = 1029
    CAMERA = 1042
    LIST = 1044
    DELETE = 1047
    CANVAS = 2005


_ERRORS = {
    1003: "it doesn't take these arguments",
    1009: "it is busy",
    1010: "it isn't printing",
    1012: "it knows no such print",
}


class Cc2Api:
    """One printer. One task is connected() and listens; any may ask."""

    def __init__(self, setup: PrinterSetup, ports: Ports) -> None:
        self.host = setup.host
        self.code = setup.access_code or USUAL_CODE
        self._port = ports.mqtt
        self._serial = setup.serial or ""
        self._name = f"printreach_{setup.token_bytes(4).hex()}"
        self._client: aiomqtt.Client | None = None
        self._answers = Answers()
        self._number = 0

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AsyncIterator[Json]]:
        """Yield the printer's messages while this is open. Raises PrinterRefused."""
        if not self._serial or any(sign in self._serial for sign in "/+#"):
            raise not_authorized(self.host, "needs its serial number beside the access code")
        client = self._client_for()
        before = cancellations()
        await self._enter(client)
        try:
            await self._register(client)
            await self._subscribe(client, "api_status")
            await self._subscribe(client, f"{self._name}/api_response")
            end_where_cancelled(since=before)
            self._client = client
            yield self._messages(client)
        except aiomqtt.MqttError as exc:
            raise unreachable(self.host, _why(exc)) from exc
        finally:
            self._client = None
            self._answers.give_up(unreachable(self.host, "the connection broke off"))
            await _leave(client)
            end_where_cancelled(since=before)

    async def send(self, method: Method, params: JsonObject) -> int:
        """Send without waiting for an answer; its number. Raises PrinterRefused."""
        self._number += 1
        number = self._number
        await self._publish({"id": number, "method": int(method), "params": params})
        return number

    async def ask(self, method: Method, params: JsonObject) -> Json:
        """Return the result. Raises PrinterRefused where that is a no, or none comes."""

        async def sending() -> None:
            await self.send(method, params)

        result = await self._answers.after(sending(), str(self._number + 1))
        error = loose.whole(result, "error_code")
        if error == _BAD_TOKEN:
            raise not_authorized(self.host, "refuses the access code")
        if error:
            words = _ERRORS.get(error, f"error {error}")
            raise failed(f"The printer refused: {words}.")
        return result

    async def ping(self) -> None:
        """Raises PrinterRefused."""
        await self._publish({"type": "PING"})

    # --- the connection ---------------------------------------------------------------------------

    def _client_for(self) -> aiomqtt.Client:
        return aiomqtt.Client(
            self.host,
            self._port,
            username=USER,
            password=self.code,
            identifier=self._name,
            keepalive=KEEPALIVE_S,
            timeout=MQTT_S,
            max_queued_incoming_messages=MAX_WAITING_MESSAGES,
        )

    async def _enter(self, client: aiomqtt.Client) -> None:
        try:
            await client.__aenter__()
        except MqttConnectError as exc:
            code = _code(exc.rc)
            if code in _BAD_CREDENTIALS:
                raise not_authorized(self.host, "refuses the access code") from exc
            if code in _BUSY:
                raise too_many_clients(self.host) from exc
            raise unreachable(self.host, _why(exc)) from exc
        except (aiomqtt.MqttError, OSError, ValueError) as exc:
            raise unreachable(self.host, _why(exc)) from exc

    async def _subscribe(self, client: aiomqtt.Client, topic: str) -> None:
        granted = await client.subscribe(f"elegoo/{self._serial}/{topic}", timeout=MQTT_S)
        if any(_code(code) >= _REFUSED for code in granted):
            raise not_authorized(self.host, "doesn't go by the serial number that was given")

    async def _register(self, client: aiomqtt.Client) -> None:
        """Register: a printer answers only to registered clients. Raises PrinterRefused."""
        request_id = f"{self._name}_req"
        await self._subscribe(client, f"{request_id}/register_response")
        order = {"client_id": self._name, "request_id": request_id}
        topic = f"elegoo/{self._serial}/api_register"
        await client.publish(topic, json.dumps(order), timeout=MQTT_S)
        try:
            async with asyncio.timeout(REGISTER_S):
                error = await self._registered(client)
        except TimeoutError:
            why = "it doesn't take the agent on; is this its serial number?"
            raise unreachable(self.host, why.rstrip("?")) from None
        if "too many" in error.lower():
            raise too_many_clients(self.host)
        if error != "ok":
            raise unreachable(self.host, f"it doesn't take the agent on ({error[:100]})")

    async def _registered(self, client: aiomqtt.Client) -> str:
        async for message in client.messages:
            reply = _read(message.payload)
            if loose.text(reply, "client_id") == self._name:
                return loose.text(reply, "error") or "no reason given"
        return "no answer"

    async def _messages(self, client: aiomqtt.Client) -> AsyncIterator[Json]:
        incoming = aiter(client.messages)
        while True:
            try:
                async with asyncio.timeout(DEAD_S):
                    message = await anext(incoming)
            except TimeoutError:
                raise unreachable(self.host, "it says nothing any more") from None
            report = _read(message.payload)
            number = loose.whole(report, "id")
            if str(message.topic).endswith("/api_response") and number is not None:
                self._answers.settle(str(number), loose.obj(report, "result"))
            yield report

    async def _publish(self, order: JsonObject) -> None:
        if self._client is None:
            raise unreachable(self.host, "there is no connection")
        topic, before = f"elegoo/{self._serial}/{self._name}/api_request", cancellations()
        try:
            await self._client.publish(topic, json.dumps(order), timeout=MQTT_S)
        except (aiomqtt.MqttError, OSError, ValueError) as exc:
            raise unreachable(self.host, _why(exc)) from exc
        end_where_cancelled(since=before)


async def _leave(client: aiomqtt.Client) -> None:
    try:
        await client.__aexit__(None, None, None)
    except (aiomqtt.MqttError, OSError) as exc:
        log.debug("the goodbye to the printer failed: %s", exc)


def _read(payload: object) -> Json:
    """Parse a message; an empty one for what is no JSON object."""
    if not isinstance(payload, bytes | bytearray | str) or len(payload) > MAX_MQTT_MESSAGE_BYTES:
        return {}
    return loose.obj(loose.parsed(payload))


def _code(code: object) -> int:
    value = getattr(code, "value", code)
    return value if isinstance(value, int) else 0


def _why(exc: Exception) -> str:
    """Return the end of a sentence that says why."""
    if isinstance(exc, OSError) and exc.strerror:
        return exc.strerror
    return str(exc).rstrip(".") or type(exc).__name__
