"""One request of the client, and its answer."""

import asyncio
import logging
from typing import Final, Protocol

from printreach.languages import N_

from .chunked import LAST_CHUNK, encode_chunk
from .client_connection import ClientConnection, ExchangeFailure
from .heads import BadMessage, Response

log = logging.getLogger(__name__)

MAX_INTERIMS: Final = 100
"""Enough for a server that sends `102 Processing` every few seconds for ten minutes."""

_CUT_SHORT: Final = N_("the connection was closed in the middle of the answer")
_OUR_FAULT: Final = "forwarding an answer failed unexpectedly"
_NO_ANSWER: Final = N_("the connection was closed before an answer came")


class AnswerHandler(Protocol):
    """Callbacks of an exchange."""

    def on_interim(self, response: Response) -> None: ...
    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        """The head, and the part of the body that came with it. After a 101 the body is raw."""

    def on_body(self, data: bytes, fin: bool) -> None: ...
    def on_writable(self) -> None: ...
    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        """The exchange ended without a complete answer. Nothing follows."""


class ExchangeClient(Protocol):
    """The interface of the client to its exchanges. first_byte_s: time-out of an answer."""

    first_byte_s: float

    def start_connecting(self, exchange: "ClientExchange") -> asyncio.Task[None]: ...
    def now(self) -> float: ...
    def await_answer(self, exchange: "ClientExchange") -> None:
        """Call its give_up_if_late in good time."""

    def answered(self, exchange: "ClientExchange") -> None:
        """The answer has come, or is no longer awaited."""


class ClientExchange:
    """One request and its answer. Calls after its end have no effect."""

    def __init__(
        self,
        client: ExchangeClient,
        answer: AnswerHandler,
        method: bytes,
        head: bytes,
        *,
        repeatable: bool,
        chunked: bool,
    ) -> None:
        self.method = method
        self.is_sent = False
        self._client = client
        self._answer: AnswerHandler | None = answer
        self._connecting: asyncio.Task[None] | None = None
        self._connection: ClientConnection | None = None  # while it carries this exchange
        self._unsent = [head]  # until there is a connection
        self._head = head
        self._repeatable = repeatable
        self._chunked = chunked
        self._is_reused = False
        self._heard = False
        self._interims_left = MAX_INTERIMS
        self._reading = True
        self._moved_at = 0.0

    @property
    def is_over(self) -> bool:
        return self._answer is None

    # --- what the owner calls -------------------------------------------------------------------

    def send(self, data: bytes, *, fin: bool) -> bool:
        """Send body bytes. Returns False if the caller should wait for on_writable."""
        if self.is_over or self.is_sent:
            return True
        if self._chunked:
            data = encode_chunk(data) + (LAST_CHUNK if fin else b"")
        self.is_sent = fin
        if self._connection is None:
            self._unsent.append(data)
            return False
        self._moved_at = self._client.now()
        return self._connection.write(data)

    def send_raw(self, data: bytes) -> bool:
        """Send bytes after a 101."""
        return self._connection is None or self._connection.write(data)

    def end_raw(self) -> None:
        """End our direction after a 101."""
        if self._connection is not None:
            self._connection.write_eof()

    def pause(self) -> None:
        self._reading = False
        if self._connection is not None:
            self._connection.pause_reading()

    def resume(self) -> None:
        self._reading = True
        if self._connection is not None:
            self._connection.resume_reading()

    def cancel(self) -> None:
        """Give up the answer: the connection is closed at once."""
        connection, connecting = self._connection, self._connecting
        self._over()
        if connection is not None:
            connection.abort()
        if connecting is not None:
            connecting.cancel()

    # --- what the client and its connection call ------------------------------------------------

    def connect(self) -> None:
        self._connecting = self._client.start_connecting(self)

    def begin(self, connection: ClientConnection) -> None:
        """Send the bytes that have gathered, over a connection that is new or kept."""
        self._is_reused = connection.is_used
        self._connection = connection
        connection.carry(self)
        if not self._reading:
            connection.pause_reading()
        self._moved_at = self._client.now()
        self._client.await_answer(self)
        unsent, self._unsent = self._unsent, []
        if connection.write(b"".join(unsent)) and len(unsent) > 1:
            self.writable()

    def interim(self, response: Response) -> None:
        """Pass on an interim response. Raises BadMessage if there are too many."""
        self._heard = True
        self._moved_at = self._client.now()
        self._interims_left -= 1
        if self._interims_left < 0:
            raise BadMessage(502, "There are too many interim answers.")
        answer = self._answer
        if answer is not None:
            try:
                answer.on_interim(response)
            except Exception:
                log.exception(_OUR_FAULT)
                self._fail(answer)

    def response(self, response: Response, body: bytes, fin: bool) -> None:
        self._heard = True
        self._client.answered(self)
        answer = self._answer
        if fin:
            self._over()
        if answer is not None:
            try:
                answer.on_response(response, body, fin)
            except Exception:
                log.exception(_OUR_FAULT)
                self._fail(answer)

    def body(self, data: bytes, fin: bool) -> None:
        answer = self._answer
        if fin:
            self._over()
        if answer is not None:
            try:
                answer.on_body(data, fin)
            except Exception:
                log.exception(_OUR_FAULT)
                self._fail(answer)

    def writable(self) -> None:
        self._moved_at = self._client.now()
        answer = self._answer
        if answer is not None:
            try:
                answer.on_writable()
            except Exception:
                log.exception(_OUR_FAULT)
                self._fail(answer)

    def lost(self) -> None:
        """Repeat the request or fail, because the connection ended under the exchange."""
        if self.is_over:
            return
        self._connection = None
        if self._is_reused and self._repeatable and not self._heard:
            self._unsent = [self._head]
            self.connect()
        else:
            self.failed(ExchangeFailure.BROKEN, _CUT_SHORT if self._heard else _NO_ANSWER)

    def failed(self, failure: ExchangeFailure, text: str) -> None:
        answer = self._answer
        self._over()
        if answer is not None:
            _say_failed(answer, failure, text)

    def give_up_if_late(self) -> float:
        """Return the seconds that the server has left to answer; fail if there are none.

        No answer is due while the body is being sent, unless the server reads nothing of it.
        """
        connection = self._connection
        if not self.is_sent and connection is not None and not connection.is_congested:
            self._moved_at = self._client.now()
        left_s = self._moved_at + self._client.first_byte_s - self._client.now()
        if left_s <= 0:
            self.failed(ExchangeFailure.TIMED_OUT, N_("no answer in time"))
            if connection is not None:
                connection.abort()
        return left_s

    def _fail(self, answer: AnswerHandler) -> None:
        """Call on_failed of a handler that has raised, so that it can clean up."""
        self.cancel()
        _say_failed(answer, ExchangeFailure.BROKEN, "a fault at this end")

    def _over(self) -> None:
        """Let go of the connection, which may carry another exchange now."""
        self._answer = None
        self._connection = None
        self._connecting = None
        self._unsent = []
        self._client.answered(self)


def _say_failed(answer: AnswerHandler, failure: ExchangeFailure, text: str) -> None:
    """Call on_failed. A handler that raises gets no further callbacks."""
    try:
        answer.on_failed(failure, text)
    except Exception:
        log.exception("reporting a failure to a caller failed unexpectedly")
