"""A request of another node, passed on to the printer's own tunnel at this one.

Two streams become one: what comes on the one is sent on the other, and credit is returned on the
one when the other has taken what came. So a slow caller at the other node slows its printer's
stream.
"""

from typing import Final

from printreach.http1.tracing import CALLER_GONE, Span
from printreach.tunnel.stream import Stream
from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened

from .route import SHARED_STREAMS, TUNNEL_IS_FULL, Route

_OVER_THE_LINK: Final = {
    Reason.TUNNEL_LOST: Reason.PRINTER_LOST,
    Reason.TUNNEL_SILENT: Reason.PRINTER_SILENT,
}
"""Why a printer's tunnel ended, in words that travel; of the link itself its ends know best."""


def splice(
    inward: Stream,
    opened: StreamOpened,
    head: bytes,
    route: Route,
    *,
    is_own: bool,
    span: Span | None = None,
) -> None:
    """Pass the stream of another node on to the printer's tunnel, or reset it.

    head: without the printer. is_own: the service's own request. span: of the passing on, which
    ends here.
    """
    tunnel = route.tunnel
    is_full = not is_own and tunnel.session.stream_count >= SHARED_STREAMS
    if tunnel.is_overloaded or is_full:
        _refuse(inward, span, Reason.REFUSED, TUNNEL_IS_FULL)
    elif not tunnel.session.may_open:
        _refuse(inward, span, Reason.PRINTER_LOST)
    else:
        _Splice(inward, span).begin(opened, head, route)


def _refuse(inward: Stream, span: Span | None, reason: Reason, text: str = "") -> None:
    if span is not None:
        span.end(reason.name.lower())
    inward.reset(reason, text)


class _Splice:
    """Both streams of one request."""

    __slots__ = ("inward", "onward", "span", "unanswered", "untaken")

    def __init__(self, inward: Stream, span: Span | None) -> None:
        self.inward = inward
        self.span = span
        self.onward: Stream
        self.untaken = 0  # bytes of the request that wait for the printer's tunnel
        self.unanswered = 0  # bytes of the answer that wait for the link

    def begin(self, opened: StreamOpened, head: bytes, route: Route) -> None:
        body, tunnel = opened.body, route.tunnel
        # While the tunnel is congested a body waits for its turn, as those of open streams do.
        first, rest = (b"", body) if tunnel.is_congested else (body, b"")
        request = self.inward.handler = _Request(self)
        self.onward = tunnel.open(
            _Answer(self),
            head,
            first,
            fin=opened.fin and not rest,
            upgrade=opened.upgrade,
            secure=opened.secure,
        )
        self.inward.taken(len(first))
        if rest:
            request.on_data(rest, opened.fin)


class _Request:
    """The handler of the stream from the other node."""

    __slots__ = ("_both",)

    def __init__(self, both: _Splice) -> None:
        self._both = both

    def on_data(self, data: bytes, fin: bool) -> None:
        both = self._both
        if both.onward.send(data, fin=fin):
            both.inward.taken(len(data))
        else:
            both.untaken += len(data)

    def on_writable(self) -> None:
        size, self._both.unanswered = self._both.unanswered, 0
        self._both.onward.taken(size)

    def on_reset(self, reason: Reason, text: str) -> None:
        if self._both.span is not None:
            is_left = reason is Reason.CANCELLED
            self._both.span.end(CALLER_GONE if is_left else reason.name.lower())
        if self._both.onward.is_open:
            # That the link between the nodes has ended is nothing that an agent knows.
            is_of_link = reason in _OVER_THE_LINK
            self._both.onward.reset(Reason.CANCELLED if is_of_link else reason, text)

    def on_interim(self, _head: bytes) -> None:
        raise AssertionError("the session lets only the answering end answer")

    def on_head(self, _head: bytes, _body: bytes, _fin: bool) -> None:
        raise AssertionError("the session lets only the answering end answer")


class _Answer:
    """The handler of the stream on the printer's tunnel."""

    __slots__ = ("_both",)

    def __init__(self, both: _Splice) -> None:
        self._both = both

    def on_interim(self, head: bytes) -> None:
        self._both.inward.interim(head)

    def on_head(self, head: bytes, body: bytes, fin: bool) -> None:
        if self._both.span is not None:
            _tell_status(self._both.span, head, fin=fin)
        self._count(self._both.inward.respond(head, body, fin=fin), len(body))

    def on_data(self, data: bytes, fin: bool) -> None:
        if fin and self._both.span is not None:
            self._both.span.end()
        self._count(self._both.inward.send(data, fin=fin), len(data))

    def on_writable(self) -> None:
        size, self._both.untaken = self._both.untaken, 0
        self._both.inward.taken(size)

    def on_reset(self, reason: Reason, text: str) -> None:
        if self._both.span is not None:
            self._both.span.end(reason.name.lower())
        if self._both.inward.is_open:
            self._both.inward.reset(_OVER_THE_LINK.get(reason, reason), text)

    def _count(self, is_taken: bool, size: int) -> None:
        if is_taken:
            self._both.onward.taken(size)
        else:
            self._both.unanswered += size


def _tell_status(span: Span, head: bytes, *, fin: bool) -> None:
    status = head[:3]
    if status.isdigit():  # else the other node refuses it
        span.answered(int(status))
    if fin:
        span.end()
