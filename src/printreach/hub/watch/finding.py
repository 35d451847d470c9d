"""Finds prints that no event reported: they began before the watch, or before the printer's link.

Each connected printer without a watch is asked once when its agent has connected, and again each
hour. One that gives no status is asked sooner, since its agent may be there before the printer is.
Accounts take turns, so one with hundreds of dead printers does not delay the others. One worker
does all this, which reads the list and remembers whom it has asked; if it dies, another one begins.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from printreach.contract.status import StatusResult
from printreach.hub.core import Core
from printreach.hub.leased_queue import TaskLease
from printreach.hub.watch import ask_status
from printreach.ports.printer_http import PrinterHttp
from printreach.rules.printers import NODE_SILENCE
from printreach.rules.prints import print_id_under_way
from printreach.rules.turns import by_turns
from printreach.rules.watch.memory import UnwatchedPrinter
from printreach.store.store import Records

AGAIN_AFTER: Final = timedelta(hours=1)
AGAIN_AFTER_REFUSAL: Final = timedelta(minutes=2)
EVERY: Final = timedelta(seconds=15)
"""The interval of passes."""
LEASED_FOR: Final = timedelta(seconds=90)
"""Longer than from one pass to the end of the next, which may take half a minute."""
AT_ONCE: Final = 8
ASKED_IN_A_PASS: Final = 50
"""Printers asked in a pass, 12,000 an hour, where there are no more: the others in later passes.
Four times as many cost a service with 5,000 idle agents a quarter of a per cent of a core."""
SLOW_S: Final = 2.0
MAX_SLOW: Final = 4
"""Slow answers of an account in a pass; a pass with eight such accounts takes half a minute."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class UnwatchedPrintFinder:
    """One pass at a time: `find`."""

    def __init__(self, core: Core, http: PrinterHttp, *, is_alone: bool = False) -> None:
        """is_alone: there is no other worker."""
        self._core = core
        self._http = http
        self._lease = TaskLease(
            core=core, name="unwatched-prints", lasts=LEASED_FOR, is_alone=is_alone
        )
        # by connection: when it is asked again
        self._asked: dict[tuple[str, datetime], datetime] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def close(self) -> None:
        """Leave it to another worker at once. Raises StoreUnavailable."""
        await self._lease.release()

    async def find(self) -> None:
        """Watch every print that is found. Raises StoreUnavailable."""
        if not await self._lease.claim():
            return
        at = self._core.clock.now()
        here = await self._core.store.read(
            lambda records: records.watches.unwatched(at - NODE_SILENCE)
        )
        known = {
            _key(printer): self._asked[_key(printer)]
            for printer in here
            if _key(printer) in self._asked
        }
        self._asked = known  # those that disconnected are forgotten
        due = [
            printer for printer in here if not at < known.get(_key(printer), at) <= at + AGAIN_AFTER
        ]
        # the one that has waited longest comes first
        due.sort(key=lambda printer: known.get(_key(printer), _NEVER))
        turns = by_turns(due)[: asked_in_a_pass(len(here))]
        # More of them take no longer.
        self._slots = asyncio.Semaphore(max(AT_ONCE, AT_ONCE * len(turns) // ASKED_IN_A_PASS))
        slow: Counter[str] = Counter()
        found = await asyncio.gather(*(self._ask(printer, slow) for printer in turns))
        under_way = [(printer, print_id) for printer, print_id in found if print_id]
        if under_way:
            await self._core.store.write(lambda records: _begin(records, under_way, at))

    async def _ask(
        self, printer: UnwatchedPrinter, slow: Counter[str]
    ) -> tuple[UnwatchedPrinter, str]:
        """Return the printer with the id of its print; "" if there is none, or it cannot be known.

        slow: slow answers by account in this pass. An account with many is not asked again until
        the next pass, so that it does not delay others.
        """
        loop = asyncio.get_running_loop()
        async with self._slots:
            if slow[printer.account_id] >= MAX_SLOW:
                return printer, ""
            began = loop.time()
            status = await ask_status(self._http, printer.printer)
            slow[printer.account_id] += loop.time() - began >= SLOW_S
        at = self._core.clock.now()
        if not isinstance(status, StatusResult):
            self._asked[_key(printer)] = at + AGAIN_AFTER_REFUSAL
            return printer, ""
        self._asked[_key(printer)] = at + AGAIN_AFTER
        return printer, print_id_under_way(status)


def asked_in_a_pass(connected: int) -> int:
    """Return how many of the connected printers without a watch are asked in a pass.

    So many that each is asked once an hour, however many there are.
    """
    return max(ASKED_IN_A_PASS, math.ceil(connected * EVERY / AGAIN_AFTER))


async def _begin(
    records: Records, found: Sequence[tuple[UnwatchedPrinter, str]], at: datetime
) -> None:
    for printer, print_id in found:
        await records.watches.begin(printer.printer_id, printer.account_id, print_id, at)


def _key(printer: UnwatchedPrinter) -> tuple[str, datetime]:
    return printer.printer_id, printer.connected_at
