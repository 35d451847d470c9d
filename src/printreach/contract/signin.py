"""The messages of the handshake, of linking and after it: JSON in MESSAGE frames.

    agent    Hello ........................... who I am, a nonce
    service  Challenge ....................... who I am, a nonce, my signature over both
    agent    Proof ........................... my signature over both
    service  Welcome, or LinkOffer again and again until Linked

To a service with the capability the agent may dial a second tunnel, a standby, which is welcomed
and says nothing more, until the agent says Primary on it: the other one has ended.

Later the agent sends LanAddress when its own has changed. To an agent with the capability the
service sends RemoteControl before Welcome or Linked and whenever it changes, Detector, and
MakeHostApiKey, which is answered with HostApiKey. To a service with the capability the agent sends
Events, which is answered with EventsStored.

When the printer is removed the tunnel closes with the code UNLINKED, and the next sign-in offers a
link code.

docs/protocol.md, "Sign-in and linking". Bytes travel as base64.
"""

from typing import Annotated

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.events import (
    LATEST_UNIX_TIME,
    MAX_EVENTS_AT_ONCE,
    EventId,
    PrintEvent,
    UnixTime,
)
from printreach.contract.sizes import Text, Url
from printreach.contract.status import DetectorStatus

DETECTOR_NEWS = "detector"
"""The capability of agents that understand Detector."""
HOST_API_KEYS = "host-api-key"
"""The capability of agents that understand MakeHostApiKey."""
REMOTE_CONTROL = "remote-control"
"""The capability of agents that understand RemoteControl."""
LOWER_CASE_METHODS = "lower-case-methods"
"""The capability of agents that accept requests whose method isn't all capitals."""
REQUEST_IDS = "request-ids"
"""The capability of agents that take the id of a request off its head."""
EVENTS = "events"
"""The capability of services that store Events."""
SEVERAL_NODES = "several-nodes"
"""The capability of services of which another node serves the agents of one that hangs. Agents look
often whether the node answers."""

STANDBY_TUNNELS = "standby-tunnels"
"""The capability of services that keep a second tunnel of an agent at another node; they understand
Primary."""

Host = Annotated[str, msgspec.Meta(max_length=300)]
"""With its port: a host name has 253 characters at most."""
Word = Annotated[str, msgspec.Meta(max_length=100)]
AppName = Annotated[str, msgspec.Meta(min_length=2, max_length=60)]
UnixTimeMs = Annotated[int, msgspec.Meta(ge=0, le=LATEST_UNIX_TIME * 1000)]
LanPort = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
"""Of the agent's own page at its address on the LAN; 0 where there is none."""
ShortWhile = Annotated[int, msgspec.Meta(ge=0, le=86_400)]
"""Seconds, a day at most."""


class _Message(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", tag_field="Type"):
    """One message; its class name travels as `Type`."""


class Hello(_Message, frozen=True, kw_only=True, tag=True):
    """service_host: the host and port the agent dialled; it is part of what is signed.

    lan_port: left out by older agents. agent_run: random, the same in all tunnels of one run of the
    agent; to services with the capability alone, as is is_standby.
    """

    public_key: bytes
    nonce: bytes
    service_host: Host
    agent_version: Word
    platform: Word
    lan_ip: Word | None = None
    lan_port: LanPort | msgspec.UnsetType = msgspec.UNSET
    agent_run: Word | msgspec.UnsetType = msgspec.UNSET
    is_standby: bool | msgspec.UnsetType = msgspec.UNSET


class Challenge(_Message, frozen=True, kw_only=True, tag=True):
    """time_unix_sec: the service's clock; an agent whose clock is off says so in its log.

    time_unix_ms: the same, to the millisecond; left out by older services.
    """

    service_key: bytes
    nonce: bytes
    signature: bytes
    time_unix_sec: UnixTime
    time_unix_ms: UnixTimeMs | msgspec.UnsetType = msgspec.UNSET

    @property
    def time_unix_s(self) -> float:
        """The service's clock, as exactly as it was sent."""
        if self.time_unix_ms is msgspec.UNSET:
            return float(self.time_unix_sec)
        return self.time_unix_ms / 1000


class Proof(_Message, frozen=True, kw_only=True, tag=True):
    signature: bytes


class Welcome(_Message, frozen=True, kw_only=True, tag=True):
    """The agent's printer belongs to an account; requests may follow."""

    printer_id: Word
    printer_name: Text


class LinkOffer(_Message, frozen=True, kw_only=True, tag=True):
    """The printer belongs to no account yet: show this code."""

    link_code: Word
    link_url: Url
    expires_in_sec: ShortWhile


class Linked(_Message, frozen=True, kw_only=True, tag=True):
    """Somebody entered the code: pin the service's key from this handshake."""

    printer_id: Word
    printer_name: Text


class LanAddress(_Message, frozen=True, kw_only=True, tag=True):
    """The agent's own address on the LAN has changed. lan_port: left out by older agents."""

    lan_ip: Word
    lan_port: LanPort | msgspec.UnsetType = msgspec.UNSET


class Primary(_Message, frozen=True, kw_only=True, tag=True):
    """The agent's standby tunnel is its primary one from now on."""


class RemoteControl(_Message, frozen=True, kw_only=True, tag=True):
    """is_locked: no one may control the printer remotely, until the service sends another."""

    is_locked: bool


class Detector(_Message, frozen=True, kw_only=True, tag=True):
    """The failure detector's latest status of a print; durations are as of now."""

    print_id: Word
    status: DetectorStatus


class MakeHostApiKey(_Message, frozen=True, kw_only=True, tag=True):
    """The printer's owner wants a key of the printer's own software for this app."""

    request_id: Word
    app_name: AppName


class HostApiKey(_Message, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """The key, or a sentence with the reason why it was not made."""

    request_id: Word
    api_key: Annotated[str, msgspec.Meta(max_length=1000)] | None = None
    error: Annotated[str, msgspec.Meta(max_length=1000)] | None = None


class Events(_Message, frozen=True, kw_only=True, tag=True):
    """Events, oldest first; the next are sent once these are stored."""

    events: Annotated[list[PrintEvent], msgspec.Meta(min_length=1, max_length=MAX_EVENTS_AT_ONCE)]


class EventsStored(_Message, frozen=True, kw_only=True, tag=True):
    """The service has stored these durably: the agent may drop them."""

    event_ids: Annotated[list[EventId], msgspec.Meta(max_length=MAX_EVENTS_AT_ONCE)]


FromAgent = Hello | Proof | LanAddress | HostApiKey | Events | Primary
FromService = (
    Challenge
    | Welcome
    | LinkOffer
    | Linked
    | RemoteControl
    | Detector
    | MakeHostApiKey
    | EventsStored
)

NONCE_BYTES = 32


class BadSignInMessage(ValueError):
    """A message can't be decoded."""


_from_agent: msgspec.json.Decoder[FromAgent] = msgspec.json.Decoder(FromAgent)
_from_service: msgspec.json.Decoder[FromService] = msgspec.json.Decoder(FromService)
_encoder = msgspec.json.Encoder()


def encode(message: FromAgent | FromService) -> bytes:
    return _encoder.encode(message)


def decode_from_agent(payload: bytes) -> FromAgent:
    """Raises BadSignInMessage."""
    try:
        return _from_agent.decode(payload)
    except BAD_JSON as exc:
        raise BadSignInMessage(str(exc)) from exc


def decode_from_service(payload: bytes) -> FromService:
    """Raises BadSignInMessage."""
    try:
        return _from_service.decode(payload)
    except BAD_JSON as exc:
        raise BadSignInMessage(str(exc)) from exc
