"""One request from the tunnel to the printer's own web server, and its answer back."""

from printreach.http1.client import Client, Exchange, Failure
from printreach.http1.heads import Response
from printreach.tunnel.stream import Stream
from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened
from printreach.wire.heads import (
    Headers,
    RequestHead,
    encode_fields,
    encode_response,
    get,
    strip_hop_by_hop,
)

_REASONS = {
    Failure.UNREACHABLE: Reason.UNREACHABLE,
    Failure.TIMED_OUT: Reason.TIMED_OUT,
    Failure.BROKEN: Reason.BROKEN,
}
_SAYS = {
    Failure.UNREACHABLE: "can't be reached",
    Failure.TIMED_OUT: "gave no answer",
    Failure.BROKEN: "broke its answer off",
}


class LocalRequests:
    """Sends requests of the tunnel to one web server.

    server: its address, for people. wants_outside_host: it derives links and cookies from
    X-Forwarded-Host and -Proto (OctoPrint). X-Forwarded-For is never sent: Moonraker would take
    the caller for a stranger, OctoPrint would log it as its user.
    """

    def __init__(self, client: Client, server: str, *, wants_outside_host: bool) -> None:
        self._client = client
        self._wants_outside_host = wants_outside_host
        self.server = server

    def serve(self, stream: Stream, opened: StreamOpened, head: RequestHead) -> None:
        chunked = not opened.fin and get(head.headers, b"content-length") is None
        upgrade = opened.upgrade
        exchange = LocalExchange(stream, self.server, is_sent=opened.fin)
        stream.handler = exchange
        exchange.begin(
            self._client,
            head.method,
            self._printer_head(head, opened, chunked=chunked and not upgrade),
            body=opened.body,
            fin=opened.fin,
            chunked=chunked and not upgrade,
        )

    def _printer_head(self, head: RequestHead, opened: StreamOpened, *, chunked: bool) -> bytes:
        headers: Headers = [
            *strip_hop_by_hop(head.headers),
            *(self._outside(head, secure=opened.secure) if self._wants_outside_host else ()),
        ]
        if chunked:
            headers.append((b"Transfer-Encoding", b"chunked"))
        if opened.upgrade:
            headers += [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
        line = b"%b %b HTTP/1.1\r\n" % (head.method, head.target)
        return line + encode_fields(headers) + b"\r\n"

    def _outside(self, head: RequestHead, *, secure: bool) -> Headers:
        host = get(head.headers, b"host") or b""
        scheme = b"https" if secure else b"http"
        return [(b"X-Forwarded-Host", host), (b"X-Forwarded-Proto", scheme)]


class LocalExchange:
    """Stands between a stream and the printer; this half hears from the stream."""

    def __init__(self, stream: Stream, server: str, *, is_sent: bool) -> None:
        self.stream = stream
        self.server = server
        self.is_raw = False
        self.is_over = False
        self.untaken = 0  # bytes the printer's connection has not had room for
        self.upstream: Exchange
        self._is_sent = is_sent

    def begin(
        self, client: Client, method: bytes, head: bytes, *, body: bytes, fin: bool, chunked: bool
    ) -> None:
        answer = _PrinterAnswer(self)
        self.upstream = client.request(answer, method, head, body=body, fin=fin, chunked=chunked)
        self.untaken += len(body)

    def on_data(self, data: bytes, fin: bool) -> None:
        if self.is_over:
            self.stream.taken(len(data))  # the answer came early; the rest of the upload is moot
            return
        if self.is_raw:
            writable = self.upstream.send_raw(data)
            if fin:
                self.upstream.end_raw()
        else:
            writable = self.upstream.send(data, fin=fin)
        if writable:
            self.stream.taken(len(data))
        else:
            self.untaken += len(data)

    def on_writable(self) -> None:
        self.upstream.resume()

    def on_reset(self, _reason: Reason, _text: str) -> None:
        self.is_over = True
        self.upstream.cancel()

    def on_interim(self, _head: bytes) -> None:
        raise AssertionError("the session lets only agents answer")

    def on_head(self, _head: bytes, _body: bytes, _fin: bool) -> None:
        raise AssertionError("the session lets only agents answer")


class _PrinterAnswer:
    """The half that hears from the printer."""

    def __init__(self, exchange: LocalExchange) -> None:
        self._exchange = exchange
        self._stream = exchange.stream
        self._has_begun = False

    def on_writable(self) -> None:
        size, self._exchange.untaken = self._exchange.untaken, 0
        if size:
            self._stream.taken(size)

    def on_interim(self, response: Response) -> None:
        if self._stream.is_open:
            headers = strip_hop_by_hop(response.headers)
            self._stream.interim(encode_response(response.status, response.reason, headers))

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        if not self._stream.is_open:
            self._exchange.upstream.cancel()
            return
        self._has_begun = True
        self._exchange.is_raw = response.upgrade
        self._exchange.is_over = fin
        headers = strip_hop_by_hop(response.headers)
        head = encode_response(response.status, response.reason, headers)
        if not self._stream.respond(head, body, fin=fin) and not fin:
            self._exchange.upstream.pause()

    def on_body(self, data: bytes, fin: bool) -> None:
        if not self._stream.is_open:
            self._exchange.upstream.cancel()
            return
        self._exchange.is_over = fin
        if not self._stream.send(data, fin=fin) and not fin:
            self._exchange.upstream.pause()

    def on_failed(self, failure: Failure, text: str) -> None:
        self._exchange.is_over = True
        server = self._exchange.server
        sentence = f"The printer's web server at {server} {_SAYS[failure]}: {text}."
        self._stream.reset(_REASONS[failure], sentence)
