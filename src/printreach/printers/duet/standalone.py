"""RepRapFirmware's own web server. Source: HttpResponder.cpp and RepRap.cpp of 3.4 to 3.6.

It serves few connections, closes each after its answer, and runs short of memory: 503 then, and
what was asked is asked again.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from printreach.contract.commands import CommandStatus
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import download_of, unreachable
from printreach.printers.http_api import MAX_WORDS, NotFound
from printreach.printers.loose import Json
from printreach.printers.port import Download, PrinterRefused, failed
from printreach.printers.setup import PrinterSetup

from . import gcode
from . import model as duet
from .http import BINARY, DuetHttp, password_of, password_refused
from .model import KEYS, merged

WRONG_PASSWORD, NO_SESSION = 1, 2
NO_SUCH_FOLDER = 2
LIVE = "d99fn"
WHOLE = "d99vno"
MAX_PARTS = 64
MAX_ENTRIES = 20_000
BUSY_TRIES, BUSY_S = 3, 0.3
REPLY_S, REPLY_EVERY_S = 2.0, 0.1
LEAVE_S = 1.0


async def sign_in_to_board(http: DuetHttp, setup: PrinterSetup) -> "Standalone":
    """Raises PrinterRefused."""
    now = local_time(setup.unix_time())
    query = f"password={password_of(setup)}&time={quote(now, safe='')}&sessionKey=yes"
    answer = await http.get_quickly(f"/rr_connect?{query}")
    err = loose.count(answer, "err")
    if err == WRONG_PASSWORD:
        raise password_refused(http.where, setup)
    if err == NO_SESSION:
        sentence = in_english("%(where)s serves too many clients already.", where=http.where)
        raise PrinterRefused(CommandStatus.TOO_MANY_CLIENTS, sentence)
    if err != 0:
        raise unreachable(http.where, N_("its answer to a sign-in is none"))
    key = loose.size(answer, "sessionKey")
    http.session_key = str(key) if key else None
    return Standalone(http, setup)


class Standalone:
    """api.Duet."""

    wants_size = True

    def __init__(self, http: DuetHttp, setup: PrinterSetup) -> None:
        self._http = http
        self._setup = setup
        self._whole: dict[str, object] = {}
        self._seen: dict[str, int | None] = {}

    async def model(self) -> Json:
        """Poll what changes all the time, and other parts when their sequence number changed."""
        live = await self._model("", LIVE)
        reported = loose.obj(live)
        if not duet.status(reported):
            raise self._http.garbled()
        seqs = loose.obj(reported, "seqs")
        for key in KEYS:
            seq = loose.whole(seqs, key)
            if key not in self._whole or seq != self._seen.get(key):
                self._whole[key] = await self._model(key, WHOLE)
                self._seen[key] = seq
        return loose.obj(merged(self._whole, reported))

    async def order(self, lines: list[str]) -> None:
        before = await self._replies()
        answer = await self._get("rr_gcode", gcode="\n".join(lines))
        if loose.count(answer, "err"):
            raise failed(N_("The board has no room for another order."))
        loop = asyncio.get_running_loop()
        end = loop.time() + REPLY_S
        while (await self._replies() - before) % 65536 < len(lines):
            if loop.time() > end:
                break
            await asyncio.sleep(REPLY_EVERY_S)
        words = gcode.refusal_in(await self._reply())
        if words is not None:
            raise failed(words[:MAX_WORDS])

    async def listed(self, folder: str) -> list[Json]:
        entries: list[Json] = []
        first = 0
        for _ in range(MAX_ENTRIES):
            answer = await self._get("rr_filelist", dir=folder, first=str(first))
            if loose.count(answer, "err") == NO_SUCH_FOLDER:
                raise NotFound(
                    CommandStatus.NOT_FOUND,
                    in_english("There is no folder %(path)s.", path=repr(folder)),
                )
            if loose.count(answer, "err"):
                raise failed(N_("The board's SD card can't be read."))
            entries.extend(loose.obj(entry) for entry in loose.items(answer, "files"))
            after = loose.count(answer, "next") or 0
            if after <= first or len(entries) > MAX_ENTRIES:
                break
            first = after
        return entries

    async def file_info(self, path: str) -> Json:
        answer = await self._get("rr_fileinfo", name=path)
        if loose.count(answer, "err") != 0:
            raise NotFound(
                CommandStatus.NOT_FOUND, in_english("There is no file %(path)s.", path=repr(path))
            )
        return loose.obj(answer)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        async with self._http.open(f"/rr_download?{_query(name=path)}") as answer:
            yield download_of(answer, self._http.where)

    async def store(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> None:
        """Upload under a temporary name, which is removed where the connection breaks."""
        query = _query(name=path, time=local_time(self._setup.unix_time()))
        answer = await self._http.upload("POST", f"/rr_upload?{query}", [BINARY], size, chunks)
        if loose.count(loose.parsed(answer.body), "err") != 0:
            raise failed(N_("The board could not keep the upload."))

    async def remove(self, path: str) -> None:
        answer = await self._get("rr_delete", name=path)
        if loose.count(answer, "err") == 0:
            return
        folder, _, name = path.rpartition("/")
        if not any(loose.text(entry, "name") == name for entry in await self.listed(folder)):
            raise NotFound(
                CommandStatus.NOT_FOUND, in_english("There is no file %(path)s.", path=repr(path))
            )
        raise failed(N_("The board won't delete it: it is in use, or a folder that isn't empty."))

    async def leave(self) -> None:
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._http.ask_quickly("GET", "/rr_disconnect")
        except (PrinterRefused, TimeoutError):
            pass  # the board forgets a silent session by itself, after 8 s

    async def _model(self, key: str, flags: str) -> object:
        """Read a part of the object model. Long lists come in parts."""
        reported: object = None
        start = 0
        for _ in range(MAX_PARTS):
            more = f"{flags}a{start}" if start else flags
            answer = await self._get("rr_model", **({"key": key} if key else {}), flags=more)
            result = loose.obj(answer).get("result")
            if isinstance(reported, list) and isinstance(result, list):
                reported = [*reported, *result]
            else:
                reported = result
            after = loose.count(answer, "next") or 0
            if after <= start:
                break
            start = after
        return reported

    async def _replies(self) -> int:
        """Return how many answers to orders there were so far, modulo 65536."""
        return loose.count(await self._model("seqs", "d99f"), "reply") or 0

    async def _reply(self) -> str:
        answer = self._http.accept(await self._http.ask_quickly("GET", "/rr_reply"))
        return answer.body.decode("utf-8", "replace")

    async def _get(self, request: str, **query: str) -> object:
        target = f"/{request}?{_query(**query)}"
        ask = self._http.ask if request == "rr_fileinfo" else self._http.ask_quickly
        for _ in range(BUSY_TRIES - 1):
            answer = await ask("GET", target)
            if answer.status != 503:
                return loose.parsed(self._http.accept(answer).body)
            await asyncio.sleep(BUSY_S)
        return await self._http.get_quickly(target)


def local_time(unix_time: float) -> str:
    """Format a time as boards write it: without a zone, which is taken to be the agent's."""
    return datetime.fromtimestamp(unix_time, tz=UTC).astimezone().strftime("%Y-%m-%dT%H:%M:%S")


def _query(**query: str) -> str:
    """Firmware reads + as a blank and small letters in %xx not at all."""
    return urlencode(query, quote_via=quote, safe="")
