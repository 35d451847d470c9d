"""Passkeys, by the rules of WebAuthn.

The library and what it imports take 5 MB, so they are loaded with the first passkey: on a thread
while its options are made, for that takes longer than callers of the relay should wait.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from printreach.ports.signing_in import MadePasskey
from printreach.rules.accounts import Account
from printreach.rules.accounts.second_factors import Passkey

_log = logging.getLogger(__name__)

_LONGEST_CREDENTIAL_ID: Final = 1023
"""By WebAuthn Level 2, 6.1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebAuthn:
    """ports.Authenticators. host: of the base URL, without a port. origin: as browsers write it."""

    host: str
    origin: str

    async def options_to_add(
        self, account: Account, there: Sequence[Passkey], challenge: bytes
    ) -> str:
        await asyncio.to_thread(_load)
        from webauthn import generate_registration_options, options_to_json
        from webauthn.helpers.structs import (
            AuthenticatorSelectionCriteria,
            PublicKeyCredentialDescriptor,
            ResidentKeyRequirement,
            UserVerificationRequirement,
        )

        return options_to_json(
            generate_registration_options(
                rp_id=self.host,
                rp_name="Printreach",
                user_id=account.account_id.encode(),
                user_name=account.email,
                challenge=challenge,
                # The authenticator stores it with the account, so that no address has to be typed.
                authenticator_selection=AuthenticatorSelectionCriteria(
                    resident_key=ResidentKeyRequirement.REQUIRED,
                    user_verification=UserVerificationRequirement.REQUIRED,
                ),
                exclude_credentials=[
                    PublicKeyCredentialDescriptor(id=passkey.credential_id) for passkey in there
                ],
            )
        )

    def made(self, answer: str, challenge: bytes) -> MadePasskey | None:
        from webauthn import verify_registration_response

        try:
            verified = verify_registration_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=self.host,
                expected_origin=self.origin,
                require_user_verification=True,
            )
        except Exception as error:  # noqa: BLE001 - the library raises what a stranger's bytes meet
            _log.info("a passkey was refused: %s", error)
            return None
        if len(verified.credential_id) > _LONGEST_CREDENTIAL_ID:
            return None
        return MadePasskey(
            credential_id=verified.credential_id,
            public_key=verified.credential_public_key,
            sign_count=verified.sign_count,
        )

    async def options_to_sign_in(self, challenge: bytes) -> str:
        await asyncio.to_thread(_load)
        from webauthn import generate_authentication_options, options_to_json
        from webauthn.helpers.structs import UserVerificationRequirement

        return options_to_json(
            generate_authentication_options(
                rp_id=self.host,
                challenge=challenge,
                user_verification=UserVerificationRequirement.REQUIRED,
            )
        )

    def credential_id(self, answer: str) -> bytes | None:
        from webauthn import base64url_to_bytes

        try:
            content = json.loads(answer)
            return base64url_to_bytes(content["rawId"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def sign_count(self, answer: str, challenge: bytes, passkey: Passkey) -> int | None:
        from webauthn import verify_authentication_response

        try:
            verified = verify_authentication_response(
                credential=answer,
                expected_challenge=challenge,
                expected_rp_id=self.host,
                expected_origin=self.origin,
                credential_public_key=passkey.public_key,
                credential_current_sign_count=passkey.sign_count,
                require_user_verification=True,
            )
        except Exception as error:  # noqa: BLE001 - as above
            _log.info("a sign-in by passkey was refused: %s", error)
            return None
        return verified.new_sign_count


def _load() -> None:
    import webauthn  # noqa: F401 - the other functions find it loaded
