"""DSF, which answers for a board that has a computer beside it.

Source: DuetWebServer, 3.3 to 3.6.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote, urlencode

from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.connecting import download_of, unreachable
from printreach.printers.http_api import MAX_WORDS, NotFound
from printreach.printers.loose import Json
from printreach.printers.port import Download, PrinterRefused, failed
from printreach.printers.setup import PrinterSetup

from . import gcode
from . import model as duet
from .http import (
    BINARY,
    MAX_LIST_BYTES,
    DuetHttp,
    password_of,
    password_refused,
)

MODELS = ("/machine/model", "/machine/status")
"""The second is 3.3's, and every later one's but some of 3.4."""
REPLY_S = 2.0
LEAVE_S = 1.0
PART = ".printreach-part"
FORM = (b"Content-Type", b"application/x-www-form-urlencoded")
PLAIN_TEXT = (b"Content-Type", b"text/plain")


async def sign_in_to_sbc(http: DuetHttp, setup: PrinterSetup) -> "Sbc | None":
    """Sign in to DSF; None if the board has no DSF. Raises PrinterRefused."""
    answer = await http.ask_quickly("GET", f"/machine/connect?password={password_of(setup)}")
    if answer.status == 403:
        raise password_refused(http.where, setup)
    if answer.status in (500, 502, 503):
        http.accept(answer)
    key = loose.text(loose.parsed(answer.body), "sessionKey")
    if key is not None:
        http.session_key = key
        return Sbc(http)
    # 3.3 has neither sessions nor passwords. Firmware answers a page to a path without a dot.
    is_old = answer.status == 404 and _has_state(await http.ask_quickly("GET", MODELS[1]))
    return Sbc(http) if is_old else None


class Sbc:
    """api.Duet."""

    wants_size = False

    def __init__(self, http: DuetHttp) -> None:
        self._http = http
        self._model = ""
        self._orders: set[asyncio.Task[FetchedAnswer]] = set()

    async def model(self) -> Json:
        if not self._model:
            self._model = await self._find_model()
        reported = loose.obj(await self._http.get_quickly(self._model))
        if not duet.status(reported):
            raise self._http.garbled()
        return reported

    async def order(self, lines: list[str]) -> None:
        """DSF answers when all is done, and continues if the caller stops waiting."""
        body = "\n".join(lines).encode()
        asking = self._http.ask("POST", "/machine/code", body, headers=[PLAIN_TEXT])
        order = asyncio.create_task(asking)
        self._orders.add(order)
        order.add_done_callback(self._forget)
        done, _ = await asyncio.wait({order}, timeout=REPLY_S)
        if not done:
            return
        reply = self._http.accept(order.result()).body.decode("utf-8", "replace")
        words = gcode.refusal_in(reply)
        if words is not None:
            raise failed(words[:MAX_WORDS])

    async def listed(self, folder: str) -> list[Json]:
        target = f"/machine/directory/{_path(folder)}"
        answer = await self._http.get(target, at_most=MAX_LIST_BYTES)
        return [loose.obj(entry) for entry in loose.items({"": answer}, "")]

    async def file_info(self, path: str) -> Json:
        target = f"/machine/fileinfo/{_path(path)}"
        return loose.obj(await self._http.get(target))

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        async with self._http.open(f"/machine/file/{_path(path)}") as answer:
            yield download_of(answer, self._http.where)

    async def store(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> None:
        """Versions before 3.5 write into the file itself, so it gets its name at the end."""
        part = f"{path}{PART}"
        try:
            target = f"/machine/file/{_path(part)}"
            await self._http.upload("PUT", target, [BINARY], size, chunks)
            form = urlencode({"from": part, "to": path, "force": "true"}).encode()
            self._http.accept(
                await self._http.ask_quickly("POST", "/machine/file/move", form, headers=[FORM])
            )
        except BaseException:
            await self._drop(part)
            raise

    async def remove(self, path: str) -> None:
        answer = await self._http.ask("DELETE", f"/machine/file/{_path(path)}")
        if answer.status == 500:
            raise failed(N_("DSF won't delete it: it is in use, or a folder that isn't empty."))
        self._http.accept(answer)

    async def leave(self) -> None:
        for order in [*self._orders]:
            order.cancel()
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._http.ask_quickly("GET", "/machine/disconnect")
        except (PrinterRefused, TimeoutError):
            pass  # DSF forgets a silent session by itself, after 8 s

    async def _find_model(self) -> str:
        for target in MODELS:
            try:
                await self._http.get_quickly(target)
            except NotFound:
                continue
            return target
        raise unreachable(self._http.where, N_("it tells no object model"))

    async def _drop(self, part: str) -> None:
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._http.ask_quickly("DELETE", f"/machine/file/{_path(part)}")
        except (PrinterRefused, TimeoutError):
            pass  # it is gone with the connection

    def _forget(self, order: asyncio.Task[FetchedAnswer]) -> None:
        self._orders.discard(order)
        if not order.cancelled():
            order.exception()  # no caller waits for a long order any more


def _has_state(answer: FetchedAnswer) -> bool:
    return bool(loose.obj(loose.parsed(answer.body), "state"))


def _path(path: str) -> str:
    """DSF decodes a path twice, the second time as a query."""
    return quote(quote(path, safe="/:"), safe="/:")
