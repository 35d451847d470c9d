"""Requests to printers over HTTP to a relay, in this process or another."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.commands import COMMAND_PREFIX, ERROR_FIELD, CommandStatus
from printreach.contract.errors import FAILURES, REMOTE_LOCKED, ErrorCode
from printreach.contract.events import MAX_TEXT
from printreach.contract.sizes import MAX_STATUS_BYTES
from printreach.http1.client import Client, Connect, ExchangeFailure
from printreach.http1.fetch import AnswerTooLarge, Fetcher, FetchFailed, OpenAnswer
from printreach.http1.request_ids import REQUEST_ID, SPAN
from printreach.languages import N_, in_english
from printreach.ports import Clock
from printreach.ports.printer_http import (
    NO_QUERY,
    PrinterAnswer,
    PrinterAnswerBroken,
    PrinterRefusal,
)
from printreach.rules.connections import ConnectionKind
from printreach.rules.connections.internal_grants import InternalKey, internal_name, internal_token
from printreach.rules.printers import OwnedPrinter
from printreach.rules.safe_text import readable
from printreach.wire.heads import REQUEST_ID_FIELD, TRACE_PARENT_FIELD, Headers, get

ASK_TIMEOUT_S: Final = 12.0
"""A status is asked for again soon, so an answer older than this is of no use."""
ORDER_TIMEOUT_S: Final = 35.0
"""The agent gives a printer 25 s, and a command is valid for 30."""
FIRST_BYTE_TIMEOUT_S: Final = 60.0
"""Of a raw answer, or after the last byte of an upload: some printers unpack it first."""
MAX_LIST_BYTES: Final = 8 * 1024 * 1024
"""Of `/files/list`: some 15,000 files with the metadata of their slicers."""
MAX_ENVELOPE_BYTES: Final = MAX_STATUS_BYTES
"""Of every other answer: a status, or the outcome of an order."""

_LATE: Final = PrinterRefusal(
    int(ErrorCode.PRINTER_TIMED_OUT), FAILURES[ErrorCode.PRINTER_TIMED_OUT].meaning
)
_NOT_OWNED: Final = PrinterRefusal(
    int(ErrorCode.CONNECTION_ENDED), N_("The printer doesn't belong to this account any more.")
)
"""A token of ours is refused only if it was made for another owner, or by a lock."""
_OLD_AGENT: Final = PrinterRefusal(
    int(ErrorCode.AGENT_UPDATE_REQUIRED), FAILURES[ErrorCode.AGENT_UPDATE_REQUIRED].meaning
)
"""The service asks by commands that it knows: an agent that doesn't know one is too old."""
_LOCKED: Final = PrinterRefusal(int(ErrorCode.BAD_CREDENTIALS), REMOTE_LOCKED.meaning)


class _Envelope(msgspec.Struct, rename="pascal"):
    """The common part of all failures, of the relay and of the agent."""

    status: int = CommandStatus.UNKNOWN_FAILURE
    error: str = ""
    features: int = 0


class RelayPrinterHttp:
    """ports.PrinterHttp. connect: to a relay that admits the service's own roles."""

    def __init__(
        self, connect: Connect, tunnel_domain: str, key: InternalKey, clock: Clock
    ) -> None:
        self._client = Client(connect, first_byte_s=FIRST_BYTE_TIMEOUT_S)
        self._domain = tunnel_domain
        self._key = key
        self._clock = clock

    async def close(self) -> None:
        await self._client.close()

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        fetcher = self._fetcher(printer, _kind(despite_lock))
        return await self._whole(fetcher, printer, b"GET", _target(command, query))

    async def order(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        arguments: bytes = b"",
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        fetcher = self._fetcher(printer, _kind(despite_lock))
        return await self._whole(fetcher, printer, b"POST", _target(command, query), arguments)

    @asynccontextmanager
    async def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AsyncIterator[PrinterAnswer | PrinterRefusal]:
        headers = self._headers(printer)
        opening = self._fetcher(printer).open(b"GET", _target(command, query), headers)
        try:
            answer = await opening.__aenter__()
        except FetchFailed as failed:
            yield _refusal_of(failed)
            return
        try:
            refusal = await _refusal_in(answer)
            yield refusal if refusal is not None else _raw(answer)
        finally:
            await opening.__aexit__(None, None, None)

    async def send(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str],
        chunks: AsyncIterable[bytes],
        length: int | None,
    ) -> bytes | PrinterRefusal:
        fetcher = self._fetcher(printer)
        target = _target(command, query)
        headers = [*self._headers(printer), (b"Content-Type", b"application/octet-stream")]
        try:
            async with fetcher.send(b"PUT", target, headers, chunks, length=length) as answer:
                body = await answer.whole(MAX_ENVELOPE_BYTES)
                return _success(answer.status, answer.headers, body)
        except FetchFailed as failed:
            return _refusal_of(failed)

    # --- helpers ----------------------------------------------------------------------------------

    async def _whole(
        self,
        fetcher: Fetcher,
        printer: OwnedPrinter,
        method: bytes,
        target: bytes,
        arguments: bytes = b"",
    ) -> bytes | PrinterRefusal:
        timeout_s = ASK_TIMEOUT_S if method == b"GET" else ORDER_TIMEOUT_S
        json: Headers = [(b"Content-Type", b"application/json")] if method == b"POST" else []
        try:
            async with asyncio.timeout(timeout_s):
                fetched = await fetcher.fetch(
                    method,
                    target,
                    [*self._headers(printer), *json],
                    arguments,
                    at_most=_at_most(target),
                )
        except TimeoutError:
            return _LATE
        except FetchFailed as failed:
            return _refusal_of(failed)
        return _success(fetched.status, fetched.headers, fetched.body)

    def _fetcher(
        self, printer: OwnedPrinter, kind: ConnectionKind = ConnectionKind.INTERNAL
    ) -> Fetcher:
        name = internal_name(self._key, printer.printer_id, kind)
        return Fetcher(self._client, f"{name}.{self._domain}".encode())

    def _headers(self, printer: OwnedPrinter) -> Headers:
        """Return what proves that it is us, and the request for which we ask: its id and span."""
        token = internal_token(self._key, printer, self._clock.now())
        headers = [(b"Authorization", b"Bearer " + token.encode())]
        if request_id := REQUEST_ID.get():
            headers.append((REQUEST_ID_FIELD, request_id.encode()))
        if (span := SPAN.get()) is not None:
            headers.append((TRACE_PARENT_FIELD, span.trace_parent))
        return headers


def _kind(despite_lock: bool) -> ConnectionKind:
    return ConnectionKind.STOPPING if despite_lock else ConnectionKind.INTERNAL


def _target(command: str, query: Mapping[str, str]) -> bytes:
    # Percent-encoded as a path segment: agents read a plus sign literally.
    pairs = urlencode(query, quote_via=quote)
    return f"{COMMAND_PREFIX.decode()}{command}{'?' if pairs else ''}{pairs}".encode("ascii")


def _at_most(target: bytes) -> int:
    """Return the maximum size of a command's answer, in bytes."""
    is_list = target.partition(b"?")[0].endswith(b"/files/list")
    return MAX_LIST_BYTES if is_list else MAX_ENVELOPE_BYTES


def _success(status: int, headers: Headers, body: bytes) -> bytes | PrinterRefusal:
    """Return the body if it is the envelope of a success."""
    envelope = _envelope(body)
    if status == 200 and envelope.status == 200:
        return body
    return _refusal(status, headers, envelope)


async def _refusal_in(answer: OpenAnswer) -> PrinterRefusal | None:
    if answer.status == 200:
        return None
    try:
        body = await answer.whole(MAX_ENVELOPE_BYTES)
    except FetchFailed as failed:
        return _refusal_of(failed)
    return _refusal(answer.status, answer.headers, _envelope(body))


def _refusal(status: int, headers: Headers, envelope: _Envelope) -> PrinterRefusal:
    code = envelope.status
    if get(headers, ERROR_FIELD.lower()) is not None:
        if status == ErrorCode.BAD_CREDENTIALS:
            return _LOCKED if envelope.error == REMOTE_LOCKED.meaning else _NOT_OWNED
        code = status
    elif code == 200:
        code = CommandStatus.UNKNOWN_FAILURE
    elif code == CommandStatus.UNKNOWN_COMMAND:
        return _OLD_AGENT
    sentence = readable(envelope.error, MAX_TEXT)
    return PrinterRefusal(
        int(code),
        sentence or N_("The printer gave an answer that can't be read."),
        features=envelope.features,
    )


def _envelope(body: bytes) -> _Envelope:
    try:
        return msgspec.json.decode(body, type=_Envelope)
    except BAD_JSON:
        return _Envelope()


def _raw(answer: OpenAnswer) -> PrinterAnswer:
    length = get(answer.headers, b"content-length")
    content_type = get(answer.headers, b"content-type") or b"application/octet-stream"
    return PrinterAnswer(
        content_type=content_type.decode("latin-1"),
        length=int(length) if length is not None else None,
        chunks=_chunks(answer),
    )


async def _chunks(answer: OpenAnswer) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.chunks():
            yield chunk
    except FetchFailed as failed:
        raise PrinterAnswerBroken(failed.text) from failed


def _refusal_of(failed: FetchFailed) -> PrinterRefusal:
    """Return the refusal for a relay that was not reached, broke off, or took too long."""
    if failed.failure is ExchangeFailure.TIMED_OUT:
        return _LATE
    if isinstance(failed, AnswerTooLarge):
        text = in_english(
            "The agent's answer is larger than %(most)s KiB.", most=failed.at_most // 1024
        )
        return PrinterRefusal(CommandStatus.UNKNOWN_FAILURE, text)
    return PrinterRefusal(int(ErrorCode.UNKNOWN), FAILURES[ErrorCode.UNKNOWN].meaning)
