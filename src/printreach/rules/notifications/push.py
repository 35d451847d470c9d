"""Notifications by Web Push: the subscription of a browser, and what is sent to it.

Sources: RFC 8030 (delivery, TTL, urgency, topic), RFC 8291 (encryption), and the Push API of the
W3C, which defines how a browser describes its subscription.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from printreach.contract.events import EventType
from printreach.languages import N_, translate
from printreach.rules.notifications import GIVEN_UP_AFTER, PASSING, TROUBLE
from printreach.rules.printers.members import Role

MAX_DEVICES: Final = 10
"""Devices of an account that notifications are pushed to."""
LONGEST_SUBSCRIPTION: Final = 4096
"""Characters of the JSON that a browser sends; those of today have 400 to 900."""
LONGEST_ENDPOINT: Final = 1500
MAX_PAYLOAD_BYTES: Final = 3993
"""RFC 8291, section 4: a push service takes 4096 bytes, 103 of which are not content."""
PASSING_TTL: Final = timedelta(hours=1)
"""A push service keeps news of the moment no longer for a device that is switched off."""
ACT_LIFETIME: Final = timedelta(hours=1)
"""The time for which a notification's buttons work."""
ACTS_KEPT_FOR: Final = timedelta(days=90)
"""How long a print's page says what was done of it from notifications."""
LONGEST_NAME: Final = 60
NOT_FINISHED: Final = N_("It was not finished.")

_PUBLIC_KEY_BYTES: Final = 65
_UNCOMPRESSED: Final = 4
_AUTH_BYTES: Final = 16
_TOPIC_DIGEST_BYTES: Final = 24
"""32 characters in base64url: the most that RFC 8030 allows."""


class PushAct(StrEnum):
    """What a button of a notification does."""

    PAUSE = "pause"
    FINE = "fine"
    """Answers the failure watch that its warning was wrong."""


NEEDED_ROLE: Final = {PushAct.PAUSE: Role.CONTROL, PushAct.FINE: Role.OWNER}
"""The role that somebody who is notified of the printer needs for each button."""
LABELS: Final = {
    PushAct.PAUSE: N_("Pause"),
    PushAct.FINE: N_("It\N{RIGHT SINGLE QUOTATION MARK}s fine"),
}


class Urgency(StrEnum):
    """RFC 8030, section 5.3: a device that saves its battery asks for the urgent ones alone."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """A browser's subscription. All of it is secret: whoever has it can notify that browser.

    public_key: a point of P-256, uncompressed. auth: 16 bytes.
    """

    endpoint: str
    public_key: bytes
    auth: bytes

    def to_json(self) -> str:
        keys = {"p256dh": _to_base64url(self.public_key), "auth": _to_base64url(self.auth)}
        return json.dumps({"endpoint": self.endpoint, "keys": keys})

    def digest(self) -> bytes:
        """Return 32 bytes that stand for it: the same subscription has the same."""
        parts = (self.endpoint.encode(), self.public_key, self.auth)
        return hashlib.sha256(b"printreach:push:" + b"\0".join(parts)).digest()


@dataclass(frozen=True, kw_only=True, slots=True)
class ActButton:
    """A button of a notification. token: what its press is sent with, once."""

    act: PushAct
    token: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PushMessage:
    """What a device shows.

    url: the page that a click opens. picture: the address of one, "" without. topic: a newer
    message of the same topic replaces this one, at the push service and on the device; "" for none.
    ttl: how long the push service keeps it for a device that is away.
    """

    title: str
    text: str
    url: str
    picture: str = ""
    topic: str = ""
    urgency: Urgency = Urgency.NORMAL
    ttl: timedelta = GIVEN_UP_AFTER
    buttons: Sequence[ActButton] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ActOffer:
    """An act that was offered to one device, and what came of it.

    device: its name at that time. used_at: None until it is used. outcome: why nothing was done, as
    a sentence; "" if it was done.
    """

    account_id: str
    destination_id: str
    device: str
    printer_id: str
    print_id: str
    act: PushAct
    expires_at: datetime
    used_at: datetime | None = None
    outcome: str = NOT_FINISHED


def parse_subscription(text: str) -> Subscription | None:
    """Parse what a browser says of its subscription; None if it is none.

    Whether its endpoint may be called is not known yet.
    """
    if len(text) > LONGEST_SUBSCRIPTION:
        return None
    try:
        said: Any = json.loads(text)
        endpoint, keys = said["endpoint"], said["keys"]
        public_key, auth = _bytes_of(keys["p256dh"]), _bytes_of(keys["auth"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(endpoint, str) or not 0 < len(endpoint) <= LONGEST_ENDPOINT:
        return None
    if len(public_key) != _PUBLIC_KEY_BYTES or public_key[0] != _UNCOMPRESSED:
        return None
    if len(auth) != _AUTH_BYTES:
        return None
    return Subscription(endpoint=endpoint, public_key=public_key, auth=auth)


def topic_of(printer_id: str, print_id: str, event_type: int) -> str:
    """Return the topic of an event's message.

    News of a print never replaces what needs a person, a failure warning with its buttons above
    all.
    """
    kind = "trouble" if event_type in TROUBLE else "news"
    named = f"{printer_id}\0{print_id}\0{kind}".encode()
    return _to_base64url(hashlib.sha256(named).digest()[:_TOPIC_DIGEST_BYTES])


def urgency_of(event_type: int) -> Urgency:
    if event_type in TROUBLE:
        return Urgency.HIGH
    return Urgency.LOW if event_type in PASSING else Urgency.NORMAL


def ttl_of(event_type: int) -> timedelta:
    return PASSING_TTL if event_type in PASSING else GIVEN_UP_AFTER


def acts_of(event_type: int) -> tuple[PushAct, ...]:
    """Return the acts that are offered with such an event."""
    return tuple(PushAct) if event_type == EventType.POSSIBLE_FAILURE else ()


def payload_of(message: PushMessage) -> bytes:
    """Return what the service worker reads, as JSON; a long text is cut until it fits."""
    payload = _encoded(message)
    while len(payload) > MAX_PAYLOAD_BYTES and len(message.text) > 2:
        message = replace(message, text=message.text[: len(message.text) // 2] + "…")
        payload = _encoded(message)
    return payload


def _encoded(message: PushMessage) -> bytes:
    said: dict[str, object] = {
        "title": message.title,
        "text": message.text,
        "url": message.url,
        "picture": message.picture,
        "tag": message.topic,
        "alerts": message.urgency is Urgency.HIGH,
        "acts": [
            {"act": button.act.value, "label": translate(LABELS[button.act]), "token": button.token}
            for button in message.buttons
        ],
    }
    present = {name: value for name, value in said.items() if value}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")).encode()


def _to_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _bytes_of(text: str) -> bytes:
    """Decode base64url, with padding or without. Raises ValueError and TypeError."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
