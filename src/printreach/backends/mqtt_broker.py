"""An MQTT broker by aiomqtt."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import aiomqtt

from printreach.ports.mqtt import BrokerLost, BrokerMessage, BrokerSession, MqttAddress

_TIMEOUT_S: Final = 10.0
_MAX_WAITING: Final = 1000


class MqttBroker:
    """ports.Broker."""

    def __init__(self, address: MqttAddress) -> None:
        self._address = address

    @asynccontextmanager
    async def connected(self, will_topic: str, will: bytes) -> AsyncIterator[BrokerSession]:
        where = self._address
        client = aiomqtt.Client(
            where.host,
            where.port,
            username=where.user,
            password=where.password,
            will=aiomqtt.Will(will_topic, will, qos=1, retain=True),
            timeout=_TIMEOUT_S,
            tls_context=ssl.create_default_context() if where.is_tls else None,
            max_queued_incoming_messages=_MAX_WAITING,
        )
        before = _cancellations()
        try:
            with _translated():
                async with client:
                    _end_where_cancelled(since=before)
                    yield _Session(client)
                _end_where_cancelled(since=before)
        finally:
            _take_note_of_end(client)


def _take_note_of_end(client: aiomqtt.Client) -> None:
    """Retrieve why the broker went away.

    Where nobody waited for the broker just then, aiomqtt leaves that in a future, and asyncio logs
    an error of its own for it.
    """
    ended = client._disconnected
    if ended.done() and not ended.cancelled():
        ended.exception()


class _Session:
    """ports.BrokerSession."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self._client = client

    async def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        before = _cancellations()
        with _translated():
            await self._client.publish(topic, payload, qos=1, retain=retain)
        _end_where_cancelled(since=before)

    async def subscribe(self, pattern: str) -> None:
        before = _cancellations()
        with _translated():
            await self._client.subscribe(pattern, qos=1)
        _end_where_cancelled(since=before)

    async def messages(self) -> AsyncIterator[BrokerMessage]:
        with _translated():
            async for message in self._client.messages:
                yield BrokerMessage(str(message.topic), message.payload, message.retain)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (aiomqtt.MqttError, OSError) as error:
        # ssl's errors are OSErrors; none of these messages contains the password.
        raise BrokerLost(str(error) or type(error).__name__) from error


def _cancellations() -> int:
    """Return how many cancellations of the caller are pending."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def _end_where_cancelled(*, since: int) -> None:
    """Raise CancelledError if a cancellation came together with what was awaited.

    aiomqtt waits by asyncio.wait_for, which drops such a cancellation before Python 3.12: the
    caller would run for ever, and the task that stops it would wait for its end.
    """
    if _cancellations() > since:
        raise asyncio.CancelledError
