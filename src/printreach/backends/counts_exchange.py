"""What the nodes of a service tell each other of limits that hold for all of them, over the bus."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from printreach.contract.node_words import Counts, decode_counts, encode
from printreach.limiters.shared_counts import REPEAT_S, SharedCounts, Spent
from printreach.ports import Bus, Notice, Topic

_log = logging.getLogger(__name__)

PAUSE_S: Final = 0.05
"""After each message, so that callers who try very often cost a bounded number of them."""
BATCH: Final = 500
"""Entries of one message; a server of NATS takes 1 MiB."""
MAX_SAID: Final = 5000
"""Entries at a time; what is beyond them is left out."""


@asynccontextmanager
async def shared_over(bus: Bus, counts: SharedCounts, node: str) -> AsyncIterator[None]:
    """Share this process's counts with other nodes while open. node: its id."""

    def on_notice(notice: Notice) -> None:
        said = decode_counts(notice.key)
        if said is not None and said.node != node:
            counts.hear(said.node, (Spent(*one) for one in said.spent), said.held)

    counts.share()
    unsubscribe = bus.subscribe(on_notice, Topic.COUNTS)
    telling = asyncio.create_task(_keep_telling(bus, counts, node), name="counts of limits")
    try:
        yield
    finally:
        unsubscribe()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _keep_telling(bus: Bus, counts: SharedCounts, node: str) -> None:
    loop = asyncio.get_running_loop()
    repeat_at = loop.time() + REPEAT_S
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(repeat_at):
                await counts.has_news.wait()
        spent, held = counts.take_news()
        if loop.time() >= repeat_at:
            repeat_at = loop.time() + REPEAT_S
            held = {**counts.repeat(), **held}
        try:
            await _tell(bus, node, spent, held)
        except Exception:  # noqa: BLE001 - others count by what they heard before
            _log.exception("could not share counts with other nodes")
        await asyncio.sleep(PAUSE_S)


async def _tell(bus: Bus, node: str, spent: Sequence[Spent], held: Mapping[str, int]) -> None:
    attempts = [(one.limit, one.who, one.used_s, one.most_s) for one in spent]
    under_way = list(held.items())
    for start in range(0, min(max(len(attempts), len(under_way)), MAX_SAID), BATCH):
        some = slice(start, start + BATCH)
        said = Counts(node=node, spent=attempts[some], held=dict(under_way[some]))
        await bus.publish(Notice(Topic.COUNTS, encode(said).decode()))
