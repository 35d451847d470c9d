"""The files on printers: their lists, and their thumbnails.

Lists are large, so few are read at once, and each is parsed in a thread. A thumbnail is taken whole
or not at all, and kept for a while. A page shows dozens of them, and a printer may read megabytes
for each. So few are taken at once, and a file that has none is not asked again soon.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from printreach.contract.commands import CommandStatus
from printreach.contract.errors import ErrorCode
from printreach.contract.files import FileRoot
from printreach.languages import N_
from printreach.limiters.fair_semaphore import FairSemaphore, TooBusy
from printreach.limiters.slots import Slots
from printreach.ports import Clock
from printreach.ports.printer_http import (
    PrinterAnswer,
    PrinterAnswerBroken,
    PrinterHttp,
    PrinterRefusal,
)
from printreach.rules.printers import OwnedPrinter
from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES, Thumbnail, thumbnail_of

MAX_AT_ONCE: Final = 4
"""Each may take some tens of MB while it is read; a printer has 12 s to send it."""
MAX_OF_ACCOUNT: Final = 2
WAIT_S: Final = 10.0
"""How long a request waits for a slot."""
_BUSY: Final = PrinterRefusal(
    CommandStatus.TOO_MANY_CLIENTS,
    N_("Other lists of files are being read just now. Try again in a moment."),
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ThumbnailKey:
    """version: of the file; a changed one has another."""

    printer: OwnedPrinter
    path: str
    size_px: int
    version: str


@dataclass(frozen=True, slots=True)
class _Kept:
    """thumbnail: None where there is none. until: when it is asked for again."""

    thumbnail: Thumbnail | None
    until: datetime

    @property
    def size(self) -> int:
        return _ROW_BYTES + (len(self.thumbnail.data) if self.thumbnail is not None else 0)


_ROW_BYTES: Final = 2048
"""About what a key takes; a path has up to 1,024 characters."""


class Thumbnails:
    """Owned by the process."""

    KEPT_FOR: Final = timedelta(hours=1)
    NONE_KEPT_FOR: Final = timedelta(minutes=10)
    TIMEOUT_S: Final = 30.0
    MAX_BYTES: Final = 32 * 1024 * 1024
    OF_PRINTER: Final = 2
    """At once; the agent takes no more."""
    OF_ACCOUNT: Final = 200
    """That are taken or wait for it: those of the longest page of files."""
    WAIT_S: Final = 60.0
    """How long a request waits for its turn."""

    def __init__(self, http: PrinterHttp, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._kept: OrderedDict[ThumbnailKey, _Kept] = OrderedDict()
        self._bytes = 0
        self._slots: WeakValueDictionary[OwnedPrinter, asyncio.Semaphore] = WeakValueDictionary()
        self._of_accounts = Slots()

    async def of(self, key: ThumbnailKey) -> Thumbnail | None:
        """Return the thumbnail; None if the file has none, or the printer gives none now.

        Raises TooBusy.
        """
        kept = self._fresh(key)
        if kept is not None:
            return kept.thumbnail
        account_id = key.printer.account_id
        if not self._of_accounts.take({account_id: self.OF_ACCOUNT}):
            raise TooBusy(f"{self.OF_ACCOUNT} thumbnails of the account are asked for already")
        try:
            kept = await self._in_turn(key)
        finally:
            self._of_accounts.release([account_id])
        return kept.thumbnail if kept is not None else None

    async def _in_turn(self, key: ThumbnailKey) -> _Kept | None:
        slots = self._slots.setdefault(key.printer, asyncio.Semaphore(self.OF_PRINTER))
        try:
            async with asyncio.timeout(self.WAIT_S):
                await slots.acquire()
        except TimeoutError:
            raise TooBusy("the printer takes long to give other thumbnails") from None
        try:
            return self._fresh(key) or await self._take(key)
        finally:
            slots.release()

    def _fresh(self, key: ThumbnailKey) -> _Kept | None:
        kept = self._kept.get(key)
        if kept is None or self._clock.now() >= kept.until:
            return None
        self._kept.move_to_end(key)
        return kept

    async def _take(self, key: ThumbnailKey) -> _Kept | None:
        """Ask the printer; None where the answer is no reason not to ask again."""
        query = {"path": key.path, "size": str(key.size_px)}
        try:
            async with (
                asyncio.timeout(self.TIMEOUT_S),
                self._http.open(key.printer, "/files/thumbnail", query) as answer,
            ):
                if isinstance(answer, PrinterAnswer):
                    thumbnail = await _read(answer)
                elif answer.code in _HAS_NONE:
                    thumbnail = None
                else:
                    return None
        except (TimeoutError, PrinterAnswerBroken):
            return None
        kept_for = self.NONE_KEPT_FOR if thumbnail is None else self.KEPT_FOR
        kept = _Kept(thumbnail, self._clock.now() + kept_for)
        self._keep(key, kept)
        return kept

    def _keep(self, key: ThumbnailKey, kept: _Kept) -> None:
        before = self._kept.pop(key, None)
        self._bytes += kept.size - (before.size if before is not None else 0)
        self._kept[key] = kept
        while self._bytes > self.MAX_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.size


_HAS_NONE: Final = frozenset(
    {
        CommandStatus.NOT_FOUND,
        ErrorCode.AGENT_UPDATE_REQUIRED,
        CommandStatus.NOT_SUPPORTED,
    }
)


async def _read(answer: PrinterAnswer) -> Thumbnail | None:
    """Return the picture; None where it is too large, or something else."""
    data = bytearray()
    async for chunk in answer.chunks:
        data += chunk
        if len(data) > MAX_THUMBNAIL_BYTES:
            return None
    return thumbnail_of(bytes(data))


class FileLists:
    """Owned by the process. close() ends what is under way."""

    def __init__(self, http: PrinterHttp) -> None:
        self._http = http
        self._slots = FairSemaphore(MAX_AT_ONCE)
        self._of_accounts = Slots()
        self._tasks: set[asyncio.Task[object]] = set()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def read(self, printer: OwnedPrinter, work: Callable[[bytes], T]) -> T | PrinterRefusal:
        """Ask for the list of printable files, and have a thread run `work` on it.

        work: gets the envelope as JSON and must not use the event loop. Request and thread go on if
        the caller leaves, so that no caller exceeds the slots counted here.
        """
        if not self._of_accounts.take({printer.account_id: MAX_OF_ACCOUNT}):
            return _BUSY
        task = asyncio.create_task(self._read(printer, work))
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._ended(task, printer.account_id))
        return await asyncio.shield(task)

    async def _read(self, printer: OwnedPrinter, work: Callable[[bytes], T]) -> T | PrinterRefusal:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._slots.acquire(printer.account_id)
        except TimeoutError:
            return _BUSY
        try:
            answer = await self._http.ask(printer, "/files/list", {"root": FileRoot.GCODE.value})
            if isinstance(answer, PrinterRefusal):
                return answer
            return await asyncio.to_thread(work, answer)
        finally:
            self._slots.release(printer.account_id)

    def _ended(self, task: asyncio.Task[object], account_id: str) -> None:
        self._tasks.discard(task)
        self._of_accounts.release([account_id])
