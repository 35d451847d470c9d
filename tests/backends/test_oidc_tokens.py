"""ID tokens are accepted only if this provider signed them for this very request."""

import base64
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

from printreach.backends.oidc import TokenRefused, UnknownKey, read_id_token
from printreach.backends.oidc.metadata import PublicKey
from tests.fakes.clock import NOON
from tests.fakes.oidc_provider import key

AT = int(NOON.timestamp())
GOOD: dict[str, Any] = {
    "iss": "https://id.example",
    "aud": "us",
    "sub": "1001",
    "iat": AT,
    "exp": AT + 300,
    "nonce": "n1",
}
RS256 = {"alg": "RS256", "kid": "first"}


def shown(*keys: PublicKey) -> list[PublicKey]:
    """Their public halves, as the provider shows them."""
    return [type(one).import_key(one.as_dict(is_private=False)) for one in keys]


def read(token: str, *keys: PublicKey) -> dict[str, Any]:
    return read_id_token(
        token,
        shown(*keys) if keys else shown(key("first")),
        issuer="https://id.example",
        client_id="us",
        nonce="n1",
        at=NOON,
    )


def signed(**claims: object) -> str:
    every = {name: value for name, value in (GOOD | claims).items() if value is not None}
    return jwt.encode(RS256, every, key("first"))


def part(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


def test_a_good_token_says_who_it_is() -> None:
    assert read(signed())["sub"] == "1001"


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize(
    ("algorithm", "maker"),
    [
        ("PS256", key("first")),
        ("ES256", ECKey.generate_key("P-256", parameters={"kid": "first"})),
        ("EdDSA", OKPKey.generate_key("Ed25519", parameters={"kid": "first"})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_signature_of_a_public_key_is_understood(algorithm: str, maker: PublicKey) -> None:
    token = jwt.encode({"alg": algorithm, "kid": "first"}, GOOD, maker, algorithms=[algorithm])

    assert read(token, maker)["sub"] == "1001"


WRONG: dict[str, dict[str, object]] = {
    "another provider": {"iss": "https://evil.example"},
    "a provider whose name begins the same": {"iss": "https://id.example/"},
    "no provider": {"iss": None},
    "another audience": {"aud": "them"},
    "an audience that is a number": {"aud": 7},
    "no audience": {"aud": None},
    "several audiences and no party": {"aud": ["us", "them"]},
    "another party": {"aud": ["us", "them"], "azp": "them"},
    "one audience and another party": {"azp": "them"},
    "expired": {"exp": AT - 61},
    "an end that is no number": {"exp": "never"},
    "an end beyond numbers": {"exp": float("inf")},
    "no end": {"exp": None},
    "made in the future": {"iat": AT + 61},
    "made long ago": {"iat": AT - 3601},
    "not good yet": {"nbf": AT + 61},
    "another nonce": {"nonce": "n2"},
    "several nonces": {"nonce": ["n1", "n2"]},
    "no nonce": {"nonce": None},
    "nobody": {"sub": None},
    "somebody who is a number": {"sub": 1001},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_token_that_is_signed_and_not_for_this_question_is_refused(what: str) -> None:
    with pytest.raises(TokenRefused):
        read(signed(**WRONG[what]))


def test_clocks_may_be_a_minute_apart() -> None:
    assert read(signed(exp=AT - 59, iat=AT - 359))["sub"] == "1001"
    assert read(signed(iat=AT + 59))["sub"] == "1001"


def test_a_token_for_several_is_good_where_we_are_who_asked() -> None:
    assert read(signed(aud=["them", "us"], azp="us"))["sub"] == "1001"


def test_a_token_without_a_signature_is_refused() -> None:
    for head in ({"alg": "none"}, {"alg": "None", "kid": "first"}, {"kid": "first"}, {}):
        with pytest.raises(TokenRefused):
            read(f"{part(head)}.{part(GOOD)}.")


@pytest.mark.parametrize("algorithm", ["HS256", "HS512"])
def test_a_public_key_is_not_taken_for_a_shared_one(algorithm: str) -> None:
    public = key("first")
    signed_part = f"{part({'alg': algorithm, 'kid': 'first'})}.{part(GOOD)}"
    for secret in (public.as_pem(private=False), json.dumps(public.as_dict(is_private=False))):
        raw = secret if isinstance(secret, bytes) else secret.encode()
        mac = hmac.digest(raw, signed_part.encode(), algorithm.replace("HS", "sha"))
        signature = base64.urlsafe_b64encode(mac).decode().rstrip("=")

        with pytest.raises(TokenRefused, match="of the kind 'HS"):
            read(f"{signed_part}.{signature}")


def test_a_key_that_a_token_brings_along_is_not_used() -> None:
    ours, evil = (ECKey.generate_key("P-256", parameters={"kid": "first"}) for _ in range(2))
    for more in ({"jwk": evil.as_dict(is_private=False)}, {"jku": "https://evil.example/keys"}):
        head = {"alg": "ES256", "kid": "first"} | more
        forged = jws.serialize_compact(head, json.dumps(GOOD), evil, algorithms=["ES256"])

        with pytest.raises(UnknownKey):
            read(forged, ours)


def test_a_signature_of_an_unknown_key_may_be_of_the_next_one() -> None:
    token = jwt.encode({"alg": "RS256", "kid": "second"}, GOOD, key("second"))

    with pytest.raises(UnknownKey):
        read(token)
    assert read(token, key("first"), key("second"))["sub"] == "1001"


def test_a_token_that_names_no_key_is_tried_with_all() -> None:
    token = jwt.encode({"alg": "RS256"}, GOOD, key("second"))

    assert read(token, key("first"), key("second"))["sub"] == "1001"


def test_a_key_for_another_algorithm_is_not_used() -> None:
    ours = RSAKey.import_key(key("first").as_dict(is_private=True) | {"alg": "PS256"})

    with pytest.raises(UnknownKey):
        read(signed(), ours)


def test_a_claim_that_was_changed_after_signing_is_refused() -> None:
    head, _, signature = signed().split(".")

    with pytest.raises(TokenRefused):
        read(f"{head}.{part(GOOD | {'sub': '1002'})}.{signature}")


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "a.b.c", "é.é.é", "\x00", "[]", f"{part([])}.{part([])}.", "a" * 70_000],
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(TokenRefused):
        read(text)


def test_a_token_of_an_old_sign_in_is_refused_later() -> None:
    with pytest.raises(TokenRefused):
        read_id_token(
            signed(exp=AT + 10**9),
            shown(key("first")),
            issuer="https://id.example",
            client_id="us",
            nonce="n1",
            at=NOON + timedelta(days=1),
        )
