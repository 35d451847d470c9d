"""Pictures of printers' cameras: taken whole or not at all, and shared by all viewers."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.contract.sizes import MAX_PICTURE_BYTES
from printreach.languages import N_
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.ports import Clock
from printreach.ports.printer_http import (
    PrinterAnswer,
    PrinterAnswerBroken,
    PrinterHttp,
    PrinterRefusal,
)
from printreach.rules.detection.jpeg import whole_jpeg
from printreach.rules.printers import OwnedPrinter


async def take_picture(
    http: PrinterHttp, printer: OwnedPrinter, within_s: float, camera: int = 0
) -> bytes | PrinterRefusal:
    """Take a picture that is complete and not too large. camera: 0 is the default one."""
    try:
        async with (
            asyncio.timeout(within_s),
            http.open(printer, "/webcam/snapshot", {"index": str(camera)}) as answer,
        ):
            return answer if isinstance(answer, PrinterRefusal) else await _read(answer)
    except TimeoutError:
        return _none(N_("The camera took too long."))
    except PrinterAnswerBroken:
        return _none(N_("The picture was cut off."))


async def _read(answer: PrinterAnswer) -> bytes | PrinterRefusal:
    data = bytearray()
    if answer.length is not None and answer.length > MAX_PICTURE_BYTES:
        return _none(N_("The camera sent too large a picture."))
    async for chunk in answer.chunks:
        data += chunk
        if len(data) > MAX_PICTURE_BYTES:
            return _none(N_("The camera sent too large a picture."))
    return whole_jpeg(bytes(data)) or _none(N_("The camera sent something other than a picture."))


def _none(sentence: str) -> PrinterRefusal:
    return PrinterRefusal(int(CommandStatus.UNKNOWN_FAILURE), sentence)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture. taken_at: when the printer was asked for it."""

    data: bytes
    taken_at: datetime


class SharedPictures:
    """The newest picture of each printer that is being viewed, shared by all viewers.

    Owned by the process. A picture serves everybody for FRESH; then the next viewer has a new one
    taken, and others who ask meanwhile wait for the same one.
    """

    FRESH: Final = timedelta(seconds=2)
    AFTER_REFUSAL: Final = timedelta(seconds=5)
    TIMEOUT_S: Final = 8.0
    MAX_BYTES: Final = 64 * 1024 * 1024
    MAX_AT_ONCE: Final = 16

    def __init__(self, http: PrinterHttp, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._kept: OrderedDict[OwnedPrinter, Picture | datetime] = OrderedDict()
        self._bytes = 0
        self._taking: dict[OwnedPrinter, asyncio.Task[Picture | None]] = {}
        self._slots = FairSemaphore(self.MAX_AT_ONCE)

    async def close(self) -> None:
        tasks = list(self._taking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def newest(self, printer: OwnedPrinter) -> Picture | None:
        """Return a picture at most FRESH old; None if the camera gives none now."""
        kept, at = self._kept.get(printer), self._clock.now()
        if isinstance(kept, Picture) and abs(at - kept.taken_at) < self.FRESH:
            return kept
        if isinstance(kept, datetime) and abs(at - kept) < self.AFTER_REFUSAL:
            return None
        task = self._taking.get(printer)
        if task is None:
            task = self._taking[printer] = asyncio.create_task(self._take(printer))
            task.add_done_callback(lambda _: self._taking.pop(printer, None))
        return await asyncio.shield(task)

    async def _take(self, printer: OwnedPrinter) -> Picture | None:
        async with self._slots.slot(printer.account_id):
            at = self._clock.now()
            data = await take_picture(self._http, printer, self.TIMEOUT_S)
        picture = None if isinstance(data, PrinterRefusal) else Picture(data, at)
        self._keep(printer, picture or self._clock.now())
        return picture

    def _keep(self, printer: OwnedPrinter, what: Picture | datetime) -> None:
        self._bytes += _size(what) - _size(self._kept.pop(printer, None))
        self._kept[printer] = what
        while self._bytes > self.MAX_BYTES or len(self._kept) > self.MAX_BYTES // 4096:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _size(oldest)


def _size(what: Picture | datetime | None) -> int:
    return len(what.data) if isinstance(what, Picture) else 0
