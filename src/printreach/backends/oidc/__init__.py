"""A provider of OpenID Connect, asked over HTTPS: authorization code, PKCE, signed ID tokens.

An ID token is valid if it is signed by the provider, for us, now, in answer to this request.
"""

import base64
import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

import msgspec
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry

from printreach.backends.oidc.metadata import (
    CachedMetadata,
    Metadata,
    ProviderPages,
    PublicKey,
    RequestFailed,
    get_json,
    post_form,
)
from printreach.contract.codec import BAD_JSON
from printreach.ports import Clock
from printreach.ports.signing_in import ProviderAnswer, ProviderFailure
from printreach.rules.accounts import parse_email
from printreach.rules.accounts.oidc import LONGEST_SUBJECT, Claims, OidcFlowSecrets, OidcProvider

SCOPES: Final = "openid email"

_log = logging.getLogger(__name__)

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

_Json = dict[str, Any]  # what JSON holds; each claim is checked before it is used


class _Tokens(msgspec.Struct, frozen=True):
    id_token: str
    access_token: str | None = None


class Provider:
    """ports.signing_in.SignInProvider. own_address: the page that browsers return to."""

    def __init__(self, settings: OidcProvider, own_address: str, clock: Clock) -> None:
        self._settings = settings
        self._own_address = own_address
        self._clock = clock
        self._pages = ProviderPages(settings.issuer, clock)

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def issuer(self) -> str:
        return self._settings.issuer

    async def address(self, secrets: OidcFlowSecrets) -> str | ProviderFailure:
        try:
            known = await self._pages.known()
        except RequestFailed as failure:
            return _failed(failure)
        endpoint = known.metadata.authorization_endpoint
        query = urlencode(
            {
                "response_type": "code",
                "client_id": self._settings.client_id,
                "redirect_uri": self._own_address,
                "scope": SCOPES,
                "state": secrets.state,
                "nonce": secrets.nonce,
                "code_challenge": secrets.code_challenge,
                "code_challenge_method": "S256",
            }
        )
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"

    async def claims(
        self, answer: ProviderAnswer, secrets: OidcFlowSecrets
    ) -> Claims | ProviderFailure:
        try:
            known = await self._pages.known()
            code = _code(answer, known.metadata)
            tokens = await self._exchange(known.metadata, code, secrets.verifier)
            claims = await self._read(known, tokens.id_token, secrets.nonce)
            return await self._claims(known.metadata, claims, tokens.access_token)
        except RequestFailed as failure:
            return _failed(failure)
        except TokenRefused as refused:
            _log.warning("an answer of the provider %s is refused: %s", self.issuer, refused)
            return ProviderFailure.REFUSED

    async def _exchange(self, metadata: Metadata, code: str, verifier: str) -> _Tokens:
        """Redeem the code, authenticated as the client that asked for it."""
        url, settings = metadata.token_endpoint, self._settings
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._own_address,
            "code_verifier": verifier,
        }
        methods = metadata.token_endpoint_auth_methods_supported
        basic = None
        if "client_secret_basic" in methods or "client_secret_post" not in methods:
            basic = _basic(settings.client_id, settings.client_secret)
        else:
            fields |= {"client_id": settings.client_id, "client_secret": settings.client_secret}
        body = await post_form(url, fields, basic)
        try:
            return msgspec.json.decode(body, type=_Tokens)
        except BAD_JSON as error:
            raise RequestFailed(url, "an answer without tokens") from error

    async def _read(self, known: CachedMetadata, token: str, nonce: str) -> dict[str, Any]:
        at, settings = self._clock.now(), self._settings

        def read(keys: CachedMetadata) -> dict[str, Any]:
            return read_id_token(
                token,
                keys.keys,
                issuer=settings.issuer,
                client_id=settings.client_id,
                nonce=nonce,
                at=at,
            )

        try:
            return read(known)
        except UnknownKey:
            return read(await self._pages.anew())

    async def _claims(
        self, metadata: Metadata, claims: dict[str, Any], access_token: str | None
    ) -> Claims:
        """Return the token's claims; a missing address is taken from the userinfo endpoint."""
        subject = claims["sub"]
        if not subject or len(subject) > LONGEST_SUBJECT or not subject.isprintable():
            raise TokenRefused("it names nobody")
        if "email" not in claims and metadata.userinfo_endpoint and access_token:
            claims = await self._user_info(metadata.userinfo_endpoint, access_token, subject)
        return Claims(subject, _vouched_email(claims))

    async def _user_info(self, url: str, access_token: str, subject: str) -> dict[str, Any]:
        body = await get_json(url, access_token)
        try:
            claims = msgspec.json.decode(body, type=dict[str, Any])
        except BAD_JSON as error:
            raise RequestFailed(url, "an answer that is not about a person") from error
        if claims.get("sub") != subject:
            raise TokenRefused("the page about the person is about somebody else")
        return claims


def _code(answer: ProviderAnswer, metadata: Metadata) -> str:
    """Return the code, if it is from this provider (RFC 9207)."""
    is_told = answer.issuer is not None or metadata.authorization_response_iss_parameter_supported
    if is_told and answer.issuer != metadata.issuer:
        raise TokenRefused("the browser came back from another provider")
    if answer.error is not None or not answer.code:
        raise TokenRefused(f"it said {(answer.error or 'nothing')[:80]!r}")
    return answer.code


def _vouched_email(claims: dict[str, Any]) -> str | None:
    """Return the address if the provider has verified it; some say so by a text."""
    email, verified = claims.get("email"), claims.get("email_verified")
    is_vouched_for = verified is True or verified == "true"
    return parse_email(email) if is_vouched_for and isinstance(email, str) else None


def _basic(client_id: str, client_secret: str) -> str:
    """Return the credentials, encoded twice, by RFC 6749, 2.3.1."""
    text = f"{quote_plus(client_id)}:{quote_plus(client_secret)}"
    return base64.b64encode(text.encode()).decode()


def _failed(failure: RequestFailed) -> ProviderFailure:
    _log.warning("sign-in by the provider fails at %s", failure)
    return ProviderFailure.REFUSED if failure.is_refusal else ProviderFailure.UNREACHABLE


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
) -> _Json:
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


def _signed_claims(token: str, keys: Sequence[PublicKey]) -> _Json:
    """Verify the signature. Without a key id in the header, more than one key may fit."""
    failure: JoseError | ValueError | None = None
    for key in keys:
        try:
            return jwt.decode(token, key, algorithms=list(KEY_TYPES)).claims
        except (JoseError, ValueError) as error:
            failure = error
    raise UnknownKey("its signature is of none of the provider's keys") from failure


def _check_party(claims: _Json, client_id: str) -> None:
    """Check for whom it was issued, if it is for several: OpenID Connect Core 1.0, 3.1.3.7."""
    audience, party = claims["aud"], claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        raise TokenRefused("it is for several, and does not say who asked for it")
    if party is not None and party != client_id:
        raise TokenRefused("somebody else asked for it")
