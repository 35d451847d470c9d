"""An authenticator of passkeys, in software, that also does what none should."""

import base64
import hashlib
import json
from dataclasses import dataclass, field

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

_PRESENT, _VERIFIED, _HAS_CREDENTIAL = 0x01, 0x04, 0x40


@dataclass
class FakeAuthenticator:
    """One passkey. origin, host: of the page that asks, as the browser tells them."""

    origin: str
    host: str
    is_verified: bool = True
    count: int = 1
    credential_id: bytes = b"a passkey"
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def make(self, options: str) -> str:
        """Answer navigator.credentials.create()."""
        about = self._about() + bytes(16) + len(self.credential_id).to_bytes(2, "big")
        statement = {
            "fmt": "none",
            "attStmt": {},
            "authData": about + self.credential_id + self._public_key(),
        }
        return self._answer(
            clientDataJSON=self._client_data("webauthn.create", options),
            attestationObject=cbor2.dumps(statement),
        )

    def sign(self, options: str) -> str:
        """Answer navigator.credentials.get()."""
        self.count += 1
        about = self._about(has_credential=False)
        client_data = self._client_data("webauthn.get", options)
        signed = about + hashlib.sha256(client_data).digest()
        return self._answer(
            clientDataJSON=client_data,
            authenticatorData=about,
            signature=self.key.sign(signed, ec.ECDSA(SHA256())),
        )

    def _about(self, *, has_credential: bool = True) -> bytes:
        flags = _PRESENT | (_VERIFIED if self.is_verified else 0)
        flags |= _HAS_CREDENTIAL if has_credential else 0
        host = hashlib.sha256(self.host.encode()).digest()
        return host + bytes([flags]) + self.count.to_bytes(4, "big")

    def _public_key(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})

    def _client_data(self, kind: str, options: str) -> bytes:
        challenge = json.loads(options)["challenge"]
        said = {"type": kind, "challenge": challenge, "origin": self.origin}
        return json.dumps(said).encode()

    def _answer(self, **response: bytes) -> str:
        return json.dumps(
            {
                "id": _text(self.credential_id),
                "rawId": _text(self.credential_id),
                "type": "public-key",
                "clientExtensionResults": {},
                "response": {name: _text(value) for name, value in response.items()},
            }
        )


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
