"""Prints under way that no event told of: those that began before the watch, or the printer's link.

Each printer that is here and unwatched is asked once when its agent has connected, and again each
hour. One that gives no status is asked sooner: its agent may be there before the printer is. Turns
go by account, so one with hundreds of dead printers keeps nobody else's waiting.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from printreach.contract.status import StatusResult
from printreach.hub.watch.parts import ask_status
from printreach.ports import Clock, Records, Store
from printreach.ports.printer_http import PrinterHttp
from printreach.ports.watching import UnwatchedPrinter
from printreach.rules.printers import NODE_SILENCE
from printreach.rules.prints import print_id_under_way
from printreach.rules.watch_turns import by_turns

AGAIN_AFTER: Final = timedelta(hours=1)
AGAIN_AFTER_REFUSAL: Final = timedelta(minutes=2)
AT_ONCE: Final = 8
ASKED_IN_A_PASS: Final = 50
"""With more that wait, others come in the next one: 12,000 printers an hour. Four times as many
cost a service with 5,000 idle agents a quarter of a per cent of a core."""
SLOW_S: Final = 2.0
MOST_SLOW: Final = 4
"""Of an account in a pass; a pass with eight accounts like that takes half a minute."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class FindsPrints:
    """One pass at a time: `find`."""

    def __init__(self, store: Store, clock: Clock, http: PrinterHttp) -> None:
        self._store = store
        self._clock = clock
        self._http = http
        self._asked: dict[tuple[str, datetime], datetime] = {}  # by connection -> when again
        self._room = asyncio.Semaphore(AT_ONCE)

    async def find(self) -> None:
        """Watch what is found to be under way. Raises StoreUnavailable."""
        at = self._clock.now()
        here = await self._store.read(lambda records: records.watches.unwatched(at - NODE_SILENCE))
        known = {_key(one): self._asked[_key(one)] for one in here if _key(one) in self._asked}
        self._asked = known  # those that left are forgotten
        due = [one for one in here if not at < known.get(_key(one), at) <= at + AGAIN_AFTER]
        due.sort(key=lambda one: known.get(_key(one), _NEVER))  # who waits for longest comes first
        turns = by_turns(due, lambda one: one.account_id)[:ASKED_IN_A_PASS]
        slow: Counter[str] = Counter()
        found = await asyncio.gather(*(self._ask(one, slow) for one in turns))
        under_way = [(one, print_id) for one, print_id in found if print_id]
        if under_way:
            await self._store.write(lambda records: _begin(records, under_way, at))

    async def _ask(
        self, printer: UnwatchedPrinter, slow: Counter[str]
    ) -> tuple[UnwatchedPrinter, str]:
        """With the id of its print; "" where there is none, or nobody can tell.

        slow: how many of an account took their time in this pass. Of one with many no more are
        asked until the next, lest they keep others waiting.
        """
        loop = asyncio.get_running_loop()
        async with self._room:
            if slow[printer.account_id] >= MOST_SLOW:
                return printer, ""
            began = loop.time()
            status = await ask_status(self._http, printer.printer)
            slow[printer.account_id] += loop.time() - began >= SLOW_S
        at = self._clock.now()
        if not isinstance(status, StatusResult):
            self._asked[_key(printer)] = at + AGAIN_AFTER_REFUSAL
            return printer, ""
        self._asked[_key(printer)] = at + AGAIN_AFTER
        return printer, print_id_under_way(status)


async def _begin(
    records: Records, found: Sequence[tuple[UnwatchedPrinter, str]], at: datetime
) -> None:
    for printer, print_id in found:
        await records.watches.begin(printer.printer_id, printer.account_id, print_id, at)


def _key(printer: UnwatchedPrinter) -> tuple[str, datetime]:
    return printer.printer_id, printer.connected_at
