"""A client of a printer's MQTT broker. Every failure is a PrinterRefused."""

import json
import logging
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiomqtt
from aiomqtt.exceptions import MqttConnectError

from printreach.languages import N_, in_english

from .connecting import (
    cancellations,
    end_where_cancelled,
    not_authorized,
    too_many_clients,
    unreachable,
)
from .port import PrinterRefused

log = logging.getLogger(__name__)

KEEPALIVE_S = 15
MQTT_S = 8.0
"""The timeout for connecting, subscribing, and sending an order."""
MAX_WAITING_MESSAGES = 100
"""The queue of messages. Reports come once a second, so a dropped one is followed by the next."""

# As MQTT 5 numbers what MQTT 3 calls 4 and 5, and 3; paho-mqtt gives them so for both.
_BAD_CREDENTIALS = {134, 135}
_BUSY = {136, 137, 151}
_REFUSED = 128

_NUMBER = re.compile(r"^\[(Errno|code:)[^\]]*\] ?")


class MqttClient:
    """One connection. where: the printer's name in sentences. identifier: None for a random one."""

    def __init__(
        self,
        where: str,
        host: str,
        port: int,
        *,
        user: str,
        password: str,
        identifier: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._where = where
        self._client = aiomqtt.Client(
            host,
            port,
            username=user,
            password=password,
            identifier=identifier,
            keepalive=KEEPALIVE_S,
            timeout=MQTT_S,
            max_queued_incoming_messages=MAX_WAITING_MESSAGES,
            tls_context=tls,
            tls_insecure=None if tls is None else True,
        )

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Connect, and leave at the end of the block."""
        before = cancellations()
        await self._enter()
        try:
            end_where_cancelled(since=before)
            yield
        finally:
            await self._leave()
            end_where_cancelled(since=before)

    async def messages(self) -> AsyncIterator[aiomqtt.Message]:
        try:
            async for message in self._client.messages:
                yield message
        except aiomqtt.MqttError as exc:
            raise self._lost(exc) from exc

    async def subscribe(self, topic: str) -> None:
        before = cancellations()
        try:
            granted = await self._client.subscribe(topic, timeout=MQTT_S)
        except aiomqtt.MqttError as exc:
            raise self._lost(exc) from exc
        if any(_code(code) >= _REFUSED for code in granted):
            raise unknown_serial(self._where)
        end_where_cancelled(since=before)

    async def publish(self, topic: str, message: Mapping[str, object]) -> None:
        before = cancellations()
        try:
            await self._client.publish(topic, json.dumps(message), timeout=MQTT_S)
        except (aiomqtt.MqttError, OSError, ValueError) as exc:
            raise self._lost(exc) from exc
        end_where_cancelled(since=before)

    async def _enter(self) -> None:
        try:
            await self._client.__aenter__()
        except MqttConnectError as exc:
            code = _code(exc.rc)
            if code in _BAD_CREDENTIALS:
                raise not_authorized(
                    in_english("%(where)s refuses the access code.", where=self._where)
                ) from exc
            if code in _BUSY:
                raise too_many_clients(self._where) from exc
            raise self._lost(exc) from exc
        except (aiomqtt.MqttError, OSError, ValueError) as exc:
            raise self._lost(exc) from exc

    async def _leave(self) -> None:
        try:
            await self._client.__aexit__(None, None, None)
        except (aiomqtt.MqttError, OSError) as exc:
            log.debug("the goodbye to the printer failed: %s", exc)

    def _lost(self, exc: Exception) -> PrinterRefused:
        return unreachable(self._where, reason_of(exc))


def unknown_serial(where: str) -> PrinterRefused:
    return not_authorized(
        in_english("%(where)s doesn't go by the serial number that was given.", where=where)
    )


def reason_of(exc: Exception) -> str:
    """Return the end of a sentence that says why."""
    if isinstance(exc, TimeoutError):
        return N_("it gives no answer")
    if isinstance(exc, OSError) and exc.strerror:
        return exc.strerror
    return _NUMBER.sub("", str(exc)).rstrip(".") or type(exc).__name__


def _code(code: object) -> int:
    value = getattr(code, "value", code)
    return value if isinstance(value, int) else 0
