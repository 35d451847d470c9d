"""Messages to browsers by Web Push: RFC 8030, encrypted by RFC 8291, signed by RFC 8292.

Libraries for this bring an HTTP client of their own, which would call whatever address a browser
names; so messages go by the client of webhooks, which checks each address and connects to exactly
that one.

The key by which push services recognise this service (VAPID, RFC 8292) is in the data directory.
Browsers subscribe with its public half. If it is lost, each of them has to be added again.
"""

import base64
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from printreach.backends.webhook_http import WebhookHttp
from printreach.languages import N_
from printreach.ports import Clock
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.connections.credentials import TokenBytes
from printreach.rules.notifications.push import PushMessage, Subscription, payload_of
from printreach.rules.webhooks.urls import target_of

if TYPE_CHECKING:
    from joserfc.jwk import ECKey
from pathlib import Path

from cryptography.hazmat.primitives.serialization import (
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from printreach.store.key_files import KeyFileRefused, write_once

TOKEN_LIFETIME: Final = timedelta(hours=12)
"""RFC 8292, section 2: a day at most."""
RECORD_BYTES: Final = 4096
SALT_BYTES: Final = 16
_GONE: Final = frozenset({404, 410})
"""RFC 8030, section 7.3: the subscription has ended. Services answer either."""
_LAST_RECORD: Final = b"\x02"

KEY_FILE: Final = "push.key"


@dataclass(kw_only=True)
class WebPush:
    """ports.PushSender.

    key: of P-256, the service's own. contact: an address by which a push service's operator
    finds this installation.
    """

    http: WebhookHttp
    key: EllipticCurvePrivateKey
    clock: Clock
    token_bytes: TokenBytes
    contact: str

    @cached_property
    def public_key(self) -> str:
        return _base64url(_point(self.key.public_key()))

    async def problem_with(self, subscription: Subscription) -> str | None:
        if _public_key_of(subscription) is None:
            return N_("This browser sent a key that can't be used.")
        if await self.http.problem_with(subscription.endpoint) is not None:
            return N_("This service may not call the push service that this browser uses.")
        return None

    async def send(self, subscription: Subscription, message: PushMessage) -> NotSent | None:
        public_key = _public_key_of(subscription)
        if public_key is None:
            return NotSent(SendFailure.NOT_ALLOWED)
        body = encrypt(
            payload_of(message),
            public_key,
            subscription.auth,
            key=generate_private_key(SECP256R1()),
            salt=self.token_bytes(SALT_BYTES),
        )
        headers = [
            ("Content-Encoding", "aes128gcm"),
            ("TTL", str(int(message.ttl.total_seconds()))),
            ("Urgency", message.urgency.value),
            ("Authorization", f"vapid t={self._token(subscription.endpoint)}, k={self.public_key}"),
            *([("Topic", message.topic)] if message.topic else []),
        ]
        outcome = await self.http.send(
            subscription.endpoint, headers, body, media_type="application/octet-stream"
        )
        match outcome.http_status:
            case None:
                return NotSent(SendFailure.UNREACHABLE)
            case status if status in _GONE:
                return NotSent(SendFailure.DEVICE_GONE, status)
            case status if 200 <= status < 300:
                return None
            case status:
                return NotSent(SendFailure.REFUSED, status, outcome.retry_after)

    def _token(self, endpoint: str) -> str:
        """Return the token that shows the push service who sends: RFC 8292, section 2."""
        from joserfc import jwt  # where no device was added, it is never needed

        target = target_of(endpoint)
        scheme = "https" if target.is_tls else "http"
        claims = {
            "aud": f"{scheme}://{target.host_header}",
            "exp": int((self.clock.now() + TOKEN_LIFETIME).timestamp()),
            "sub": self.contact,
        }
        return jwt.encode({"typ": "JWT", "alg": "ES256"}, claims, self._signing_key)

    @cached_property
    def _signing_key(self) -> "ECKey":
        from joserfc.jwk import ECKey

        return ECKey.import_key(self.key)


def encrypt(
    plaintext: bytes,
    receiver: EllipticCurvePublicKey,
    auth: bytes,
    *,
    key: EllipticCurvePrivateKey,
    salt: bytes,
) -> bytes:
    """Encrypt a message for one browser, as a single record: RFC 8291, section 3.

    receiver, auth: of its subscription. key, salt: new ones for each message.
    """
    sender = _point(key.public_key())
    info = b"WebPush: info\0" + _point(receiver) + sender
    secret = _derived(key.exchange(ECDH(), receiver), auth, info, 32)
    content_key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(sender)]) + sender
    return head + AESGCM(content_key).encrypt(nonce, plaintext + _LAST_RECORD, None)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=salt, info=info).derive(secret)


def _public_key_of(subscription: Subscription) -> EllipticCurvePublicKey | None:
    """Return the browser's key; None if it is no point of the curve."""
    try:
        return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), subscription.public_key)
    except ValueError:
        return None


def _point(key: EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def load_or_make_push_key(data_dir: Path) -> EllipticCurvePrivateKey:
    """Return the key in the data directory, created at the first start. Raises KeyFileRefused."""
    path = data_dir / KEY_FILE
    try:
        if not path.exists():
            write_once(path, _new_key())
        return _load(path)
    except OSError as error:
        raise KeyFileRefused(f"The key file {path} can't be used: {error.strerror}.") from error


def _new_key() -> bytes:
    return generate_private_key(SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )


def _load(path: Path) -> EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise KeyFileRefused(
            f"The key file {path} is damaged: put it back from a copy. Without it no browser is"
            " notified before it was added again."
        )
    return key
