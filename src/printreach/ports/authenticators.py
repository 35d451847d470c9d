"""Requests to authenticators of passkeys, through the browser, and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from printreach.rules.accounts import Account
from printreach.rules.accounts.second_factors import Passkey


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
