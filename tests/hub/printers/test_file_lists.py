"""Lists of files are large: few are read at once, and no thread of the event loop reads them."""

import asyncio
import threading
import time
from collections.abc import Mapping

from printreach.hub.printers.files import MAX_AT_ONCE, MAX_OF_ACCOUNT, WAIT_S, FileLists
from printreach.ports.printer_http import NO_QUERY, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.fakes.printer_http import FakePrinterHttp


class SlowPrinters(FakePrinterHttp):
    """Printers whose lists take their time. under_way, most: asks at once, now and ever."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()
        self.under_way = 0
        self.most = 0

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.may_answer.wait()
            return printer.printer_id.encode()
        finally:
            self.under_way -= 1


def printers(count: int) -> list[OwnedPrinter]:
    """Of an account each."""
    return [OwnedPrinter(f"printer-{number}", f"account-{number}") for number in range(count)]


def decoded(answer: bytes) -> str:
    """What a thread makes of a list. It takes its time, as any thread does on a busy machine."""
    time.sleep(0.02)
    return answer.decode()


@on_a_hasty_loop
async def test_a_few_lists_are_read_at_once_and_the_others_wait_their_turn() -> None:
    http = SlowPrinters()
    lists = FileLists(http)
    reading = [asyncio.create_task(lists.read(one, decoded)) for one in printers(10)]
    await settle()
    http.may_answer.set()

    assert await asyncio.gather(*reading) == [one.printer_id for one in printers(10)]
    assert http.most == MAX_AT_ONCE


@on_a_hasty_loop
async def test_who_waits_too_long_is_told_to_come_again() -> None:
    http = SlowPrinters()
    lists = FileLists(http)
    for one in printers(MAX_AT_ONCE):
        asyncio.create_task(lists.read(one, decoded))  # noqa: RUF006  # ends with the loop
    await settle()
    began = hasty_loop().time()
    refused = await lists.read(OwnedPrinter("late", "late"), decoded)

    assert isinstance(refused, PrinterRefusal)
    assert hasty_loop().time() - began <= WAIT_S + 1
    await lists.close()


@on_a_hasty_loop
async def test_one_account_takes_no_more_than_its_share_though_it_leaves_and_comes_again() -> None:
    http = SlowPrinters()
    lists = FileLists(http)
    mine = OwnedPrinter("mine", "ada")
    for _ in range(MAX_OF_ACCOUNT):
        leaving = asyncio.create_task(lists.read(mine, decoded))
        await settle()
        leaving.cancel()
        await settle()

    assert isinstance(await lists.read(mine, decoded), PrinterRefusal)
    http.may_answer.set()
    await settle()
    assert await lists.read(mine, decoded) == "mine"
    assert await lists.read(OwnedPrinter("other", "bob"), decoded) == "other"


@on_a_hasty_loop
async def test_a_thread_works_through_a_list() -> None:
    http = SlowPrinters()
    http.may_answer.set()

    worker = await FileLists(http).read(printers(1)[0], lambda _: threading.get_ident())

    assert worker != threading.get_ident()
