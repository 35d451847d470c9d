"""Requests to a provider: small JSON answers, within a deadline, without redirects."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.http1.client import Connect
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed

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
