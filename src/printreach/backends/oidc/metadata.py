"""What a provider says of itself: its endpoints, and the keys with which it signs."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from printreach.backends.oidc.asking import AskingFailed, get_json
from printreach.ports import Clock

KEPT_FOR: Final = timedelta(hours=1)
"""So long a key that the provider took back may be believed."""
KEPT_WITHOUT_ANSWER: Final = timedelta(days=1)
"""So long what is known is used where the provider's page can't be had."""
ANEW_AT_MOST_EVERY: Final = timedelta(minutes=1)
"""Tokens that name unknown keys don't make us ask more often: anybody may make one up."""
AGAIN_AFTER: Final = timedelta(seconds=10)
"""Whoever waits while the provider hangs is told with the first, not each after the one before."""
_MOST_KEYS: Final = 100

PublicKey = RSAKey | ECKey | OKPKey
_KEY_TYPES: Final[dict[str, type[PublicKey]]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
"""Keys of which the public half is given away. A shared one ("oct") can't be among them."""

_log = logging.getLogger(__name__)


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The part of OpenID Connect Discovery 1.0, 3, that is of use here."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _KeySet(msgspec.Struct):
    keys: list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Known:
    """What the provider said, and when."""

    metadata: Metadata
    keys: tuple[PublicKey, ...]
    at: datetime


class ProviderPages:
    """Asks for them when they are needed, and keeps them for a while."""

    def __init__(self, issuer: str, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._known: Known | None = None
        self._failed: tuple[datetime, AskingFailed] | None = None
        self._turn = asyncio.Lock()

    async def known(self) -> Known:
        """What the provider says. Raises AskingFailed."""
        async with self._turn:
            known, at = self._known, self._clock.now()
            if known is not None and abs(at - known.at) < KEPT_FOR:
                return known
            try:
                return await self._ask(at)
            except AskingFailed:
                if known is None or abs(at - known.at) >= KEPT_WITHOUT_ANSWER:
                    raise
                _log.warning("the provider %s gives no answer; what is known is used", self._issuer)
                return known

    async def anew(self) -> Known:
        """What it says now, for a token whose key is unknown. Raises AskingFailed."""
        async with self._turn:
            known, at = self._known, self._clock.now()
            if known is not None and abs(at - known.at) < ANEW_AT_MOST_EVERY:
                return known
            return await self._ask(at)

    async def _ask(self, at: datetime) -> Known:
        if self._failed is not None and abs(at - self._failed[0]) < AGAIN_AFTER:
            raise self._failed[1].with_traceback(None)
        try:
            self._known = await self._asked(at)
        except AskingFailed as failure:
            self._failed = self._clock.now(), failure
            raise
        return self._known

    async def _asked(self, at: datetime) -> Known:
        url = self._issuer.removesuffix("/") + "/.well-known/openid-configuration"
        metadata = _metadata(url, await get_json(url), self._issuer)
        keys = _keys(metadata.jwks_uri, await get_json(metadata.jwks_uri))
        return Known(metadata, keys, at)


def _metadata(url: str, body: bytes, issuer: str) -> Metadata:
    try:
        metadata = msgspec.json.decode(body, type=Metadata)
    except msgspec.MsgspecError as error:
        raise AskingFailed(url, f"not a provider's configuration: {error}") from error
    if metadata.issuer != issuer:
        said = metadata.issuer[:200]
        raise AskingFailed(url, f"the provider calls itself {said!r}; set that as the issuer")
    for endpoint in (
        metadata.authorization_endpoint,
        metadata.token_endpoint,
        metadata.jwks_uri,
        metadata.userinfo_endpoint,
    ):
        if endpoint is not None and not _is_as_safe_as(endpoint, issuer):
            raise AskingFailed(url, f"{endpoint[:200]!r} is no address to send secrets to")
    return metadata


def _is_as_safe_as(endpoint: str, issuer: str) -> bool:
    """http only where the issuer is at http itself, which settings admit on this machine alone."""
    try:
        parts = urlsplit(endpoint)
        is_address = bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        return False
    is_clean = endpoint.isascii() and endpoint.isprintable() and " " not in endpoint
    schemes = {"https", urlsplit(issuer).scheme}
    return is_address and is_clean and parts.scheme in schemes and not parts.fragment


def _keys(url: str, body: bytes) -> tuple[PublicKey, ...]:
    """Those that can check a signature; a set may hold others, for other uses."""
    try:
        found = msgspec.json.decode(body, type=_KeySet).keys[:_MOST_KEYS]
    except msgspec.MsgspecError as error:
        raise AskingFailed(url, f"not a set of keys: {error}") from error
    return tuple(key for one in found if (key := _key(one)) is not None)


def _key(data: dict[str, object]) -> PublicKey | None:
    kind = _KEY_TYPES.get(str(data.get("kty")))
    if kind is None or data.get("use", "sig") != "sig":
        return None
    texts: dict[str, str | list[str]] = {
        name: value for name, value in data.items() if isinstance(value, str)
    }
    try:
        return kind.import_key(texts)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
