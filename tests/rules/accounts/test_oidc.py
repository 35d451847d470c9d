"""The secrets that bind a sign-in at a provider to the browser that began it."""

import base64
import hashlib
import re

from printreach.rules.accounts.oidc import OidcProvider, oidc_flow_secrets

TOKEN = "a" * 52


def test_the_secrets_of_a_way_differ_and_follow_from_the_browsers_token_alone() -> None:
    way = oidc_flow_secrets(TOKEN)

    assert way == oidc_flow_secrets(TOKEN)
    others = oidc_flow_secrets("b" * 52)
    every = {way.state, way.nonce, way.verifier, others.state, others.nonce, others.verifier}
    assert len(every) == 6


def test_the_verifier_is_one_that_every_provider_takes() -> None:
    assert re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", oidc_flow_secrets(TOKEN).verifier)


def test_what_goes_to_the_provider_first_is_the_digest_of_the_verifier() -> None:
    way = oidc_flow_secrets(TOKEN)
    digest = base64.urlsafe_b64decode(way.code_challenge + "=")

    assert digest == hashlib.sha256(way.verifier.encode()).digest()


def test_the_clients_secret_is_not_part_of_what_is_printed() -> None:
    provider = OidcProvider(
        issuer="https://id.example", client_id="us", client_secret="hush", name="Example"
    )

    assert "hush" not in repr(provider)
