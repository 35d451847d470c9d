"""An MQTT broker, as far as the service uses one."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


class BrokerLost(Exception):
    """The broker was not reached, refused us, or is gone; the message says which."""


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """A message on a subscribed topic. is_retained: the broker had it before we connected."""

    topic: str
    payload: bytes
    is_retained: bool


class BrokerSession(Protocol):
    """A connection to the broker. Each call raises BrokerLost."""

    async def publish(self, topic: str, payload: bytes, *, retain: bool) -> None: ...
    async def subscribe(self, pattern: str) -> None: ...
    def messages(self) -> AsyncIterator[BrokerMessage]:
        """Yield messages; ends by BrokerLost alone.

        A message that is not read in time is dropped.
        """
        ...


class Broker(Protocol):
    """The configured broker."""

    def connected(self, will_topic: str, will: bytes) -> AbstractAsyncContextManager[BrokerSession]:
        """Connect, with a retained last will for an unexpected end."""
        ...
