"""Requests to a provider, and its metadata: its endpoints, and the keys with which it signs."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from printreach.contract.codec import BAD_JSON
from printreach.http1.client import Connect
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed
from printreach.ports import Clock

KEPT_FOR: Final = timedelta(hours=1)
"""The time for which a key that the provider withdrew may still be accepted."""
KEPT_WITHOUT_ANSWER: Final = timedelta(days=1)
"""The time for which known metadata are used while the provider's page cannot be fetched."""
MIN_REFETCH_INTERVAL: Final = timedelta(minutes=1)
"""Tokens with unknown keys do not make us fetch more often, since anybody may make one up."""
AGAIN_AFTER: Final = timedelta(seconds=10)
"""Callers that wait while the provider hangs fail together, not one after the other."""
_MAX_KEYS: Final = 100

PublicKey = RSAKey | ECKey | OKPKey
_KEY_TYPES: Final[dict[str, type[PublicKey]]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
"""Key types whose public half is published. A shared one ("oct") is not among them."""

_log = logging.getLogger(__name__)

DEADLINE_S: Final = 10.0
"""A person waits for it."""
LARGEST_ANSWER: Final = 256 * 1024
_LARGEST_REASON: Final = 200


class RequestFailed(Exception):
    """No usable answer. The message names the address, never what was sent to it.

    is_refusal: the provider understood the request and refused it.
    """

    def __init__(self, url: str, what: str, *, is_refusal: bool = False) -> None:
        super().__init__(f"{url}: {what}")
        self.is_refusal = is_refusal


class _OAuthError(msgspec.Struct):
    error: str = ""


async def get_json(url: str, bearer: str | None = None) -> bytes:
    """Return the body at that address. Raises RequestFailed, also for a redirect."""
    headers = [(b"Accept", b"application/json")]
    if bearer is not None:
        headers.append((b"Authorization", b"Bearer " + _line(url, bearer)))
    return await _ask(url, b"GET", headers, b"")


async def post_form(url: str, fields: Mapping[str, str], basic: str | None) -> bytes:
    """Post a form and return the body. basic: base64 of user and password."""
    headers = [
        (b"Accept", b"application/json"),
        (b"Content-Type", b"application/x-www-form-urlencoded"),
    ]
    if basic is not None:
        headers.append((b"Authorization", b"Basic " + _line(url, basic)))
    return await _ask(url, b"POST", headers, urlencode(fields).encode())


async def _ask(url: str, method: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    parts = urlsplit(url)
    fetcher = Fetcher(_connect_to(parts), parts.netloc.encode(), first_byte_s=DEADLINE_S)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        async with asyncio.timeout(DEADLINE_S):
            answer = await fetcher.fetch(
                method, target.encode(), headers, body, at_most=LARGEST_ANSWER
            )
    except TimeoutError:
        raise RequestFailed(url, f"no answer within {DEADLINE_S:.0f} s") from None
    except FetchFailed as failure:
        raise RequestFailed(url, failure.text) from failure
    finally:
        await fetcher.close()
    if answer.status != 200:
        raise _refused(url, answer)
    return answer.body


def _refused(url: str, answer: FetchedAnswer) -> RequestFailed:
    """Classify a failed answer: a 400 or 401 with an OAuth error is a refusal, others may be
    transient."""
    try:
        code = msgspec.json.decode(answer.body, type=_OAuthError).error
    except BAD_JSON:
        code = ""
    reason = f"status {answer.status}" + (f", {code[:_LARGEST_REASON]!r}" if code else "")
    return RequestFailed(url, reason, is_refusal=bool(code) and answer.status in (400, 401))


def _connect_to(parts: SplitResult) -> Connect:
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    context = ssl.create_default_context() if secure else None

    async def connect(make: Callable[[], asyncio.Protocol]) -> object:
        loop = asyncio.get_running_loop()
        return await loop.create_connection(make, parts.hostname or "", port, ssl=context)

    return connect


def _line(url: str, value: str) -> bytes:
    """Format a header value, which a provider may have made up."""
    if not value.isascii() or not value.isprintable() or not value:
        raise RequestFailed(url, "a token that cannot stand in a header")
    return value.encode()


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The part of OpenID Connect Discovery 1.0, 3, that is used here."""

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
class CachedMetadata:
    """The provider's published metadata, and when they were fetched."""

    metadata: Metadata
    keys: tuple[PublicKey, ...]
    at: datetime


class ProviderPages:
    """Fetches the metadata when they are needed, and caches them."""

    def __init__(self, issuer: str, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._known: CachedMetadata | None = None
        self._failed: tuple[datetime, RequestFailed] | None = None
        self._turn = asyncio.Lock()

    async def known(self) -> CachedMetadata:
        """Return the metadata. Raises RequestFailed."""
        async with self._turn:
            known, at = self._known, self._clock.now()
            if known is not None and abs(at - known.at) < KEPT_FOR:
                return known
            try:
                return await self._ask(at)
            except RequestFailed:
                if known is None or abs(at - known.at) >= KEPT_WITHOUT_ANSWER:
                    raise
                _log.warning(
                    "the provider %s does not answer; its cached answers are used", self._issuer
                )
                return known

    async def anew(self) -> CachedMetadata:
        """Fetch the metadata again, for a token whose key is unknown. Raises RequestFailed."""
        async with self._turn:
            known, at = self._known, self._clock.now()
            if known is not None and abs(at - known.at) < MIN_REFETCH_INTERVAL:
                return known
            return await self._ask(at)

    async def _ask(self, at: datetime) -> CachedMetadata:
        if self._failed is not None and abs(at - self._failed[0]) < AGAIN_AFTER:
            raise self._failed[1].with_traceback(None)
        try:
            self._known = await self._asked(at)
        except RequestFailed as failure:
            self._failed = self._clock.now(), failure
            raise
        return self._known

    async def _asked(self, at: datetime) -> CachedMetadata:
        url = self._issuer.removesuffix("/") + "/.well-known/openid-configuration"
        metadata = _metadata(url, await get_json(url), self._issuer)
        keys = _keys(metadata.jwks_uri, await get_json(metadata.jwks_uri))
        return CachedMetadata(metadata, keys, at)


def _metadata(url: str, body: bytes, issuer: str) -> Metadata:
    try:
        metadata = msgspec.json.decode(body, type=Metadata)
    except BAD_JSON as error:
        raise RequestFailed(url, f"not a provider's configuration: {error}") from error
    if metadata.issuer != issuer:
        issuer = metadata.issuer[:200]
        raise RequestFailed(url, f"the provider calls itself {issuer!r}; set that as the issuer")
    for endpoint in (
        metadata.authorization_endpoint,
        metadata.token_endpoint,
        metadata.jwks_uri,
        metadata.userinfo_endpoint,
    ):
        if endpoint is not None and not _is_as_safe_as(endpoint, issuer):
            raise RequestFailed(url, f"{endpoint[:200]!r} is no address to send secrets to")
    return metadata


def _is_as_safe_as(endpoint: str, issuer: str) -> bool:
    """Allow http only if the issuer uses http, which settings admit on this machine alone."""
    try:
        parts = urlsplit(endpoint)
        is_address = bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        return False
    is_clean = endpoint.isascii() and endpoint.isprintable() and " " not in endpoint
    schemes = {"https", urlsplit(issuer).scheme}
    return is_address and is_clean and parts.scheme in schemes and not parts.fragment


def _keys(url: str, body: bytes) -> tuple[PublicKey, ...]:
    """Return the keys that can verify a signature; a set may contain others."""
    try:
        key_set = msgspec.json.decode(body, type=_KeySet).keys[:_MAX_KEYS]
    except BAD_JSON as error:
        raise RequestFailed(url, f"not a set of keys: {error}") from error
    return tuple(key for data in key_set if (key := _key(data)) is not None)


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
