"""Limits for requests of the service's own host: their number, and bodies by size, time and memory.

A route's `request_max_body_size` bounds its body; `web.app` sets the default. Forms and JSON are
read here; uploads and images are read in chunks by their routes, which have limits of their own.

What a request waits for may take long, such as a printer that hangs. So the requests of an account
that wait for their answers are bounded, whatever they wait for, and have their share of the store.
An answer that has begun has bounds of its own.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from litestar import Request
from litestar.exceptions import ClientException, InternalServerException
from litestar.serialization import decode_json
from litestar.types import ASGIApp, Empty, Message, Receive, Scope, Send

from printreach.contract.codec import BYTE_ORDER_MARK
from printreach.limiters.fair_semaphore import CURRENT_SHARE, Share, TooBusy
from printreach.limiters.slots import Slots
from printreach.rules.rate_limits import widest_network_of
from printreach.web.problems import AnyRequest, path_in_log

OF_ONE: Final = 200
"""Of one browser, app or token: as many as the thumbnails of the longest page."""
OF_ACCOUNT: Final = 800
"""About 16 MB. More than one of them has, so that one alone keeps no other out."""


class TooManyBodies(Exception):
    """There are too many bodies; the caller may retry later."""


class TooSlow(Exception):
    """The body did not arrive in time."""


@dataclass(eq=False, slots=True)
class Body:
    """One body. caller: the id of its sender. size: bytes held."""

    limiter: "BodyLimiter"
    caller: str
    size: int = 0
    timeout: asyncio.Timeout | None = None
    is_evicted: bool = False

    def grow(self, by: int) -> None:
        """Take more memory. Raises TooManyBodies."""
        if self.is_evicted:
            raise TooManyBodies
        self.limiter.reserve(by)
        if self.is_evicted:  # it was itself the slowest and was evicted
            raise TooManyBodies
        self.size += by

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Read within this context; the body may be evicted meanwhile. Raises TooManyBodies and
        TooSlow.
        """
        try:
            async with asyncio.timeout(self.limiter.timeout_s) as self.timeout:
                yield
        except TimeoutError:
            raise (TooManyBodies if self.is_evicted else TooSlow) from None
        finally:
            self.timeout = None

    def evict(self) -> None:
        """Free the memory at once; its reader is cancelled with the next turn of the event loop."""
        assert self.timeout is not None, "only what is being read is given up"
        self.is_evicted, self.size = True, 0
        if not self.timeout.expired():  # its timeout may have expired in this very turn
            self.timeout.reschedule(0)


@dataclass(slots=True, kw_only=True)
class BodyLimiter:
    """Bounds the bodies of one kind.

    max_bytes: of all bodies together. max_per_caller: bodies of one caller at once; None for any
    number. timeout_s: from a body's first byte to its last.
    """

    max_bytes: int
    max_per_caller: int | None
    timeout_s: float
    _bodies: list[Body] = field(default_factory=list)

    @contextmanager
    def admit(self, caller: str) -> Iterator[Body]:
        """Admit a body while its bytes are needed. Raises TooManyBodies."""
        if self.max_per_caller is not None and self._count(caller) >= self.max_per_caller:
            raise TooManyBodies
        body = Body(self, caller)
        self._bodies.append(body)
        try:
            yield body
        finally:
            self._bodies.remove(body)

    def reserve(self, size: int) -> None:
        """Free `size` bytes. Raises TooManyBodies."""
        while sum(body.size for body in self._bodies) + size > self.max_bytes:
            slowest = next((body for body in self._bodies if body.timeout and body.size), None)
            if slowest is None:
                raise TooManyBodies
            slowest.evict()

    def _count(self, caller: str) -> int:
        return sum(body.caller == caller for body in self._bodies)


LARGEST_BODY: Final = 64 * 1024
"""The limit of a form or of JSON, in bytes, unless a route sets another one."""
BODY_TIMEOUT_S: Final = 30.0
"""From the first byte of such a body to its last."""
MAX_ANONYMOUS_BYTES: Final = 16 * 1024 * 1024
"""The limit of all bodies being read from callers who have not signed in; 256 of the largest."""
MAX_SIGNED_IN_BYTES: Final = 32 * 1024 * 1024
MAX_PER_ACCOUNT: Final = 16
"""Bodies of one account at once."""
MAX_IMAGE_BYTES: Final = 96 * 1024 * 1024
"""The limit of all images being read; sixteen of the largest."""
MAX_IMAGES_PER_ACCOUNT: Final = 16
"""Images of one account at once. Two hundred printers send ten a second."""
IMAGE_TIMEOUT_S: Final = 60.0
"""From an image's first byte to its last: 6 MiB at less than 1 Mbit/s."""

ENCODED_JSON: Final = "Content-Encoding: send the JSON as it is."

_log = logging.getLogger(__name__)


class BodyBrokenOff(ClientException):
    """The caller left before the body was complete. Nobody reads the answer."""


class BodyTooSlow(ClientException):
    """The body did not arrive in time."""

    status_code = 408


class BodyLimiters:
    """The limiters of one process, separate for each kind of sender, so that no kind starves
    another.
    """

    def __init__(self) -> None:
        self.of_strangers = BodyLimiter(
            max_bytes=MAX_ANONYMOUS_BYTES, max_per_caller=None, timeout_s=BODY_TIMEOUT_S
        )
        self.of_known = BodyLimiter(
            max_bytes=MAX_SIGNED_IN_BYTES, max_per_caller=MAX_PER_ACCOUNT, timeout_s=BODY_TIMEOUT_S
        )
        self.of_images = BodyLimiter(
            max_bytes=MAX_IMAGE_BYTES,
            max_per_caller=MAX_IMAGES_PER_ACCOUNT,
            timeout_s=IMAGE_TIMEOUT_S,
        )


class BoundedRequest(Request[Any, Any, Any]):
    """A request whose body is bounded in size, time and memory.

    Once the caller is known, the ASGI key "user" holds the account's id: note_caller().
    """

    async def body(self) -> bytes:
        """Read the whole body.

        Raises RequestEntityTooLarge, BodyBrokenOff, BodyTooSlow and TooBusy.
        """
        if self._connection_state.body is Empty:
            self._connection_state.body = await self._read()
        return self._connection_state.body

    async def json(self) -> Any:
        """Parse the body as JSON; a byte order mark may stand first. Raises as body() does, and
        ClientException.
        """
        refuse_encoded_json(self)
        if self._connection_state.json is Empty:
            body = (await self.body()).removeprefix(BYTE_ORDER_MARK)
            self._connection_state.json = decode_json(body or b"null")
        return self._connection_state.json

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """Read the body chunk by chunk. Raises RequestEntityTooLarge and BodyBrokenOff."""
        try:
            async for chunk in super().stream():
                yield chunk
        except InternalServerException as failure:
            if not self.is_connected:
                raise  # it was already read, which is a bug
            _log.info("%s %s: the caller left in the middle", self.method, path_in_log(self))
            raise BodyBrokenOff("The body of the request broke off") from failure

    async def _read(self) -> bytes:
        limiters = body_limiters_of(self)
        caller: str = self.scope.get("user") or ""
        limiter = limiters.of_known if caller else limiters.of_strangers
        read = bytearray()
        try:
            with limiter.admit(caller) as body:
                async with body.reading():
                    async for chunk in self.stream():
                        body.grow(len(chunk))
                        read += chunk
        except TooManyBodies:
            raise TooBusy("there is no memory for another body now") from None
        except TooSlow:
            raise BodyTooSlow(
                f"The body of the request did not come within {BODY_TIMEOUT_S:g} seconds"
            ) from None
        return bytes(read)


def is_encoded(request: AnyRequest) -> bool:
    """Return whether the body is compressed; none is unpacked here."""
    return request.headers.get("content-encoding", "identity").lower() != "identity"


def refuse_encoded_json(request: AnyRequest) -> None:
    """Raises ClientException where the body is compressed."""
    if is_encoded(request):
        raise ClientException(ENCODED_JSON.removesuffix("."))


def body_limiters_of(request: AnyRequest) -> BodyLimiters:
    """Return the limiters of the application."""
    limiters: BodyLimiters = request.app.state.body_limiters
    return limiters


def note_caller(request: AnyRequest, account_id: str, by: str) -> None:
    """Record the account, which from now on counts for the limits of the request.

    by: the id of what makes the request for the account. Raises TooBusy if too many of its requests
    wait for their answers.
    """
    request.scope["user"] = account_id
    unanswered = CURRENT_SHARE.get()
    if isinstance(unanswered, UnansweredRequest):
        unanswered.note(account_id, by)


@dataclass(slots=True)
class UnansweredRequest(Share):
    """A request whose answer has not begun. counted: the keys that it counts for."""

    slots: Slots
    counted: tuple[str, ...] = ()
    is_answered: bool = False

    def note(self, account_id: str, by: str) -> None:
        """Count it for an account and what makes it; once. Raises TooBusy."""
        self.key = account_id
        if self.counted or self.is_answered:
            return
        keys = (account_id, f"{account_id} {by}")
        if not self.slots.take({keys[0]: OF_ACCOUNT, keys[1]: OF_ONE}):
            raise TooBusy("the account has too many requests that wait for their answers")
        self.counted = keys

    def end(self) -> None:
        """Note that the answer has begun, or that nothing comes any more."""
        self.is_answered = True
        if self.counted:
            self.slots.release(self.counted)
            self.counted = ()


class UnansweredRequests:
    """ASGI middleware that counts them. A server calls it in a task for each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._slots = Slots()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        network = widest_network_of(client[0]) if client else ""
        unanswered = UnansweredRequest(network, self._slots)

        async def begin(message: Message) -> None:
            unanswered.end()
            await send(message)

        token = CURRENT_SHARE.set(unanswered)
        try:
            await self._app(scope, receive, begin)
        finally:
            CURRENT_SHARE.reset(token)
            unanswered.end()
