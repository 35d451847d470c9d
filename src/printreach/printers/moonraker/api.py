"""Moonraker's APIs: files and queries over HTTP, everything else over its WebSocket.

Every failure is a PrinterRefused.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode

from printreach.contract.commands import CommandStatus
from printreach.http1.fetch import FetchedAnswer, Fetcher, OpenAnswer
from printreach.printers import loose
from printreach.printers.connecting import (
    as_refusals,
    connect_to,
    read_answer,
    timed_out,
    unreachable,
)
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup
from printreach.printers.websocket import WebSocketFailed
from printreach.wire.heads import Headers

from .messages import shortened
from .rpc import ANSWER_S, Rpc, RpcRefused, RpcTimedOut, parsed

log = logging.getLogger(__name__)

MAX_LIST_BYTES = 64 * 1024 * 1024
"""A folder of ten thousand files with what is known of them takes about 20 MB."""
ACCEPTED_AFTER_S = 8.0
"""Moonraker answers when the G-code was executed. Until then, no refusal means under way."""
CARRIED_OUT_S = 24 * 3600.0
"""A heater that is waited for, or a move after a long one, may take its time."""
UPLOADED_S = 300.0
"""Moonraker reads through a file before it answers, and lets others process it first."""

_DENIED_WORDS = frozenset({"Unauthorized", "Invalid API Key"})
_GONE_WORDS = ("Klippy", "Method not found")


class NotFound(PrinterRefused):
    """404: what it means, the caller knows."""


class Forbidden(PrinterRefused):
    """403: the file or folder is protected, whatever the key."""


class MoonrakerApi:
    """Moonraker's APIs. where: its name in sentences. rpc: None while there is no connection."""

    def __init__(self, setup: PrinterSetup) -> None:
        self.where = f"Moonraker at {setup.authority}"
        self.address = setup.authority
        self.connect = connect_to(setup.host, setup.port, tls=setup.tls)
        self.push_url = f"ws://{setup.authority}/websocket"
        self.headers: Headers = []
        if setup.api_key:
            self.headers.append((b"X-Api-Key", setup.api_key.encode()))
        self.rpc: Rpc | None = None
        host = setup.authority.encode("idna")
        self._fetcher = Fetcher(self.connect, host)
        self._uploader = Fetcher(self.connect, host, first_byte_s=UPLOADED_S)
        self._unanswered: set[asyncio.Task[object]] = set()

    async def close(self) -> None:
        for task in list(self._unanswered):
            task.cancel()
        await asyncio.gather(*self._unanswered, return_exceptions=True)
        await self._fetcher.close()
        await self._uploader.close()

    # --- over the WebSocket -------------------------------------------------------------------

    async def call(
        self, method: str, params: loose.Json = loose.EMPTY, *, timeout_s: float = ANSWER_S
    ) -> object:
        """Return the result of a call."""
        if self.rpc is None:
            raise unreachable(self.where, "there is no connection")
        try:
            return await self.rpc.call(method, params, timeout_s=timeout_s)
        except RpcRefused as refused:
            raise self._refusal_for(refused) from refused
        except RpcTimedOut:
            raise timed_out(self.where) from None
        except WebSocketFailed as ended:
            raise unreachable(self.where, ended.text) from ended

    async def order(
        self, method: str, params: loose.Json = loose.EMPTY, timeout_s: float | None = None
    ) -> bool:
        """Have it done. False: nothing was refused so far, but it takes its time."""
        call = asyncio.create_task(self.call(method, params, timeout_s=CARRIED_OUT_S))
        self._unanswered.add(call)
        call.add_done_callback(self._answered)
        await asyncio.wait({call}, timeout=timeout_s or ACCEPTED_AFTER_S)
        if not call.done():
            return False
        call.result()
        return True

    async def run(self, script: str) -> None:
        """G-code; accepted, if not yet carried out."""
        await self.order("printer.gcode.script", {"script": script})

    def _answered(self, call: "asyncio.Task[object]") -> None:
        self._unanswered.discard(call)
        if not call.cancelled() and call.exception() is not None:
            log.info("an order was refused: %s", call.exception())

    def _refusal_for(self, refused: RpcRefused) -> PrinterRefused:
        """Translate an error. Source: answers of 0.11.0, which has -32602 for 401."""
        words = shortened(refused.message)
        if refused.code == 401 or refused.message in _DENIED_WORDS:
            return PrinterRefused(CommandStatus.NOT_AUTHORIZED, self.denied)
        if refused.code == 503 or refused.message.startswith(_GONE_WORDS):
            return PrinterRefused(
                CommandStatus.NOT_CONNECTED, f"{self.where} has no connection to Klipper."
            )
        return failed(f"{words}." if words else f"{self.where} refused it.")

    # --- over HTTP ----------------------------------------------------------------------------

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """Return the result of a question. Raises NotFound."""
        return await self._ask(b"GET", path, query)

    async def delete(self, path: str, query: Mapping[str, str] | None = None) -> object:
        return await self._ask(b"DELETE", path, query)

    async def head(self, path: str) -> FetchedAnswer:
        """Ask for a file's headers. Raises NotFound, for a folder too."""
        with as_refusals(self.where):
            answer = await self._fetcher.fetch(b"HEAD", path.encode("ascii"), self.headers)
        if answer.status == 403:  # "… is not a file"
            raise NotFound(CommandStatus.NOT_FOUND, f"{self.where} has no such file.")
        return self._accept(answer)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[OpenAnswer]:
        """Open a download. Raises NotFound."""
        with as_refusals(self.where):
            async with self._fetcher.open(b"GET", path.encode("ascii"), self.headers) as answer:
                self._accept(FetchedAnswer(answer.status, answer.headers, b""))
                yield answer

    async def upload(self, path: str, kind: bytes, chunks: AsyncIterator[bytes]) -> object:
        """Send a body as it comes; its length need not be known."""
        headers = [*self.headers, (b"Content-Type", kind)]
        with as_refusals(self.where):
            send = self._uploader.send(b"POST", path.encode("ascii"), headers, chunks, length=None)
            async with send as answer:
                received = await read_answer(answer, MAX_LIST_BYTES)
        return parsed(self._accept(received).body)

    async def _ask(self, method: bytes, path: str, query: Mapping[str, str] | None) -> object:
        target = f"{path}?{urlencode(query)}" if query else path
        with as_refusals(self.where):
            answer = await self._fetcher.fetch(
                method, target.encode("ascii"), self.headers, at_most=MAX_LIST_BYTES
            )
        reported = parsed(self._accept(answer).body)
        return reported.get("result") if isinstance(reported, dict) else None

    def _accept(self, answer: FetchedAnswer) -> FetchedAnswer:
        if 200 <= answer.status < 300:
            return answer
        words = _words(answer)
        if answer.status == 401 or (answer.status == 403 and words is None):
            raise PrinterRefused(CommandStatus.NOT_AUTHORIZED, self.denied)
        if answer.status == 404:
            raise NotFound(CommandStatus.NOT_FOUND, f"{self.where} has no such thing.")
        if answer.status in (502, 503, 504):  # its reverse proxy answers in its place
            raise unreachable(self.where, "it is starting, or not running")
        sentence = f"{words}." if words else f"{self.where} answered {answer.status}."
        if answer.status == 403:
            raise Forbidden(CommandStatus.EXECUTION_FAILED, sentence)
        raise failed(sentence)

    @property
    def denied(self) -> str:
        if not self.headers:
            return (
                f"{self.where} asks for an API key, and the agent has none:"
                " it is given in PRINTREACH_PRINTER_API_KEY."
            )
        return f"{self.where} refuses the agent's API key."


def _words(answer: FetchedAnswer) -> str | None:
    return shortened(loose.text(loose.obj(parsed(answer.body), "error"), "message"))
