"""Sign-in with an account of another service, by OpenID Connect: stored and transmitted values."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from printreach.rules.connections.credentials import CredentialKind, digest

MAX_IDENTITIES: Final = 10
"""The most identities of one account."""
LONGEST_SUBJECT: Final = 255
"""The longest subject in characters, by OpenID Connect Core 1.0, 2."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OidcProvider:
    """The provider that the operator chose. issuer: as it calls itself, to the letter."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A person's account at a provider that signs in to an account here.

    subject: the provider never reassigns it to another person, as it may a mail address.
    email: as the provider had it when the two were joined, for people to read.
    """

    identity_id: str
    account_id: str
    issuer: str
    subject: str
    email: str
    created_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Claims:
    """A provider's claims about a person. email: a verified one; None without one."""

    subject: str
    email: str | None


@dataclass(frozen=True, slots=True)
class OidcFlowSecrets:
    """The secrets that bind one flow to the provider and back to its browser.

    state: returned by the browser. nonce: returned inside the signed token. verifier: required to
    redeem the code (RFC 7636). code_challenge: its digest.
    """

    state: str
    nonce: str
    verifier: str

    @property
    def code_challenge(self) -> str:
        hashed = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(hashed).decode().rstrip("=")


def oidc_flow_secrets(step_token: str) -> OidcFlowSecrets:
    """Derive all three from the token in the browser's cookie; no other token gives the same.

    So none of them is stored, and no other browser can complete this flow.
    """
    token = step_token.encode()
    return OidcFlowSecrets(
        state=digest(CredentialKind.OIDC_STATE, token).hex(),
        nonce=digest(CredentialKind.OIDC_NONCE, token).hex(),
        verifier=digest(CredentialKind.OIDC_VERIFIER, token).hex(),
    )
