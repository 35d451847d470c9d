"""One request of the client and its answer."""

import asyncio
import logging
from collections.abc import Callable
from typing import ParamSpec, Protocol

from .chunked import LAST_CHUNK, encode_chunk
from .client_connection import ClientConnection, ExchangeFailure
from .heads import BadMessage, Response

log = logging.getLogger(__name__)
P = ParamSpec("P")

MAX_INTERIMS = 100
"""A server that says `102 Processing` each few seconds for ten minutes is still heard."""

_CUT_SHORT = "the connection was closed in the middle of the answer"
_NO_ANSWER = "the connection was closed before an answer came"


class AnswerHandler(Protocol):
    """Who hears of an exchange."""

    def on_interim(self, response: Response) -> None: ...
    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        """The head, with what came of the body at the same time. After a 101 the body is raw."""

    def on_body(self, data: bytes, fin: bool) -> None: ...
    def on_writable(self) -> None: ...
    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        """The exchange ended without a complete answer. Nothing follows."""


class ExchangeClient(Protocol):
    """What an exchange asks of its client. first_byte_s: its patience with the server."""

    first_byte_s: float

    def start_connecting(self, exchange: "ClientExchange") -> asyncio.Task[None]: ...
    def now(self) -> float: ...
    def await_answer(self, exchange: "ClientExchange") -> None:
        """Call its give_up_if_late in good time."""

    def answered(self, exchange: "ClientExchange") -> None:
        """It has come, or nobody waits any more."""


class ClientExchange:
    """One request and its answer. What is done to it once it is over goes nowhere."""

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
        """Send body bytes. False: wait for on_writable before sending more."""
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
        """Send bytes behind a 101."""
        return self._connection is None or self._connection.write(data)

    def end_raw(self) -> None:
        """Nothing more will be sent behind a 101."""
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
        """Nobody wants the answer: the connection is closed at once."""
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
        """Send what has gathered over a connection, new or kept."""
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
        """Raises BadMessage where there are too many."""
        self._heard = True
        self._moved_at = self._client.now()
        self._interims_left -= 1
        if self._interims_left < 0:
            raise BadMessage(502, "There are too many interim answers.")
        answer = self._answer
        if answer is not None:
            self._tell(answer, answer.on_interim, response)

    def response(self, response: Response, body: bytes, fin: bool) -> None:
        self._heard = True
        self._client.answered(self)
        answer = self._answer
        if fin:
            self._over()
        if answer is not None:
            self._tell(answer, answer.on_response, response, body, fin)

    def body(self, data: bytes, fin: bool) -> None:
        answer = self._answer
        if fin:
            self._over()
        if answer is not None:
            self._tell(answer, answer.on_body, data, fin)

    def writable(self) -> None:
        self._moved_at = self._client.now()
        answer = self._answer
        if answer is not None:
            self._tell(answer, answer.on_writable)

    def lost(self) -> None:
        """The connection ended beneath the exchange."""
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
        """Fail where the server has had its time; the seconds it has left.

        No answer is due while the body is on its way, unless the server takes nothing of it.
        """
        connection = self._connection
        if not self.is_sent and connection is not None and not connection.is_congested:
            self._moved_at = self._client.now()
        left_s = self._moved_at + self._client.first_byte_s - self._client.now()
        if left_s <= 0:
            self.failed(ExchangeFailure.TIMED_OUT, "no answer in time")
            if connection is not None:
                connection.abort()
        return left_s

    def _tell(
        self, answer: AnswerHandler, hear: Callable[P, None], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Who raises is told that nothing follows, so that it can end what it has begun."""
        try:
            hear(*args, **kwargs)
        except Exception:
            log.exception("a fault of ours while an answer was passed on")
            self.cancel()
            _say_failed(answer, ExchangeFailure.BROKEN, "a fault at this end")

    def _over(self) -> None:
        """From now on the connection is no business of this exchange: it may carry another."""
        self._answer = None
        self._connection = None
        self._connecting = None
        self._unsent = []
        self._client.answered(self)


def _say_failed(answer: AnswerHandler, failure: ExchangeFailure, text: str) -> None:
    """Who raises here has heard the last there is; others still have something to hear."""
    try:
        answer.on_failed(failure, text)
    except Exception:
        log.exception("a fault of ours while a failure was told")
