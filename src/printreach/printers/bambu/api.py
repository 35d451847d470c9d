"""A printer's MQTT broker: reports, orders and their answers."""

import asyncio
import json
import logging
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiomqtt
from aiomqtt.exceptions import MqttConnectError

from printreach.contract.commands import CommandStatus
from printreach.printers import loose
from printreach.printers.connecting import (
    cancellations,
    end_where_cancelled,
    unreachable,
    unverified_tls,
)
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup

from .orders import Order
from .states import health_codes
from .tls import BoundedSocket, certificate_name

log = logging.getLogger(__name__)

USER = "bblp"
KEEPALIVE_S = 15
MQTT_S = 8.0
"""The timeout for connecting, subscribing, and sending an order."""
ANSWER_S = 10.0
MAX_WAITING_MESSAGES = 100
"""The queue of messages. Reports come once a second, so a dropped one is followed by the next."""

# As MQTT 5 numbers what MQTT 3 calls 4 and 5, and 3; paho-mqtt gives them so for both.
_BAD_CREDENTIALS = {134, 135}
_BUSY = {136, 137, 151}
_REFUSED = 128
UNSIGNED = "0500-0500-0001-0007"
"""The health-list entry of a printer that refused an order because its maker has not signed it."""

_NUMBER = re.compile(r"^\[(Errno|code:)[^\]]*\] ?")
_Key = tuple[str, str]


class BambuApi:
    """One printer's broker. One task is connected() and listens; any may send orders."""

    def __init__(self, setup: PrinterSetup) -> None:
        self._setup = setup
        self._client: aiomqtt.Client | None = None
        self._serial = setup.serial
        self._sequence = int(setup.uniform(20_000, 1_000_000))
        self._lists_unsigned = False
        self._waiting: dict[_Key, asyncio.Future[Json]] = {}

    @property
    def where(self) -> str:
        return self._setup.host

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AsyncIterator[object]]:
        """Yield the printer's messages while this is open. Raises PrinterRefused."""
        access_code = self._setup.access_code
        if access_code is None:
            raise self._refused_credentials("asks for its access code, which the agent has not got")
        serial = await self._find_serial()
        client = self._client_for(access_code)
        before = cancellations()
        await self._enter(client)
        try:
            await self._subscribe(client, serial)
            end_where_cancelled(since=before)
            self._client = client
            yield self._messages(client)
        finally:
            self._client = None
            self._give_up()
            await _leave(client)
            end_where_cancelled(since=before)

    async def send(self, order: Order) -> str:
        """Send without waiting for an answer; its sequence number. Raises PrinterRefused."""
        client = self._client
        if client is None:
            raise self._unreachable("there is no connection")
        self._sequence += 1
        number = str(self._sequence)
        message = {order.part: {"sequence_id": number, "command": order.command, **order.says}}
        topic, before = f"device/{self._serial}/request", cancellations()
        try:
            await client.publish(topic, json.dumps(message), timeout=MQTT_S)
        except (aiomqtt.MqttError, OSError, ValueError) as exc:
            raise self._unreachable(_why(exc)) from exc
        end_where_cancelled(since=before)
        return number

    async def order(self, order: Order) -> Json:
        """Return the printer's answer. Raises PrinterRefused where that is a no, or none comes."""
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        key = (order.command, str(self._sequence + 1))
        self._waiting[key] = answer
        try:
            await self.send(order)
            async with asyncio.timeout(ANSWER_S):
                report = await answer
        except TimeoutError:
            if self._lists_unsigned:
                raise _unsigned() from None
            sentence = f"The printer gave no answer within {ANSWER_S:.0f} s."
            raise PrinterRefused(CommandStatus.TIMED_OUT, sentence) from None
        finally:
            self._waiting.pop(key, None)
        _require_success(report)
        return report

    async def other_serial(self) -> PrinterRefused | None:
        """Return a refusal where the printer's certificate names another serial number."""
        try:
            name = await certificate_name(self._setup.host, self._setup.port)
        except (OSError, TimeoutError):
            return None
        return None if name in (None, self._serial) else self._unknown_serial()

    def _unreachable(self, why: str) -> PrinterRefused:
        return unreachable(f"The printer at {self.where}", why)

    # --- the connection ---------------------------------------------------------------------------

    async def _find_serial(self) -> str:
        """Return the serial number as it was given, else from the printer's certificate."""
        if self._serial is None:
            try:
                self._serial = await certificate_name(self._setup.host, self._setup.port)
            except (OSError, TimeoutError) as exc:
                raise self._unreachable(_why(exc)) from exc
        if not self._serial or any(sign in self._serial for sign in "/+#"):
            self._serial = self._setup.serial
            raise self._refused_credentials("has no serial number that can be read: give it")
        return self._serial

    def _client_for(self, access_code: str) -> aiomqtt.Client:
        return aiomqtt.Client(
            self._setup.host,
            self._setup.port,
            username=USER,
            password=access_code,
            keepalive=KEEPALIVE_S,
            timeout=MQTT_S,
            max_queued_incoming_messages=MAX_WAITING_MESSAGES,
            tls_context=_context(),
            tls_insecure=True,
        )

    async def _messages(self, client: aiomqtt.Client) -> AsyncIterator[object]:
        try:
            async for message in client.messages:
                report = _parsed(message.payload)
                self._settle(report)
                yield report
        except aiomqtt.MqttError as exc:
            raise self._unreachable(_why(exc)) from exc

    async def _enter(self, client: aiomqtt.Client) -> None:
        try:
            await client.__aenter__()
        except MqttConnectError as exc:
            raise self._refused_connection(exc) from exc
        except (aiomqtt.MqttError, OSError, ValueError) as exc:
            raise self._unreachable(_why(exc)) from exc

    async def _subscribe(self, client: aiomqtt.Client, serial: str) -> None:
        """Subscribe.

        A printer refuses or disconnects where the serial number is another printer's.
        """
        unknown = self._unknown_serial()
        try:
            granted = await client.subscribe(f"device/{serial}/report", timeout=MQTT_S)
        except aiomqtt.MqttError as exc:
            raise unknown from exc
        if any(_code(code) >= _REFUSED for code in granted):
            raise unknown

    def _refused_connection(self, exc: aiomqtt.MqttCodeError) -> PrinterRefused:
        code = _code(exc.rc)
        if code in _BAD_CREDENTIALS:
            return self._refused_credentials("refuses the access code")
        if code in _BUSY:
            sentence = f"The printer at {self.where} serves too many clients; close one of them."
            return PrinterRefused(CommandStatus.TOO_MANY_CLIENTS, sentence)
        return self._unreachable(_why(exc))

    def _unknown_serial(self) -> PrinterRefused:
        return self._refused_credentials("doesn't go by the serial number that was given")

    def _refused_credentials(self, why: str) -> PrinterRefused:
        return PrinterRefused(CommandStatus.NOT_AUTHORIZED, f"The printer at {self.where} {why}.")

    # --- answers ----------------------------------------------------------------------------------

    def _settle(self, report: object) -> None:
        """Hand an answer to who waits for it."""
        for part in loose.obj(report).values():
            command, number = loose.text(part, "command"), loose.text(part, "sequence_id")
            answer = self._waiting.get((command or "", number or ""))
            if answer is not None and not answer.done() and "result" in loose.obj(part):
                answer.set_result(loose.obj(part))
        if "hms" in loose.obj(report, "print"):
            self._look_for_unsigned(health_codes(loose.obj(report, "print")))

    def _look_for_unsigned(self, codes: list[str]) -> None:
        """Fail waiting orders if the health list shows an unsigned order.

        Such entries stay for a while.
        """
        before, self._lists_unsigned = self._lists_unsigned, UNSIGNED in codes
        if self._lists_unsigned and not before:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(_unsigned())

    def _give_up(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._unreachable("the connection broke off"))


def _context() -> ssl.SSLContext:
    context = unverified_tls()
    context.sslsocket_class = BoundedSocket
    return context


async def _leave(client: aiomqtt.Client) -> None:
    try:
        await client.__aexit__(None, None, None)
    except (aiomqtt.MqttError, OSError) as exc:
        log.debug("the goodbye to the printer failed: %s", exc)


def _parsed(payload: object) -> object:
    """Return a message, None for what is no JSON."""
    return loose.parsed(payload) if isinstance(payload, bytes | bytearray | str) else None


def _code(code: object) -> int:
    value = getattr(code, "value", code)
    return value if isinstance(value, int) else 0


def _require_success(report: Json) -> None:
    result = loose.text(report, "result") or ""
    if result.lower() == "success":
        return
    reason = loose.text(report, "reason") or result or "it gives no reason"
    if "verif" in reason.lower() or "sign" in reason.lower():
        raise _unsigned()
    raise failed(f"The printer refused: {reason[:200]}.")


def _unsigned() -> PrinterRefused:
    return PrinterRefused(
        CommandStatus.NOT_AUTHORIZED,
        "The printer takes orders only from its maker's programs: turn on LAN mode and developer "
        "mode in its settings.",
    )


def _why(exc: Exception) -> str:
    """Return the end of a sentence that says why."""
    if isinstance(exc, TimeoutError):
        return "it gives no answer"
    if isinstance(exc, OSError) and exc.strerror:
        return exc.strerror
    return _NUMBER.sub("", str(exc)).rstrip(".") or type(exc).__name__
