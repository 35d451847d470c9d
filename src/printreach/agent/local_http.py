"""One request from the tunnel to the printer's own web server, and its answer back."""

import logging
from functools import lru_cache
from typing import Final, NamedTuple

from printreach.agent.addresses import WebAddress
from printreach.contract.commands import PERMISSIONS_FIELD
from printreach.http1.client import Client, ClientExchange, ExchangeFailure
from printreach.http1.heads import Response
from printreach.http1.request_ids import about
from printreach.languages import N_, in_english
from printreach.tunnel.stream import Stream
from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened
from printreach.wire.heads import (
    Headers,
    RequestLine,
    decode_fields,
    encode_fields,
    get,
    strip_hop_by_hop,
)

log = logging.getLogger(__name__)

_REASONS: Final = {
    ExchangeFailure.UNREACHABLE: Reason.UNREACHABLE,
    ExchangeFailure.TIMED_OUT: Reason.TIMED_OUT,
    ExchangeFailure.BROKEN: Reason.BROKEN,
}
_SAYS: Final = {
    ExchangeFailure.UNREACHABLE: N_(
        "The printer's web server at %(host)s can't be reached: %(why)s."
    ),
    ExchangeFailure.TIMED_OUT: N_("The printer's web server at %(host)s gave no answer: %(why)s."),
    ExchangeFailure.BROKEN: N_(
        "The printer's web server at %(host)s broke its answer off: %(why)s."
    ),
}
_SAYS_WITHOUT_ANSWER: Final = {
    **_SAYS,
    ExchangeFailure.BROKEN: N_(
        "The printer's web server at %(host)s gave no answer that can be passed on: %(why)s."
    ),
}


_FAMILIAR: Final = 64
_MAX_FAMILIAR_BYTES: Final = 4096


class _Fields(NamedTuple):
    """A caller's header lines, translated. encoded: those for the printer."""

    encoded: bytes
    has_length: bool


class LocalRequests:
    """Sends requests of the tunnel to one web server.

    server: its address. A caller of HTTP/1.0 may have left Host out: the printer gets its own then,
    which HTTP/1.1 requires. wants_outside_host: it derives links and cookies from
    X-Forwarded-Host and -Proto (OctoPrint). X-Forwarded-For is never sent: Moonraker would take
    the caller for a stranger, OctoPrint would log it as its user.
    """

    def __init__(self, client: Client, server: WebAddress, *, wants_outside_host: bool) -> None:
        self._client = client
        self._wants_outside_host = wants_outside_host
        # Callers repeat their lines from request to request, and there are few at a time.
        self._familiar = lru_cache(_FAMILIAR)(self._read)
        self._own_host = (b"Host", server.authority.encode("ascii", "replace"))
        self.server = str(server)

    def serve(self, stream: Stream, opened: StreamOpened, line: RequestLine) -> None:
        """Raises RemoteProtocolError for a head that can't be read."""
        read = self._familiar if len(line.lines) <= _MAX_FAMILIAR_BYTES else self._read
        fields = read(line.lines, opened.secure)
        # Also where the body has come whole: without a word on its length the printer would take
        # it for the next request.
        has_body = not opened.fin or bool(opened.body)
        chunked = has_body and not fields.has_length and not opened.upgrade
        head = b"%b %b HTTP/1.1\r\n%b%b\r\n" % (
            line.method,
            line.target,
            fields.encoded,
            _hop_by_hop(chunked=chunked, upgrade=opened.upgrade),
        )
        exchange = LocalExchange(stream, self.server, opened, line.request_id)
        stream.handler = exchange
        exchange.begin(self._client, line.method, head, chunked=chunked)

    def _read(self, lines: bytes, secure: bool) -> _Fields:
        headers = decode_fields(lines)
        passed = [field for field in strip_hop_by_hop(headers) if field[0] != PERMISSIONS_FIELD]
        host = get(headers, b"host")
        if host is None:
            passed.insert(0, self._own_host)
        if self._wants_outside_host:
            passed += _outside(host, secure=secure)
        return _Fields(encode_fields(passed), get(headers, b"content-length") is not None)


def _outside(host: bytes | None, *, secure: bool) -> Headers:
    """host: as the caller said it, or None where it said none."""
    scheme = (b"X-Forwarded-Proto", b"https" if secure else b"http")
    return [scheme] if host is None else [(b"X-Forwarded-Host", host), scheme]


def _hop_by_hop(*, chunked: bool, upgrade: bool) -> bytes:
    if chunked:
        return b"Transfer-Encoding: chunked\r\n"
    return b"Connection: Upgrade\r\nUpgrade: websocket\r\n" if upgrade else b""


class LocalExchange:
    """One exchange between a stream and the printer; this half handles the stream's callbacks.

    Data after a WebSocket handshake waits until the printer agrees: a printer that does not would
    take the first frames for its next request.
    """

    def __init__(
        self, stream: Stream, server: str, opened: StreamOpened, request_id: bytes
    ) -> None:
        self.request_id = request_id
        self.stream = stream
        self.server = server
        self.upgrades = opened.upgrade
        self.is_raw = False
        self.is_over = False  # the answer is complete, or the caller has left
        self.upstream: ClientExchange
        self._opened = opened
        self._untaken = 0  # bytes the printer's connection has not had room for
        self._early: list[tuple[bytes, bool]] = []  # after a handshake: data, fin

    def begin(self, client: Client, method: bytes, head: bytes, *, chunked: bool) -> None:
        opened, answer = self._opened, _PrinterAnswer(self)
        if self.upgrades:
            self.upstream = client.request(answer, method, head)
            self.on_data(opened.body, opened.fin)
            return
        self._untaken = len(opened.body)
        self.upstream = client.request(
            answer, method, head, body=opened.body, fin=opened.fin, chunked=chunked
        )

    # --- from the stream ------------------------------------------------------------------------

    def on_data(self, data: bytes, fin: bool) -> None:
        if self.is_over:
            self.stream.taken(len(data))  # the answer came early; the rest of the upload is moot
        elif self.is_raw:
            self._pass_on(len(data), self.upstream.send_raw(data))
            if fin:
                self.upstream.end_raw()
        elif self.upgrades:
            self._early.append((data, fin))
        else:
            self._pass_on(len(data), self.upstream.send(data, fin=fin))

    def on_writable(self) -> None:
        self.upstream.resume()

    def on_reset(self, _reason: Reason, _text: str) -> None:
        self.is_over = True
        self.upstream.cancel()

    def on_interim(self, _head: bytes) -> None:
        raise AssertionError("the session lets only agents answer")

    def on_head(self, _head: bytes, _body: bytes, _fin: bool) -> None:
        raise AssertionError("the session lets only agents answer")

    # --- from the printer -----------------------------------------------------------------------

    def answered(self, *, is_raw: bool, fin: bool) -> None:
        """Handle the head of the answer, which may be all of it."""
        self.is_raw = is_raw
        early, self._early = self._early, []
        if not is_raw:
            self.upgrades = False
            self._untaken += sum(len(data) for data, _ in early)
        if fin:
            self.ended()
        elif is_raw:
            for data, ends in early:
                self.on_data(data, ends)
        elif early:
            self.take_all()

    def ended(self) -> None:
        """Handle the end of the answer; the rest of the upload is no longer needed."""
        self.is_over = True
        self.take_all()

    def take_all(self) -> None:
        size, self._untaken = self._untaken, 0
        if size:
            self.stream.taken(size)

    def _pass_on(self, size: int, is_writable: bool) -> None:
        if is_writable:
            self.stream.taken(size)
        else:
            self._untaken += size


class _PrinterAnswer:
    """The half that handles the printer's callbacks."""

    def __init__(self, exchange: LocalExchange) -> None:
        self._exchange = exchange
        self._stream = exchange.stream
        self._has_answered = False

    def on_writable(self) -> None:
        self._exchange.take_all()

    def on_interim(self, response: Response) -> None:
        self._stream.interim(response.for_tunnel())

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        if response.upgrade and not self._exchange.upgrades:
            self._exchange.upstream.cancel()
            self.on_failed(ExchangeFailure.BROKEN, N_("it changed to another protocol unasked"))
            return
        self._has_answered = True
        self._exchange.answered(is_raw=response.upgrade, fin=fin)
        if not self._stream.respond(response.for_tunnel(), body, fin=fin) and not fin:
            self._exchange.upstream.pause()

    def on_body(self, data: bytes, fin: bool) -> None:
        if fin:
            self._exchange.ended()
        if not self._stream.send(data, fin=fin) and not fin:
            self._exchange.upstream.pause()

    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        self._exchange.is_over = True
        server = self._exchange.server
        says = _SAYS if self._has_answered else _SAYS_WITHOUT_ANSWER
        sentence = in_english(says[failure], host=server, why=text.removesuffix("."))
        log.debug("%s", sentence, extra=about(self._exchange.request_id))
        self._stream.reset(_REASONS[failure], sentence)
