"""Thumbnails of files on printers: kept for a while, few taken at once, none too large."""

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from printreach.hub.printers.files import ThumbnailKey, Thumbnails
from printreach.limiters.fair_semaphore import TooBusy
from printreach.ports.printer_http import NO_QUERY, PrinterAnswer, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import FakeClock
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.fakes.printer_http import FakePrinterHttp
from tests.printers.sliced import picture

PRINTER = OwnedPrinter("p" * 32, "account")


def key(number: int = 0, printer: OwnedPrinter = PRINTER) -> ThumbnailKey:
    return ThumbnailKey(printer, f"gcode/{number}.gcode", 256, "1")


class SlowHttp(FakePrinterHttp):
    """Answers a while after it was asked. most: so many were under way at once."""

    under_way = 0
    most = 0

    @asynccontextmanager
    async def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AsyncIterator[PrinterAnswer | PrinterRefusal]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(0.01)
            async with super().open(printer, command, query) as answer:
                yield answer
        finally:
            self.under_way -= 1


def http_with(data: bytes) -> SlowHttp:
    return SlowHttp(raw={"/files/thumbnail": ("image/png", data)})


async def _all(thumbnails: Thumbnails, keys: list[ThumbnailKey]) -> int:
    found = await asyncio.gather(*(thumbnails.of(each) for each in keys))
    return sum(thumbnail is not None for thumbnail in found)


def test_of_one_printer_two_are_taken_at_once_and_the_others_wait() -> None:
    http = http_with(picture(32))

    async def body() -> None:
        thumbnails = Thumbnails(http, FakeClock())
        assert await _all(thumbnails, [key(number) for number in range(10)]) == 10

    asyncio.run(body())
    assert http.most == Thumbnails.OF_PRINTER


def test_many_who_ask_for_the_same_one_get_it_by_few_questions() -> None:
    http = http_with(picture(32))

    async def body() -> None:
        assert await _all(Thumbnails(http, FakeClock()), [key()] * 20) == 20

    asyncio.run(body())
    assert len(http.opened) <= Thumbnails.OF_PRINTER


def test_one_is_asked_for_again_after_an_hour() -> None:
    http, clock = http_with(picture(32)), FakeClock()

    async def body() -> None:
        thumbnails = Thumbnails(http, clock)
        await thumbnails.of(key())
        clock.advance(Thumbnails.KEPT_FOR - timedelta(seconds=1))
        await thumbnails.of(key())
        assert len(http.opened) == 1
        clock.advance(timedelta(seconds=1))
        await thumbnails.of(key())

    asyncio.run(body())
    assert len(http.opened) == 2


def test_the_memory_for_them_is_bounded() -> None:
    comment = struct.pack(">I", 900_000) + b"teXt" + bytes(900_004)
    large = picture(32)[:-12] + comment + picture(32)[-12:]

    async def body() -> None:
        thumbnails = Thumbnails(http_with(large), FakeClock())
        for number in range(100):
            await thumbnails.of(key(number))
        assert len(large) < thumbnails._bytes <= Thumbnails.MAX_BYTES

    asyncio.run(body())


def test_a_printers_place_is_given_up_once_nobody_asks() -> None:
    async def body() -> None:
        thumbnails = Thumbnails(http_with(picture(32)), FakeClock())
        for number in range(50):
            await thumbnails.of(key(printer=OwnedPrinter(f"{number:032}", "account")))
        assert len(thumbnails._slots) == 0

    asyncio.run(body())


class SilentHttp(FakePrinterHttp):
    """Its printers never answer."""

    @asynccontextmanager
    async def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AsyncIterator[PrinterAnswer | PrinterRefusal]:
        await asyncio.Event().wait()
        yield PrinterRefusal(0, "never said")


@on_a_hasty_loop
async def test_an_account_has_so_many_waiting_and_further_ones_are_refused() -> None:
    thumbnails = Thumbnails(SilentHttp(), FakeClock())
    asked = [
        asyncio.create_task(thumbnails.of(key(number))) for number in range(Thumbnails.OF_ACCOUNT)
    ]
    await settle()

    with pytest.raises(TooBusy):
        await thumbnails.of(key(printer=OwnedPrinter("q" * 32, "account")))
    for task in asked:
        task.cancel()


@on_a_hasty_loop
async def test_a_wait_for_a_printer_that_never_answers_ends() -> None:
    thumbnails, began = Thumbnails(SilentHttp(), FakeClock()), hasty_loop().time()
    ended = await asyncio.gather(
        *(thumbnails.of(key(number)) for number in range(50)), return_exceptions=True
    )

    assert sum(isinstance(one, TooBusy) for one in ended) > 40
    assert hasty_loop().time() - began <= Thumbnails.WAIT_S + Thumbnails.TIMEOUT_S + 1


@on_a_hasty_loop
async def test_one_whose_caller_has_left_is_not_taken_and_not_counted() -> None:
    thumbnails = Thumbnails(SilentHttp(), FakeClock())
    for number in range(3 * Thumbnails.OF_ACCOUNT):
        asked = asyncio.create_task(thumbnails.of(key(number)))
        await settle()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)

    assert len(thumbnails._of_accounts) == 0
