"""Pushes that are kept for the test to read, instead of going to a browser's push service."""

import base64
import json
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from printreach.ports.notifications import NotSent
from printreach.rules.notifications.push import PushMessage, Subscription


@dataclass(frozen=True, slots=True)
class Pushed:
    """A message that would have been sent."""

    subscription: Subscription
    message: PushMessage


class RecordingPush:
    """ports.PushSender. answer: what the push service says to the next ones; None takes them.

    problem: why no subscription can be used.
    """

    def __init__(self) -> None:
        self.sent: list[Pushed] = []
        self.answer: NotSent | None = None
        self.problem: str | None = None
        self.public_key = "BPublic"

    async def problem_with(self, subscription: Subscription) -> str | None:
        return self.problem

    async def send(self, subscription: Subscription, message: PushMessage) -> NotSent | None:
        self.sent.append(Pushed(subscription, message))
        return self.answer


class SubscribedBrowser:
    """What a browser makes when it subscribes, and keeps."""

    def __init__(self, endpoint: str = "https://push.example/send/1") -> None:
        self.endpoint = endpoint
        self.key: EllipticCurvePrivateKey = generate_private_key(SECP256R1())
        self.auth = b"a" * 16

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def to_json(self) -> str:
        keys = {"p256dh": _base64url(self.public_key), "auth": _base64url(self.auth)}
        said = {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}
        return json.dumps(said)


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
