"""What is asked of a provider of OpenID Connect, and what the store keeps of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Protocol

from printreach.rules.oidc import Claims, Identity, OidcFlowSecrets


class ProviderFailure(Enum):
    """Why a provider let nobody in. The log has the details, which are the operator's business."""

    UNREACHABLE = auto()
    """It gave no answer, or none that can be understood: another time may be better."""
    REFUSED = auto()
    """It said no, or said something that is not to be believed."""


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """With what a browser came back. Each is as it stood in the address; None where it did not.

    issuer: by RFC 9207, against answers that another provider gave.
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
        """Where a browser is sent to sign in."""
        ...

    async def claims(
        self, answer: ProviderAnswer, secrets: OidcFlowSecrets
    ) -> Claims | ProviderFailure:
        """Who signed in there. The answer's state has been compared."""
        ...


class IdentityRecords(Protocol):
    """Who at which provider owns which account."""

    async def add(self, identity: Identity) -> None: ...
    async def with_subject(self, issuer: str, subject: str) -> Identity | None: ...
    async def of_account(self, account_id: str) -> list[Identity]:
        """Oldest first."""
        ...

    async def note_use(self, identity_id: str, at: datetime) -> None: ...
    async def remove(self, account_id: str, identity_id: str) -> None: ...
