"""The broker at which Home Assistant hears of printers, in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.ports.mqtt import BrokerMessage, BrokerSession
from printreach.rules.home_assistant import Topics

TOPICS = Topics()


class MemoryBroker:
    """ports.mqtt.Broker. retained: what a subscriber that comes now would be told, by topic.

    published: everything, in order, until somebody takes it; with the time of the loop's clock.
    """

    def __init__(self) -> None:
        self.retained: dict[str, bytes] = {}
        self.published: list[tuple[str, bytes, float]] = []
        self._heard: asyncio.Queue[BrokerMessage] = asyncio.Queue()

    def order(self, printer_id: str, payload: str) -> None:
        """Press a button in Home Assistant."""
        self._heard.put_nowait(
            BrokerMessage(TOPICS.order(printer_id), payload.encode(), is_retained=False)
        )

    @asynccontextmanager
    async def connected(self, will_topic: str, will: bytes) -> AsyncIterator[BrokerSession]:
        self._heard = asyncio.Queue()
        for topic, payload in self.retained.items():
            self._heard.put_nowait(BrokerMessage(topic, payload, is_retained=True))
        yield self

    async def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        self.published.append((topic, payload, asyncio.get_running_loop().time()))
        if retain and payload:
            self.retained[topic] = payload
        elif retain:
            self.retained.pop(topic, None)

    async def subscribe(self, pattern: str) -> None: ...

    async def messages(self) -> AsyncIterator[BrokerMessage]:
        while True:
            yield await self._heard.get()
