"""One HTTP request to a printer over one stream, and its answer. Every byte passes here."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from printreach.contract.errors import NOT_PERMITTED, ErrorCode, Failure
from printreach.http1.heads import Framing, Request
from printreach.http1.request_ids import about
from printreach.languages import N_, in_english
from printreach.rules.connections import INTERNAL_KINDS, Grant, Refused
from printreach.rules.connections.permissions import Requirement
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import Reason, RemoteProtocolError
from printreach.wire.frames import CHUNK_BYTES
from printreach.wire.heads import MAX_HEAD_BYTES, Headers, encode_fields

from .admission import Admission
from .answering import AnswerWriter, BrokenAnswer
from .connection import FrontConnection
from .header_filter import AnswerReader, BadAnswer, Field, without_length
from .hosts import Hosts
from .page_words import failure_of
from .refusals import refuse
from .route import Route
from .webcam_feeds import FeedKey, Feeds, Viewer
from .webcam_frames import Piece, boundary_of

log = logging.getLogger(__name__)

_CODES: Final = {
    Reason.UNREACHABLE: ErrorCode.AGENT_ERROR,
    Reason.BROKEN: ErrorCode.AGENT_ERROR,
    Reason.REFUSED: ErrorCode.AGENT_ERROR,
    Reason.TIMED_OUT: ErrorCode.AGENT_ERROR,
    Reason.TUNNEL_LOST: ErrorCode.PRINTER_NOT_CONNECTED,
    Reason.TUNNEL_SILENT: ErrorCode.PRINTER_TIMED_OUT,
    Reason.NOT_ALLOWED: ErrorCode.BAD_CREDENTIALS,
    Reason.PRINTER_LOST: ErrorCode.PRINTER_NOT_CONNECTED,
    Reason.PRINTER_SILENT: ErrorCode.PRINTER_TIMED_OUT,
}

_OF_THE_TUNNEL: Final = frozenset(
    {Reason.TUNNEL_LOST, Reason.TUNNEL_SILENT, Reason.PRINTER_LOST, Reason.PRINTER_SILENT}
)
"""What ended the tunnel is for the log; callers are told what their code means."""

MAX_INTERIMS: Final = 16
"""The most interim answers: they need no credit, so only their number can be limited."""
OWN_STATUSES: Final = frozenset(int(code) for code in ErrorCode)
"""What the service answers of its own, so that no printer can."""


class PrinterExchange:
    """Connects a caller's connection with a stream; the handler of both."""

    def __init__(
        self,
        caller: FrontConnection,
        request: Request,
        hosts: Hosts,
        admission: Admission,
        feeds: Feeds,
        answers: AnswerReader,
        *,
        grant: Grant,
        presented: Sequence[bytes],
        need: Requirement,
        defaults: tuple[Field, ...] = (),
        cookie_port: int | None = None,
        passes_body: bool = True,
        is_verbose: bool = False,
    ) -> None:
        """defaults, cookie_port: see header_filter.read_answer.

        passes_body: False sends the printer no body. is_verbose: answers are logged.
        """
        self._passes_body = passes_body
        self._is_verbose = is_verbose
        self._cookie_port = cookie_port
        self.grant = grant
        self.presented = presented
        self.need = need
        self._admission = admission
        self._feeds = feeds
        self._answers = answers
        self._caller = caller
        caller.account_id = grant.account_id
        self._request = request
        self._hosts = hosts
        self._defaults = defaults
        self._writer = AnswerWriter(caller, request)
        self._stream: Stream | Viewer
        self._upstream: tuple[Tunnel, bytes, bytes]  # tunnel, target, header lines
        self._uploaded = 0
        self._downloaded = 0
        self._download_limit = grant.limits.download_bytes
        self._untaken = 0  # bytes in the caller's full buffer, not yet acknowledged
        self._is_sent = False
        self._is_over = False
        self._is_raw = False
        self._interims = 0
        self._asked_at = admission.now()
        self._webcam_timer: asyncio.TimerHandle | None = None

    def start(
        self,
        route: Route,
        body: bytes,
        fin: bool,
        *,
        target: bytes,
        fields: bytes,
        secure: bool,
        stamp: Headers,
    ) -> "PrinterExchange | None":
        """Open the stream. None: the request was refused at once.

        target, fields: of the caller, as the printer may see them. stamp: fields that we add.
        """
        request = self._request
        if max(request.length, len(body)) > self.grant.limits.upload_bytes:
            self._refuse(ErrorCode.UPLOAD_LIMIT)
            return None
        if not self._passes_body:
            fields = without_length(fields)
        elif fin and request.framing is Framing.CHUNKED:
            stamp = [*stamp, (b"Content-Length", b"%d" % len(body))]  # all of it is here
        tunnel = route.tunnel
        self._upstream = tunnel, target, fields
        self._span = request.span  # of the call to the printer from here on
        if self._span is not None:
            self._span = self._span.begin_call(self.grant.printer_id, is_here=route.is_here)
        is_own = self.grant.kind in INTERNAL_KINDS
        start = route.start_of_head(request, target, self._span, is_own=is_own)
        head = start + encode_fields(stamp) + fields if stamp else start + fields
        if len(head) > MAX_HEAD_BYTES:
            self._refuse(ErrorCode.AGENT_ERROR, N_("The head of the request is too large."))
            return None
        # While the tunnel is congested a body waits for its turn, as those of open streams do.
        room = 0 if tunnel.is_congested else CHUNK_BYTES
        first, rest = (body[:room], body[room:]) if self._passes_body else (b"", b"")
        self._uploaded = len(first)
        self._is_sent = fin and not rest
        self._stream = tunnel.open(
            self,
            head,
            first,
            # After a handshake frames follow, if the printer agrees.
            fin=(self._is_sent or not self._passes_body) and request.upgrade is None,
            upgrade=request.upgrade is not None,
            secure=secure,
        )
        self._admission.add_stream(self)
        if rest:
            self.on_body(rest, fin)
        return self

    # --- from the caller --------------------------------------------------------------------------

    def on_body(self, data: bytes, fin: bool) -> None:
        self._uploaded += len(data)
        if self._uploaded > self.grant.limits.upload_bytes:
            self._give_up(Reason.LIMIT, ErrorCode.UPLOAD_LIMIT)
            return
        self._is_sent = fin
        if self._passes_body and not self._stream.send(data, fin=fin):
            self._caller.pause()

    def on_raw(self, data: bytes) -> None:
        if not self._stream.send(data):
            self._caller.pause()

    def on_raw_end(self) -> None:
        self._stream.send(b"", fin=True)

    def on_caller_writable(self) -> None:
        if self._untaken:
            size, self._untaken = self._untaken, 0
            self._stream.taken(size)

    def on_caller_gone(self) -> None:
        if not self._is_over:
            self._close_stream(Reason.CANCELLED)

    # --- from the stream --------------------------------------------------------------------------

    def on_writable(self) -> None:
        self._caller.resume()

    def on_interim(self, head: bytes) -> None:
        try:
            answer = self._answers.read(head, self._cookie_port, self._defaults)
        except (RemoteProtocolError, BadAnswer):
            self._broken(N_("The printer's interim answer can't be read."))
            return
        self._interims += 1
        if self._interims > MAX_INTERIMS:
            self._broken(N_("The printer gives interim answers without end."))
        elif 100 <= answer.status < 200 and answer.status != 101:
            self._writer.interim(answer.status, answer.reason, answer.fields)

    def on_head(self, head: bytes, body: bytes, fin: bool) -> None:
        now = self._admission.now()
        self._admission.answer_times.observe(now - self._asked_at)
        try:
            answer = self._answers.read(head, self._cookie_port, self._defaults)
        except (RemoteProtocolError, BadAnswer):
            self._broken(N_("The printer's answer can't be read."))
            return
        status = answer.status
        if self._span is not None:
            self._span.answered(status)
        if self._is_verbose:
            self._log(f"answered {status} after {(now - self._asked_at) * 1000:.0f} ms")
        if status == 101 and self._request.upgrade is not None:
            self._begin_raw(answer.fields, body, fin)
            return
        if status < 200:
            self._broken(N_("The printer changed to another protocol unasked."))
            return
        if status in OWN_STATUSES:
            self._broken(
                in_english(
                    "The printer answered with %(status)s, which only the service does.",
                    status=status,
                )
            )
            return
        if answer.webcam_type:
            if not self._begin_webcam():
                return
            if status == 200 and answer.length is None and not fin:
                body = self._share(answer.webcam_type, body)
        elif self._is_too_large(status, answer.length, len(body)):
            self._give_up(Reason.LIMIT, ErrorCode.DOWNLOAD_LIMIT)
            return
        if not self._is_sent:
            self._writer.keep_alive = False  # an early answer: the rest of the body is drained
        self._downloaded = len(body)
        if fin:
            self._close_stream(Reason.CANCELLED)
        try:
            is_writable = self._writer.start(
                status, answer.reason, answer.fields, answer.length, body, fin=fin
            )
        except BrokenAnswer as fault:
            self._broken_off(fault)
        else:
            self._passed_on(len(body), is_writable)

    def on_data(self, data: bytes, fin: bool) -> None:
        if self._is_raw:
            self._raw_data(data, fin)
            return
        self._downloaded += len(data)
        if self._downloaded > self._download_limit:
            self._give_up(Reason.LIMIT, ErrorCode.DOWNLOAD_LIMIT)
            return
        if fin:
            self._close_stream(Reason.CANCELLED)
        try:
            is_writable = self._writer.body(data, fin=fin)
        except BrokenAnswer as fault:
            self._broken_off(fault)
        else:
            self._passed_on(len(data), is_writable)

    def on_shared(self, piece: Piece) -> bool:
        """Pass on a piece of a shared webcam; False if there is no room until Viewer.taken."""
        is_writable = self._writer.shared(piece)
        if not is_writable:
            self._untaken += len(piece.data)
        return is_writable

    def on_reset(self, reason: Reason, text: str) -> None:
        if self._is_over:
            return
        self._leave(reason.name.lower())
        failure = NOT_PERMITTED if reason is Reason.NOT_ALLOWED else None
        detail = None if reason in _OF_THE_TUNNEL else text or None
        self._end_with(_CODES.get(reason, ErrorCode.AGENT_ERROR), detail, failure)

    # --- from admission ---------------------------------------------------------------------------

    def end(self, refused: Refused) -> None:
        if not self._is_over:
            self._close_stream(Reason.CANCELLED)
            self._end_with(refused.code, refused.sentence, failure_of(refused))

    # --- helpers ----------------------------------------------------------------------------------

    def _passed_on(self, size: int, is_writable: bool) -> None:
        if is_writable:
            self._stream.taken(size)
        else:
            self._untaken += size

    def _is_too_large(self, status: int, length: int | None, size: int) -> bool:
        """Check a body's length, or the size that came; a 304 or HEAD only announces a length."""
        if length is None or status == 304 or self._request.method == b"HEAD":
            return size > self._download_limit
        return length > self._download_limit

    def _begin_raw(self, fields: bytes, first: bytes, fin: bool) -> None:
        self._is_raw = True
        self._passed_on(len(first), self._writer.upgrade(fields, first))
        self._caller.upgraded()
        if fin:
            self._end_raw()

    def _raw_data(self, data: bytes, fin: bool) -> None:
        self._passed_on(len(data), self._caller.write(data))
        if fin:
            self._end_raw()

    def _end_raw(self) -> None:
        self._close_stream(Reason.CANCELLED)
        self._caller.close_raw()

    def _begin_webcam(self) -> bool:
        if not self._admission.begin_webcam(self.grant.unique_id, self.grant.limits.webcam_viewers):
            self._give_up(Reason.LIMIT, ErrorCode.WEBCAM_LIMIT)
            return False
        loop = asyncio.get_running_loop()
        self._webcam_timer = loop.call_later(self.grant.limits.webcam_stream_s, self._end_webcam)
        self._download_limit = 1 << 62  # a webcam's stream is limited by time
        return True

    def _share(self, webcam_type: bytes, body: bytes) -> bytes:
        """Join the feed of viewers of the same webcam, if there is one; what to show at first."""
        request, boundary = self._request, boundary_of(webcam_type)
        is_plain = request.method == b"GET" and request.framing is Framing.NONE
        if not is_plain or boundary is None:
            return body
        assert isinstance(self._stream, Stream)  # a viewer gets no second head
        key = FeedKey(*self._upstream, webcam_type)
        self._stream, body = self._feeds.join(key, boundary, self._stream, self, body)
        return body

    def _end_webcam(self) -> None:
        """End a stream that has lasted as long as it may, as a camera that is switched off does."""
        self._close_stream(Reason.LIMIT)
        try:
            self._writer.body(b"", fin=True)
        except BrokenAnswer:
            self._caller.abort()

    def _broken_off(self, fault: BrokenAnswer) -> None:
        self._broken(in_english("The printer's answer broke off: %(why)s.", why=str(fault)))

    def _broken(self, sentence: str) -> None:
        self._give_up(Reason.CANCELLED, ErrorCode.AGENT_ERROR, sentence)

    def _give_up(self, reason: Reason, code: ErrorCode, sentence: str | None = None) -> None:
        self._close_stream(reason)
        self._end_with(code, sentence)

    def _end_with(
        self, code: ErrorCode, sentence: str | None, failure: Failure | None = None
    ) -> None:
        """Answer with the failure; break off an answer that has begun, so that it isn't whole."""
        if self._writer.is_started:
            self._caller.abort()
        else:
            self._refuse(code, sentence, failure)

    def _refuse(
        self, code: ErrorCode, sentence: str | None = None, failure: Failure | None = None
    ) -> None:
        if not self._is_sent:
            self._writer.keep_alive = False
        self._log(f"gave no answer: {int(code)}")
        reader = self._hosts.reader(self.grant, self._caller.tunnel_port)
        refuse(self._writer, code, reader, sentence, failure)

    def _log(self, outcome: str) -> None:
        """Without the target: it may name files, and hold credentials."""
        method, request_id = self._request.method.decode("ascii"), self._request.request_id
        words = "printer %s, %s: %s"
        log.debug(words, self.grant.printer_id, method, outcome, extra=about(request_id))

    def _close_stream(self, reason: Reason) -> None:
        """Leave the stream, and cancel it if it is still open."""
        if not self._is_over:
            self._leave()
            if self._stream.is_open:
                self._stream.reset(reason)

    def _leave(self, fault: str = "") -> None:
        self._is_over = True
        if self._span is not None:
            self._span.end(fault)
        self._admission.remove_stream(self)
        if self._webcam_timer is not None:
            self._webcam_timer.cancel()
            self._webcam_timer = None
            self._admission.end_webcam(self.grant.unique_id)
