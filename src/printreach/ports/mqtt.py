"""A broker of MQTT, as far as the service uses one."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


class BrokerLost(Exception):
    """The broker was not reached, refused us, or is gone; the message says which."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of a topic that was subscribed to. is_retained: it was there before us."""

    topic: str
    payload: bytes
    is_retained: bool


class BrokerSession(Protocol):
    """A connection to the broker. Each call raises BrokerLost."""

    async def publish(self, topic: str, payload: bytes, *, retain: bool) -> None: ...
    async def subscribe(self, pattern: str) -> None: ...
    def messages(self) -> AsyncIterator[Heard]:
        """Ends by BrokerLost alone. One that cannot be read in time is dropped."""
        ...


class Broker(Protocol):
    """Where to connect to."""

    def connected(self, will_topic: str, will: bytes) -> AbstractAsyncContextManager[BrokerSession]:
        """Connect, and leave a last will, retained, for the case that we vanish."""
        ...
