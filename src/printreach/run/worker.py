"""The worker role: what happens by itself, one loop for each kind of work.

A loop makes a pass when a hint comes, and every so often without one, for hints may be lost. What a
pass does is a use case of `hub`; here stands what it is made of and when it runs. Who has work for
the worker adds a consumer of events or a loop in `_composed`.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from printreach.hub.detection.contexts import forget_old_contexts
from printreach.hub.fanout import Consumer, Fanout
from printreach.hub.live_links import EndLinksWithPrint, forget_ended_links
from printreach.hub.print_history import WritesHistory, forget_old_prints
from printreach.hub.snapshots import Snapshots
from printreach.hub.watch.finding import FindsPrints
from printreach.hub.watch.parts import EventPictures, WatchesPrints, WatchParts
from printreach.hub.watch.rounds import WatchRounds
from printreach.hub.webhooks.clock_doubt import JumpWatch
from printreach.ports import (
    Bus,
    Clock,
    DetectorStates,
    Notice,
    Store,
    StoreUnavailable,
    Topic,
)
from printreach.ports.printer_http import PrinterHttp
from printreach.ports.scoring import Scorer
from printreach.run.mqtt import start_home_assistant
from printreach.run.paying import billing_of
from printreach.run.reaching import Reaching, mailing, notify_sending, notifying
from printreach.run.settings import Settings
from printreach.run.snapshots import snapshots_of
from printreach.run.steady_clock import steady_time
from printreach.run.webhooks import Hooks, deliveries, webhook_owing

log = logging.getLogger(__name__)

Pass: TypeAlias = Callable[[], Awaitable[object]]
Careful: TypeAlias = Callable[[Pass], Pass]
"""Makes a pass that forgets one that does nothing while the clock is in doubt."""

LOOK_EVERY_S: Final = 5.0
PRUNE_EVERY_S: Final = 3600.0
DAY_S: Final = 24 * 3600.0
RETRY_EVERY_S: Final = 2.5
"""So late may be what is due at a time of its own."""
WATCH_EVERY_S: Final = 1.0
"""A print under suspicion is due every five seconds."""
FIND_EVERY_S: Final = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerOutside:
    """What the loops work with.

    printers: reaches them where a relay runs in this process. detector: takes what the watch says.
    """

    settings: Settings
    store: Store
    bus: Bus
    clock: Clock
    printers: PrinterHttp
    reaching: Reaching
    hooks: Hooks
    scorer: Scorer
    detector: DetectorStates


class Loop:
    """Passes, one after another. A pass that fails is logged, and the next one comes in time.

    hints: the topics that call for a pass at once.
    """

    def __init__(
        self,
        name: str,
        run_pass: Callable[[], Awaitable[object]],
        *,
        hints: frozenset[Topic] = frozenset(),
        every_s: float = LOOK_EVERY_S,
    ) -> None:
        self.name = name
        self._run_pass = run_pass
        self._hints = hints
        self._every_s = every_s
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """There is something to do."""
        self._woken.set()

    def on_notice(self, notice: Notice) -> None:
        if notice.topic in self._hints:
            self.wake()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._woken.clear()
            try:
                await self._run_pass()
            except StoreUnavailable as error:
                log.warning("%s: a pass came to nothing: %s", self.name, error)
            except Exception:
                log.exception("%s: a pass failed", self.name)
            try:
                async with asyncio.timeout(self._every_s):
                    await self._woken.wait()
            except TimeoutError:
                pass  # time to look, then


@asynccontextmanager
async def running_worker(outside: WorkerOutside) -> AsyncIterator[None]:
    """The loops run while this is open. What they have begun is finished or left to the next."""
    async with AsyncExitStack() as ends:
        for loop in await _composed(outside, ends):
            ends.callback(outside.bus.subscribe(loop.on_notice))
            task = asyncio.create_task(loop.run(), name=f"worker: {loop.name}")
            ends.push_async_callback(_end, task)
        yield


async def _composed(outside: WorkerOutside, ends: AsyncExitStack) -> Sequence[Loop]:
    """Every loop there is. ends: what is to be closed when all have ended."""
    snapshots = snapshots_of(outside.settings, outside.store, outside.clock, outside.printers)
    pictures = EventPictures(outside.store, snapshots)
    fanout = Fanout(outside.store, outside.clock, _consumers(outside), pictures.take)
    ends.push_async_callback(fanout.close)
    events = Loop("events", fanout.fan_out_due, hints=frozenset({Topic.INBOX}))
    fanout.on_freed(events.wake)
    if outside.settings.mqtt is not None:
        start_home_assistant(
            outside.settings.mqtt,
            outside.settings.base_url,
            outside.store,
            outside.clock,
            outside.printers,
            ends,
        )
    sending = notify_sending(outside.settings, outside.store, outside.clock, outside.reaching)
    ends.push_async_callback(sending.close)
    mails = mailing(outside.store, outside.clock, outside.reaching)
    news = Loop("notifications", sending.send_due, hints=frozenset({Topic.EVENT}))
    sending.on_freed(news.wake)
    hooks = deliveries(outside.settings, outside.store, outside.clock, outside.hooks)
    ends.push_async_callback(hooks.close)
    calls = Loop(
        "webhooks", hooks.deliver_due, hints=frozenset({Topic.EVENT}), every_s=RETRY_EVERY_S
    )
    hooks.on_freed(calls.wake)
    billing = await ends.enter_async_context(
        billing_of(outside.settings, outside.store, outside.clock)
    )
    careful = JumpWatch(outside.clock, steady_time).careful
    return [
        events,
        news,
        Loop("mails", mails.send_due, hints=frozenset({Topic.MAIL})),
        Loop("mended notifications", sending.tidy, every_s=PRUNE_EVERY_S),
        Loop("old events", careful(fanout.prune), every_s=PRUNE_EVERY_S),
        calls,
        Loop("bounded deliveries", hooks.tidy, every_s=PRUNE_EVERY_S),
        Loop("old deliveries", careful(hooks.forget_old), every_s=PRUNE_EVERY_S),
        Loop("old pictures", careful(snapshots.forget_old), every_s=PRUNE_EVERY_S),
        Loop(
            "old prints",
            careful(partial(forget_old_prints, outside.store, outside.clock)),
            every_s=PRUNE_EVERY_S,
        ),
        Loop(
            "old detection contexts",
            careful(partial(forget_old_contexts, outside.store, outside.clock)),
            every_s=PRUNE_EVERY_S,
        ),
        Loop(
            "old live links",
            careful(partial(forget_ended_links, outside.store, outside.clock)),
            every_s=PRUNE_EVERY_S,
        ),
        Loop("payments", billing.reconcile, every_s=DAY_S),
        *(_watch(outside, snapshots, careful, ends) if outside.settings.detector_watch else ()),
    ]


def _watch(
    outside: WorkerOutside, snapshots: Snapshots, careful: Careful, ends: AsyncExitStack
) -> Sequence[Loop]:
    """The loops of the watch over prints."""
    parts = WatchParts(
        store=outside.store,
        clock=outside.clock,
        http=outside.printers,
        scorer=outside.scorer,
        snapshots=snapshots,
        states=outside.detector,
    )
    rounds = WatchRounds(parts, secrets.token_bytes)
    ends.push_async_callback(rounds.close)
    looks = Loop("watch", rounds.look_due, every_s=WATCH_EVERY_S)
    rounds.on_freed(looks.wake)
    finding = FindsPrints(outside.store, outside.clock, outside.printers)
    return [
        looks,
        Loop("prints that nobody told of", finding.find, every_s=FIND_EVERY_S),
        Loop("old looks", careful(rounds.tidy), every_s=PRUNE_EVERY_S),
    ]


def _consumers(outside: WorkerOutside) -> Sequence[Consumer]:
    """Who owes something for each event."""
    return [
        notifying(outside.settings, outside.clock, outside.reaching),
        webhook_owing(outside.settings, outside.clock, outside.hooks.doubt),
        EndLinksWithPrint(),
        WritesHistory(),
        *([WatchesPrints()] if outside.settings.detector_watch else ()),
    ]


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
