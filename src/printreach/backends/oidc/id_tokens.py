"""Validation of ID tokens: signed by the provider, for us, now, in answer to this request."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry

from printreach.backends.oidc.metadata import PublicKey

LEEWAY_S: Final = 60
"""The difference of two clocks that is accepted."""
MAX_AGE_S: Final = 3600
"""A token is issued when the code is redeemed, so an old one is another's."""
LARGEST_TOKEN: Final = 64 * 1024

KEY_TYPES: Final = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    **dict.fromkeys(("EdDSA", "Ed25519"), "OKP"),
}
"""The accepted signature algorithms, each with the type of its key.

Not "none", which is no signature, and none with a shared key: anybody who can verify such a
signature can make it, and a public key would serve as the shared one.
"""

Claims = dict[str, Any]  # what JSON holds; each claim is checked before it is used


class TokenRefused(Exception):
    """The token is not valid; the message says why, without the token."""


class UnknownKey(TokenRefused):
    """No known key fits; the provider may have another one by now."""


def read_id_token(
    token: str,
    keys: Iterable[PublicKey],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    at: datetime,
) -> Claims:
    """Return the claims of a valid token. Raises TokenRefused, and UnknownKey."""
    if len(token) > LARGEST_TOKEN:
        raise TokenRefused("the token is too large")
    claims = _signed_claims(token, _fitting(token, keys))
    registry = JWTClaimsRegistry(
        now=int(at.timestamp()),
        leeway=LEEWAY_S,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        registry.validate(claims)
    except JoseError as error:
        raise TokenRefused(str(error)) from error
    _check_party(claims, client_id)
    if claims["nonce"] != nonce:
        raise TokenRefused("it has several nonces")
    if claims["iat"] < at.timestamp() - MAX_AGE_S:
        raise TokenRefused("it was made long ago")
    return claims


def _fitting(token: str, keys: Iterable[PublicKey]) -> list[PublicKey]:
    """Return the keys that may have signed it, by its header."""
    try:
        head = jws.extract_compact(token.encode()).headers()
    except (JoseError, ValueError, UnicodeError) as error:
        raise TokenRefused("it is not a signed token") from error
    algorithm, name = head.get("alg"), head.get("kid")
    kind = KEY_TYPES.get(algorithm) if isinstance(algorithm, str) else None
    if kind is None:
        raise TokenRefused(f"its signature is of the kind {str(algorithm)[:40]!r}")
    fitting = [
        key
        for key in keys
        if key.key_type == kind
        and (name is None or key.kid == name)
        and key.get("alg", algorithm) == algorithm
    ]
    if not fitting:
        raise UnknownKey("it is signed with a key that the provider does not show")
    return fitting


def _signed_claims(token: str, keys: Sequence[PublicKey]) -> Claims:
    """Verify the signature. Without a key id in the header, more than one key may fit."""
    failure: JoseError | ValueError | None = None
    for key in keys:
        try:
            return jwt.decode(token, key, algorithms=list(KEY_TYPES)).claims
        except (JoseError, ValueError) as error:
            failure = error
    raise UnknownKey("its signature is of none of the provider's keys") from failure


def _check_party(claims: Claims, client_id: str) -> None:
    """Check for whom it was issued, if it is for several: OpenID Connect Core 1.0, 3.1.3.7."""
    audience, party = claims["aud"], claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        raise TokenRefused("it is for several, and does not say who asked for it")
    if party is not None and party != client_id:
        raise TokenRefused("somebody else asked for it")
