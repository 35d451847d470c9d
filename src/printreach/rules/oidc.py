"""Sign-in with an account of another service, by OpenID Connect: what is kept and carried."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from printreach.rules.credentials import CredentialKind, digest

MAX_IDENTITIES: Final = 10
"""Of one account."""
LONGEST_SUBJECT: Final = 255
"""Characters, by OpenID Connect Core 1.0, 2."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OidcProvider:
    """The provider that the operator chose. issuer: as it calls itself, to the letter."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Somebody at a provider who is the owner of an account here.

    subject: never given to another person by that provider; a mail address may be.
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
    """What a provider said of a person. email: the one that it vouches for; None without one."""

    subject: str
    email: str | None


@dataclass(frozen=True, slots=True)
class OidcFlowSecrets:
    """What ties one way to the provider and back to the browser that went it.

    state: goes there and comes back with the browser. nonce: comes back inside the signed token.
    verifier: what whoever brings the code has to know (RFC 7636). code_challenge: its digest.
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

    So nothing of them is stored, and no other browser can bring what this one was given.
    """
    token = step_token.encode()
    return OidcFlowSecrets(
        state=digest(CredentialKind.OIDC_STATE, token).hex(),
        nonce=digest(CredentialKind.OIDC_NONCE, token).hex(),
        verifier=digest(CredentialKind.OIDC_VERIFIER, token).hex(),
    )
