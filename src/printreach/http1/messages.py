"""The values that a server's handler takes and returns: a call with its body, and the answer."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from printreach.wire.heads import Headers, get

from .heads import Request
from .request_body import RequestBody
from .stream import ByteStream


@dataclass(slots=True, kw_only=True)
class Call:
    """One request that arrived. peer: the client's address.

    mark_authenticated: call it once the caller has shown who they are
        (ServerLimits.drops_unauthenticated).
    """

    head: Request
    body: RequestBody
    peer: str
    mark_authenticated: Callable[[], None] = lambda: None

    @property
    def method(self) -> bytes:
        return self.head.method

    @property
    def path(self) -> bytes:
        """The target without its query, bytes unchanged: still percent-encoded."""
        return self.head.target.partition(b"?")[0]

    @property
    def query(self) -> bytes:
        """The part after the target's first question mark; empty if there is none."""
        return self.head.target.partition(b"?")[2]

    def header(self, name_lower: bytes) -> bytes | None:
        """Return the first value of a header, or None. name_lower: the name in lower case."""
        return get(self.head.headers, name_lower)


@dataclass(slots=True, kw_only=True)
class Answer:
    """An answer to send.

    headers: without Content-Length, Transfer-Encoding and Connection, which the server writes
        (Connection: Upgrade for a 101 is the handler's).
    body: a generator is sent as it yields; it is closed when the client goes away.
    length: of a generator's body, where known; otherwise the body is sent in chunks.
    upgraded: with status 101 alone; serves the connection after the head. It isn't cancelled when
        the client goes away; receive() tells it. The connection ends when it returns.
    """

    status: int = 200
    headers: Headers = field(default_factory=list)
    body: bytes | AsyncGenerator[bytes, None] = b""
    length: int | None = None
    upgraded: Callable[[ByteStream], Awaitable[None]] | None = None


Handler = Callable[[Call], Awaitable[Answer]]


def text_answer(status: int, sentence: str) -> Answer:
    """Return a plain-text answer of one line."""
    headers = [(b"Content-Type", b"text/plain; charset=utf-8")]
    return Answer(status=status, headers=headers, body=sentence.encode() + b"\n")
