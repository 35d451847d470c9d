"""Ways of signing in: passwords, authenticators of passkeys, an OpenID Connect provider."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from printreach.rules.accounts import Account
from printreach.rules.accounts.oidc import Claims, OidcFlowSecrets
from printreach.rules.accounts.second_factors import Passkey


class Passwords(Protocol):
    """Slow hashes of passwords; each call takes a tenth of a second.

    network: the caller's. Networks take turns, so that one with many callers does not make the
    others wait. Each call raises limiters.fair_semaphore.TooBusy if too many wait.
    """

    async def hash(self, password: str, network: str) -> str:
        """Return what to store, including salt and parameters."""
        ...

    async def matches(self, password: str, password_hash: str, network: str) -> bool:
        """Return whether this is the password that was hashed.

        password_hash: empty if there is none; that takes as long, and is False.
        """
        ...

    def is_common(self, password: str) -> bool:
        """Return whether it is one of the most common passwords. password: in lower case."""
        ...


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


@dataclass(frozen=True, kw_only=True, slots=True)
class MadePasskey:
    """A passkey that an authenticator created. public_key: in COSE form."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


class Authenticators(Protocol):
    """Writes what a browser asks an authenticator, and checks the answers.

    Options and answers are JSON, as `parseRequestOptionsFromJSON` and `toJSON` of a browser have
    it. An answer that fails any check gives None: it has to be for this service's own origin,
    signed over that challenge, by a person whom the authenticator verified.
    """

    async def options_to_add(
        self, account: Account, there: Sequence[Passkey], challenge: bytes
    ) -> str: ...
    def made(self, answer: str, challenge: bytes) -> MadePasskey | None: ...
    async def options_to_sign_in(self, challenge: bytes) -> str: ...
    def credential_id(self, answer: str) -> bytes | None:
        """Return the id of the passkey that the answer claims to be of."""
        ...

    def sign_count(self, answer: str, challenge: bytes, passkey: Passkey) -> int | None:
        """Return the passkey's next signature count, if the answer is valid for it."""
        ...
