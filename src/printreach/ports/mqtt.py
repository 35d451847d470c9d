"""An MQTT broker, as far as the service uses one."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True, kw_only=True, slots=True)
class MqttAddress:
    """The broker's address and our credentials."""

    host: str
    port: int
    is_tls: bool
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def read_mqtt_url(url: str) -> MqttAddress:
    """Parse `mqtt://user:password@host:1883`, or `mqtts` for TLS. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError("not an address of a broker")
    if parts.query or parts.fragment:
        raise ValueError("not an address of a broker")
    return MqttAddress(
        host=parts.hostname,
        port=parts.port or _PORTS[parts.scheme],
        is_tls=parts.scheme == "mqtts",
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
    )


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
