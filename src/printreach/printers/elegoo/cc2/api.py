"""The broker of a Centauri Carbon 2: reports, orders and their answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import IntEnum

from printreach.contract.files import JsonObject
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import (
    MAX_MQTT_MESSAGE_BYTES,
    not_authorized,
    too_many_clients,
    unreachable,
)
from printreach.printers.following import Answers
from printreach.printers.loose import Json
from printreach.printers.mqtt import MqttClient
from printreach.printers.port import failed
from printreach.printers.setup import PrinterSetup

USUAL_PORT = 1883
USER, USUAL_CODE = "elegoo", "123456"
REGISTER_S = 5.0
DEAD_S = 65.0

BAD_TOKEN = 1000


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
    FANS = 1030
    SPEED = 1031
    CAMERA = 1042
    LIST = 1044
    DELETE = 1047
    CANVAS = 2005


_ERRORS = {
    1003: N_("it doesn't take these arguments"),
    1009: N_("it is busy"),
    1010: N_("it isn't printing"),
    1012: N_("it knows no such print"),
}


class Cc2Api:
    """One printer. One task is connected() and listens; any may ask."""

    def __init__(self, setup: PrinterSetup) -> None:
        self.host = setup.host
        self.where = in_english("The printer at %(host)s", host=setup.host)
        self.code = setup.access_code or USUAL_CODE
        self.port = setup.ports.get("mqtt", USUAL_PORT)
        self._serial = setup.serial or ""
        self._name = f"printreach_{setup.token_bytes(4).hex()}"
        self._client: MqttClient | None = None
        self._answers = Answers()
        self._number = 0

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AsyncIterator[Json]]:
        """Yield the printer's messages while this is open. Raises PrinterRefused."""
        if not self._serial or any(sign in self._serial for sign in "/+#"):
            raise not_authorized(
                in_english(
                    "%(where)s needs its serial number beside the access code.", where=self.where
                )
            )
        client = MqttClient(
            self.where,
            self.host,
            self.port,
            user=USER,
            password=self.code,
            identifier=self._name,
        )
        async with client.connected():
            await self._register(client)
            await self._subscribe(client, "api_status")
            await self._subscribe(client, f"{self._name}/api_response")
            self._client = client
            try:
                yield self._messages(client)
            finally:
                self._client = None
                self._answers.give_up(unreachable(self.where, N_("the connection broke off")))

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
        if error == BAD_TOKEN:
            raise not_authorized(in_english("%(where)s refuses the access code.", where=self.where))
        if error:
            words = _ERRORS.get(error, in_english("error %(number)s", number=error))
            raise failed(in_english("The printer refused: %(why)s.", why=words))
        return result

    async def ping(self) -> None:
        """Raises PrinterRefused."""
        await self._publish({"type": "PING"})

    # --- the connection ---------------------------------------------------------------------------

    async def _subscribe(self, client: MqttClient, topic: str) -> None:
        await client.subscribe(f"elegoo/{self._serial}/{topic}")

    async def _register(self, client: MqttClient) -> None:
        """Register: a printer answers only to registered clients. Raises PrinterRefused."""
        request_id = f"{self._name}_req"
        await self._subscribe(client, f"{request_id}/register_response")
        order = {"client_id": self._name, "request_id": request_id}
        topic = f"elegoo/{self._serial}/api_register"
        await client.publish(topic, order)
        try:
            async with asyncio.timeout(REGISTER_S):
                error = await self._registered(client)
        except TimeoutError:
            why = N_("it doesn't take the agent on; is this its serial number")
            raise unreachable(self.where, why) from None
        if "too many" in error.lower():
            raise too_many_clients(self.where)
        if error != "ok":
            raise unreachable(
                self.where,
                in_english("it doesn't take the agent on (%(error)s)", error=error[:100]),
            )

    async def _registered(self, client: MqttClient) -> str:
        async for message in client.messages():
            reply = _read(message.payload)
            if loose.text(reply, "client_id") == self._name:
                return loose.text(reply, "error") or "no reason given"
        return "no answer"

    async def _messages(self, client: MqttClient) -> AsyncIterator[Json]:
        incoming = client.messages()
        while True:
            try:
                async with asyncio.timeout(DEAD_S):
                    message = await anext(incoming)
            except TimeoutError:
                raise unreachable(self.where, N_("it says nothing any more")) from None
            report = _read(message.payload)
            number = loose.whole(report, "id")
            if str(message.topic).endswith("/api_response") and number is not None:
                self._answers.settle(str(number), loose.obj(report, "result"))
            yield report

    async def _publish(self, order: JsonObject) -> None:
        if self._client is None:
            raise unreachable(self.where, N_("there is no connection"))
        await self._client.publish(f"elegoo/{self._serial}/{self._name}/api_request", order)


def _read(payload: object) -> Json:
    """Parse a message; an empty one for what is no JSON object."""
    if not isinstance(payload, bytes | bytearray | str) or len(payload) > MAX_MQTT_MESSAGE_BYTES:
        return {}
    return loose.obj(loose.parsed(payload))
