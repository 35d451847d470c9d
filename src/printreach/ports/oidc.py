"""Requests to an OpenID Connect provider, and the stored identities."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from printreach.rules.accounts.oidc import Claims, OidcFlowSecrets


class ProviderFailure(Enum):
    """The reasons why a sign-in at a provider failed. The log has the details, for the operator."""

    UNREACHABLE = auto()
    """The answer is missing or cannot be parsed: a later attempt may work."""
    REFUSED = auto()
    """It refused, or its answer failed a check."""


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """The parameters with which a browser came back, as they were in the URL; None if missing.

    issuer: by RFC 9207, against answers of another provider.
    """

    code: str | None
    state: str | None
    issuer: str | None
    error: str | None


class SignInProvider(Protocol):
    """The operator's provider. None of these raise for what it does or says."""

    @property
    def name(self) -> str: ...
    @property
    def issuer(self) -> str: ...
    async def address(self, secrets: OidcFlowSecrets) -> str | ProviderFailure:
        """Return the URL where a browser is sent to sign in."""
        ...

    async def claims(
        self, answer: ProviderAnswer, secrets: OidcFlowSecrets
    ) -> Claims | ProviderFailure:
        """Return who signed in there. The caller has compared the answer's state."""
        ...
