"""Writes answers: the envelope, raw bodies, and failures of both."""

import logging
from collections.abc import AsyncIterator

from printreach.contract.codec import encode
from printreach.contract.commands import CommandStatus
from printreach.languages import N_
from printreach.printers.port import PrinterRefused
from printreach.tunnel.served import ServedStream
from printreach.wire.heads import Headers, encode_response

log = logging.getLogger(__name__)

_NO_STORE = (b"Cache-Control", b"no-store")
_JSON = (b"Content-Type", b"application/json")

RAW_STATUS = {
    CommandStatus.BAD_ARGUMENTS: 400,
    CommandStatus.NOT_FOUND: 404,
    CommandStatus.NOT_SUPPORTED: 501,
    CommandStatus.NOT_CONNECTED: 502,
    CommandStatus.TOO_MANY_CLIENTS: 502,
    CommandStatus.NOT_AUTHORIZED: 502,
    CommandStatus.TIMED_OUT: 504,
}
RAW_STATUS_OF_OTHERS = 500


def success(result: object) -> bytes:
    """Return the envelope around a result, which is an object; None: an empty one.

    Raises PrinterRefused (753).

    A platform's own details pass through as they came, and may hold what JSON can't: a lone half
    of a surrogate pair, for one.
    """
    try:
        return encode({"Status": int(CommandStatus.OK), "Result": {} if result is None else result})
    except (TypeError, ValueError, OverflowError, RecursionError) as exc:
        log.warning("an answer can't be written as JSON: %s", exc)
        sentence = N_("The command was carried out, but its answer can't be written as JSON.")
        raise PrinterRefused(CommandStatus.NOT_SERIALIZED, sentence) from exc


def failure(refused: PrinterRefused) -> bytes:
    body: dict[str, object] = {"Status": refused.status, "Error": refused.sentence}
    if refused.features:
        body["Features"] = int(refused.features)
    return encode(body)


async def answer_envelope(stream: ServedStream, body: bytes, *, http_status: int = 200) -> None:
    headers = [_JSON, (b"Content-Length", b"%d" % len(body)), _NO_STORE]
    reason = b"OK" if http_status == 200 else b"Refused"
    await stream.respond(encode_response(http_status, reason, headers), body, fin=True)


async def answer_raw_failure(stream: ServedStream, refused: PrinterRefused) -> None:
    """Answer a raw command that failed: a real HTTP status, the envelope as body."""
    known = (http for status, http in RAW_STATUS.items() if status == refused.status)
    http_status = next(known, RAW_STATUS_OF_OTHERS)
    await answer_envelope(stream, failure(refused), http_status=http_status)


async def answer_raw(
    stream: ServedStream, headers: Headers, size: int | None, chunks: AsyncIterator[bytes]
) -> None:
    """Send a body in pieces.

    An exception before its end is visible to the caller as a broken body.
    """
    if size is not None:
        headers = [*headers, (b"Content-Length", b"%d" % size)]
    await stream.respond(encode_response(200, b"OK", [*headers, _NO_STORE]), fin=False)
    if stream.is_head:
        return  # an endless stream would keep us
    async for chunk in chunks:
        await stream.send(chunk)
    await stream.send(b"", fin=True)
