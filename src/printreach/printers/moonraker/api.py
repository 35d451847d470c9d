"""Moonraker's APIs: files and queries over HTTP, and JSON-RPC over its WebSocket for the rest.

Every failure is a PrinterRefused.
"""

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from urllib.parse import urlencode

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.commands import CommandStatus
from printreach.http1.fetch import FetchedAnswer, Fetcher
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import timed_out, unreachable
from printreach.printers.http_api import KeyedApi, NotFound
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup
from printreach.printers.websocket import WebSocket, WebSocketFailed

from .translate import shortened

log = logging.getLogger(__name__)

MAX_LIST_BYTES = 64 * 1024 * 1024
"""A folder of ten thousand files with what is known of them takes about 20 MB."""
ACCEPTED_AFTER_S = 8.0
"""Moonraker answers once the G-code was executed. No refusal within this time means: accepted."""
CARRIED_OUT_S = 24 * 3600.0
"""A heater that is waited for, or a move after a long one, may take its time."""
UPLOADED_S = 300.0
"""Moonraker reads through a file before it answers, and lets others process it first."""

_DENIED_WORDS = frozenset({"Unauthorized", "Invalid API Key"})
_GONE_WORDS = ("Klippy", "Method not found")

SILENCE_S = 15.0
"""Moonraker reports its own load once a second, so silence means that it has stalled."""
ANSWER_S = 10.0
MAX_CALLS = 64

OnNotification = Callable[[str, object], None]
"""A callback for a notification: its method and params."""


class RpcRefused(Exception):
    """Moonraker's refusal of a call. code: HTTP's or JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class RpcTimedOut(Exception):
    """No answer in time; the request may still be carried out."""


class Rpc:
    """One connection. run() reads until it ends; calls are made concurrently."""

    def __init__(self, socket: WebSocket, on_notification: OnNotification) -> None:
        self._socket = socket
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._end: WebSocketFailed | None = None

    async def run(self) -> None:
        """Raises WebSocketFailed when the connection ends, which it always does."""
        try:
            while True:
                self._take(await self._socket.receive(SILENCE_S))
        except WebSocketFailed as failed:
            self._end = failed
            raise
        finally:
            end = self._end or WebSocketFailed("the connection was given up")
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(end)

    async def call(
        self, method: str, params: loose.Json = loose.EMPTY, *, timeout_s: float = ANSWER_S
    ) -> object:
        """Return the result. Raises RpcRefused, RpcTimedOut, WebSocketFailed."""
        if self._end is not None:
            raise self._end
        if len(self._waiting) >= MAX_CALLS:
            raise RpcTimedOut
        number = next(self._ids)
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        call = {"jsonrpc": "2.0", "method": method, "params": dict(params), "id": number}
        try:
            async with asyncio.timeout(timeout_s):
                await self._socket.send(json.dumps(call))
                return await answer
        except TimeoutError:
            raise RpcTimedOut from None
        finally:
            del self._waiting[number]

    def _take(self, message: str | bytes) -> None:
        """Handle a message; one that makes no sense is ignored."""
        decoded = parsed(message)
        method = loose.text(decoded, "method")
        if method is not None:
            params = decoded.get("params") if isinstance(decoded, dict) else None
            self._on_notification(method, params)
            return
        answer = self._waiting.get(loose.whole(decoded, "id") or 0)
        if answer is None or answer.done() or not isinstance(decoded, dict):
            return
        if "result" in decoded:
            answer.set_result(decoded["result"])
        else:
            answer.set_exception(_refused(decoded.get("error")))


def parsed(message: str | bytes) -> object:
    """Return parsed JSON; None for a message that is not JSON."""
    try:
        decoded: object = msgspec.json.decode(message)
    except BAD_JSON:
        return None
    return decoded


def _refused(error: object) -> RpcRefused:
    return RpcRefused(loose.whole(error, "code") or 0, loose.text(error, "message") or "")


class Forbidden(PrinterRefused):
    """403: the file or folder is protected, whatever the key."""


class MoonrakerApi(KeyedApi):
    """Moonraker's APIs. rpc: None while there is no connection."""

    def __init__(self, setup: PrinterSetup) -> None:
        super().__init__(setup, N_("Moonraker at %(host)s"), host=setup.authority.encode("idna"))
        self.address = setup.authority
        self.push_url = f"ws://{setup.authority}/websocket"
        self.rpc: Rpc | None = None
        self._uploader = Fetcher(self.connect, self.host, first_byte_s=UPLOADED_S)
        self._unanswered: set[asyncio.Task[object]] = set()

    async def close(self) -> None:
        for task in list(self._unanswered):
            task.cancel()
        await asyncio.gather(*self._unanswered, return_exceptions=True)
        await super().close()
        await self._uploader.close()

    # --- over the WebSocket -------------------------------------------------------------------

    async def call(
        self, method: str, params: loose.Json = loose.EMPTY, *, timeout_s: float = ANSWER_S
    ) -> object:
        """Return the result of a call."""
        if self.rpc is None:
            raise unreachable(self.where, N_("there is no connection"))
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
                CommandStatus.NOT_CONNECTED,
                in_english("%(where)s has no connection to Klipper.", where=self.where),
            )
        return failed(
            f"{words}." if words else in_english("%(where)s refused it.", where=self.where)
        )

    # --- over HTTP ----------------------------------------------------------------------------

    async def query(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """Return the result of a question. Raises NotFound."""
        return await self._result("GET", path, query)

    async def remove(self, path: str, query: Mapping[str, str] | None = None) -> object:
        """Delete a file or folder, and return the result."""
        return await self._result("DELETE", path, query)

    async def head(self, path: str) -> FetchedAnswer:
        """Ask for a file's headers. Raises NotFound, for a folder too."""
        answer = await self.ask("HEAD", path)
        if answer.status == 403:  # "… is not a file"
            raise NotFound(
                CommandStatus.NOT_FOUND, in_english("%(where)s has no such file.", where=self.where)
            )
        return self.accept(answer)

    async def send_form(self, path: str, kind: bytes, chunks: AsyncIterator[bytes]) -> object:
        """Upload a form as it comes; its length need not be known."""
        headers = [(b"Content-Type", kind)]
        answer = await self.upload("POST", path, headers, None, chunks, fetcher=self._uploader)
        return parsed(answer.body)

    async def _result(self, method: str, path: str, query: Mapping[str, str] | None) -> object:
        target = f"{path}?{urlencode(query)}" if query else path
        answer = self.accept(await self.ask(method, target, at_most=MAX_LIST_BYTES))
        reported = parsed(answer.body)
        return reported.get("result") if isinstance(reported, dict) else None

    def words_of(self, answer: FetchedAnswer) -> str:
        error = loose.obj(parsed(answer.body), "error")
        words = shortened(loose.text(error, "message"))
        return f"{words}." if words else ""

    def refusal(self, answer: FetchedAnswer) -> PrinterRefused:
        words = self.words_of(answer)
        if answer.status == 403 and words:
            return Forbidden(CommandStatus.EXECUTION_FAILED, words)
        return super().refusal(answer)
