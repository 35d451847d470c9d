"""Lists of printers' files.

They are large, so few are read at once, and each is parsed in a thread.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from printreach.contract.commands import CommandStatus
from printreach.contract.files import FileRoot
from printreach.languages import N_
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.limiters.slots import Slots
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.printers import OwnedPrinter

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
