"""Connecting to a printer on the local network; failures become PrinterRefused.

where: the printer's name in sentences, such as "The Duet at 192.168.1.5".
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.http1.client import Connect, ExchangeFailure
from printreach.http1.fetch import FetchedAnswer, FetchFailed, OpenAnswer
from printreach.languages import N_, in_english
from printreach.rules.backoff import Backoff
from printreach.wire.heads import Headers, get

from .port import Download, PrinterRefused

RETRY: Final = Backoff.doubling(1.0, 15.0)
"""A printer that is switched on is found within 15 s."""
MAX_MQTT_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""A hundred times the longest report of a printer."""

_REASONS: Final = (
    N_("Connection refused"),
    N_("Connection reset by peer"),
    N_("Connection timed out"),
    N_("Host is down"),
    N_("Name or service not known"),
    N_("Network is unreachable"),
    N_("No route to host"),
    N_("Temporary failure in name resolution"),
)
"""The usual words of Linux about a printer that can't be reached: marked here, and used nowhere."""


def unverified_tls() -> ssl.SSLContext:
    """TLS for printers: their certificates are self-signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not the default: it loads authorities
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def connect_to(host: str, port: int, *, tls: bool, server_name: str | None = None) -> Connect:
    """Return a function that connects.

    The certificate is not checked: a printer's is self-signed and proves nothing. server_name: the
    TLS name, where host is an address that was looked up.
    """
    loop = asyncio.get_running_loop()
    context = unverified_tls() if tls else None
    name = server_name if tls else None
    return lambda protocol: loop.create_connection(
        protocol, host, port, ssl=context, server_hostname=name
    )


def unreachable(where: str, why: str) -> PrinterRefused:
    """Return a refusal with 785. why: a sentence without its capital and its stop."""
    return PrinterRefused(
        CommandStatus.NOT_CONNECTED,
        in_english("%(where)s can't be reached: %(why)s.", where=where, why=why),
    )


def too_many_clients(where: str) -> PrinterRefused:
    """Return a refusal with 787."""
    sentence = in_english("%(where)s serves too many clients; close one of them.", where=where)
    return PrinterRefused(CommandStatus.TOO_MANY_CLIENTS, sentence)


def not_authorized(sentence: str) -> PrinterRefused:
    """Return a refusal with 789, which says what the printer does about it."""
    return PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence)


def timed_out(where: str) -> PrinterRefused:
    return PrinterRefused(
        CommandStatus.TIMED_OUT, in_english("%(where)s gave no answer in time.", where=where)
    )


@contextmanager
def as_refusals(where: str) -> Iterator[None]:
    """Turn a failure of an HTTP request into PrinterRefused."""
    try:
        yield
    except FetchFailed as exc:
        if exc.failure is ExchangeFailure.TIMED_OUT:
            raise timed_out(where) from exc
        raise unreachable(where, exc.text) from exc


def size_of(headers: Headers) -> int | None:
    """Return the announced length of the body, in bytes; None if there is none."""
    length = get(headers, b"content-length") or b""
    return int(length) if length.isdigit() else None


def download_of(answer: OpenAnswer, where: str) -> Download:
    """Return a download of the answer's body."""
    return Download(size=size_of(answer.headers), chunks=chunks_of(answer, where))


async def chunks_of(answer: OpenAnswer, where: str) -> AsyncIterator[bytes]:
    """Yield the body as it comes. Raises PrinterRefused when it breaks off."""
    with as_refusals(where):
        async for chunk in answer.chunks():
            yield chunk


async def read_answer(answer: OpenAnswer, at_most: int) -> FetchedAnswer:
    """Read the whole answer; its body is cut after at_most bytes. Raises FetchFailed."""
    body = bytearray()
    async for chunk in answer.chunks():
        body += chunk[: at_most - len(body)]
    return FetchedAnswer(answer.status, answer.headers, bytes(body))


# aiomqtt waits by asyncio.wait_for, which before Python 3.12 loses a cancellation that arrives
# together with the awaited result: the task that follows a printer would run for ever, and a caller
# that stops it would wait for its end.


def cancellations() -> int:
    """Return how many cancellations of the current task are under way."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def end_where_cancelled(*, since: int) -> None:
    """Raise CancelledError if there are more cancellations than before."""
    if cancellations() > since:
        raise asyncio.CancelledError
