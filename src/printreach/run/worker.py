"""The worker role: background work, one loop for each kind.

A loop makes a pass when a hint comes, and periodically without one, since hints may be lost. The
passes are use cases of `hub`; this module composes them and schedules the loops. New background
work is another consumer of events, or another loop in `_composed`.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

from printreach import __version__
from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.accounts.mail_queue import MailDelivery
from printreach.hub.clock_jumps import ClockJumpGuard
from printreach.hub.connections.live_links import LiveLinkEnder, forget_ended_links
from printreach.hub.detection import forget_old_contexts
from printreach.hub.home_assistant import HomeAssistant
from printreach.hub.notifications.enqueue import NotificationEnqueuer
from printreach.hub.notifications.sending import NotificationSender
from printreach.hub.payments import Billing
from printreach.hub.printers.live import LiveStatus
from printreach.hub.prints import PrintHistoryWriter, forget_old_prints
from printreach.hub.prints.fanout import Consumer, Fanout
from printreach.hub.prints.snapshots import Snapshots
from printreach.hub.prints.timelapses import (
    PictureCollector,
    TimelapseConsumer,
    TimelapseMaking,
    Timelapses,
)
from printreach.hub.watch import EventPictures, WatchParts, WatchStarter
from printreach.hub.watch.finding import EVERY as FIND_EVERY
from printreach.hub.watch.finding import UnwatchedPrintFinder
from printreach.hub.watch.rounds import WatchRounds
from printreach.hub.webhooks.deliveries import Deliveries, WebhookEnqueuer
from printreach.ports import Notice, Topic, Unavailable
from printreach.ports.mqtt import MqttAddress
from printreach.ports.snapshots import VideoMaker
from printreach.run.dependencies import (
    Dependencies,
    push_notifier_of,
    snapshots_of,
    video_maker,
    video_store,
)
from printreach.run.process import steady_time

log = logging.getLogger(__name__)

Pass: TypeAlias = Callable[[], Awaitable[object]]
Guarded: TypeAlias = Callable[[Pass], Pass]
"""Wraps a pass that deletes old data; the wrapper does nothing while the clock is in doubt."""

LOOK_EVERY_S: Final = 5.0
PRUNE_EVERY_S: Final = 3600.0
NOBODYS_EVERY_S: Final = 60.0
"""Files of a deleted account are gone within this time, even if its notice was lost."""
DAY_S: Final = 24 * 3600.0
RETRY_EVERY_S: Final = 2.5
"""Retries that become due at a time of their own are late by this much at most."""
WATCH_EVERY_S: Final = 1.0
"""A print under suspicion is due every five seconds."""


class Loop:
    """Runs a pass again and again. A pass that fails is logged, and the next one comes in time.

    hints: the topics of notices that cause a pass at once.
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
        self.hints = hints
        self._every_s = every_s
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Make the next pass at once."""
        self._woken.set()

    def on_notice(self, _notice: Notice) -> None:
        self.wake()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            self._woken.clear()
            try:
                await self._run_pass()
            except Unavailable as error:
                log.warning("%s: a pass failed and is tried again: %s", self.name, error)
            except Exception:
                log.exception("%s: a pass failed", self.name)
            try:
                async with asyncio.timeout(self._every_s):
                    await self._woken.wait()
            except TimeoutError:
                pass  # the interval is over


@asynccontextmanager
async def running_worker(dependencies: Dependencies) -> AsyncIterator[None]:
    """Run the loops while open. Work that they have begun is finished, or left to the next
    start.
    """
    async with AsyncExitStack() as ends:
        for loop in await _composed(dependencies, ends):
            ends.callback(dependencies.bus.subscribe(loop.on_notice, *loop.hints))
            task = asyncio.create_task(loop.run(), name=f"worker: {loop.name}")
            ends.push_async_callback(_end, task)
        yield


async def _composed(dependencies: Dependencies, ends: AsyncExitStack) -> Sequence[Loop]:
    """Build all loops. ends: closes their resources after the loops have ended."""
    settings, core = dependencies.settings, dependencies.core
    snapshots = snapshots_of(dependencies)
    pictures = EventPictures(core, snapshots)
    maker = video_maker()
    collector = None if maker is None else PictureCollector(core=core, snapshots=snapshots)
    timelapses = Timelapses(core=core, videos=video_store(settings), is_offered=maker is not None)
    deleted = frozenset({Topic.ACCOUNT})
    consumers = _consumers(dependencies, collector)
    fanout = Fanout(core, consumers, pictures.take, is_alone=dependencies.is_alone)
    ends.push_async_callback(fanout.close)
    events = Loop("events", fanout.fan_out_due, hints=frozenset({Topic.INBOX}))
    fanout.on_freed(events.wake)
    if settings.mqtt is not None:
        _start_home_assistant(settings.mqtt, dependencies, ends)
    sending = _notification_sender(dependencies)
    ends.push_async_callback(sending.close)
    mails = _mail_delivery(dependencies)
    ends.push_async_callback(mails.close)
    mail_loop = Loop("mails", mails.begin_due, hints=frozenset({Topic.MAIL}))
    mails.on_freed(mail_loop.wake)
    news = Loop("notifications", sending.begin_due, hints=frozenset({Topic.EVENT}))
    sending.on_freed(news.wake)
    webhook_deliveries = _webhook_deliveries(dependencies)
    ends.push_async_callback(webhook_deliveries.close)
    calls = Loop(
        "webhooks",
        webhook_deliveries.begin_due,
        hints=frozenset({Topic.EVENT}),
        every_s=RETRY_EVERY_S,
    )
    webhook_deliveries.on_freed(calls.wake)
    guarded = ClockJumpGuard(core.clock, steady_time).guarded
    return [
        events,
        news,
        mail_loop,
        Loop("outdated mails", mails.forget_outdated, every_s=PRUNE_EVERY_S),
        Loop("mended notifications", sending.tidy, every_s=PRUNE_EVERY_S),
        Loop("old acts", guarded(sending.forget_acts), every_s=PRUNE_EVERY_S),
        Loop("old events", guarded(fanout.prune), every_s=PRUNE_EVERY_S),
        calls,
        Loop("bounded deliveries", webhook_deliveries.tidy, every_s=PRUNE_EVERY_S),
        Loop("old deliveries", guarded(webhook_deliveries.forget_old), every_s=PRUNE_EVERY_S),
        Loop(
            "old pictures",
            guarded(snapshots.forget_old),
            hints=frozenset({Topic.PRINTER}),  # a removed one's last picture is like any other
            every_s=PRUNE_EVERY_S,
        ),
        Loop("nobody's pictures", snapshots.forget_nobodys, hints=deleted, every_s=NOBODYS_EVERY_S),
        Loop("old timelapses", guarded(timelapses.forget_old), every_s=PRUNE_EVERY_S),
        Loop(
            "nobody's timelapses", timelapses.forget_nobodys, hints=deleted, every_s=NOBODYS_EVERY_S
        ),
        Loop(
            "old prints",
            guarded(partial(forget_old_prints, core)),
            every_s=PRUNE_EVERY_S,
        ),
        Loop(
            "old detection contexts",
            guarded(partial(forget_old_contexts, core)),
            every_s=PRUNE_EVERY_S,
        ),
        Loop(
            "old live links",
            guarded(partial(forget_ended_links, core)),
            every_s=PRUNE_EVERY_S,
        ),
        Loop(
            "payments", Billing(core=core, payments=dependencies.payments).reconcile, every_s=DAY_S
        ),
        *(() if maker is None else _making(dependencies, snapshots, maker, guarded, ends)),
        *(
            _watch(dependencies, snapshots, collector, guarded, ends)
            if settings.detector_watch
            else ()
        ),
    ]


def _mail_delivery(dependencies: Dependencies) -> MailDelivery:
    """Build the sender of mails about accounts."""
    core, sealer = dependencies.core, dependencies.sealer
    return MailDelivery(
        core=core,
        mailer=dependencies.mailer,
        outbox=SealedOutbox(sealer=sealer, token_bytes=core.token_bytes),
        clock_history=dependencies.clock_history,
    )


def _notification_sender(dependencies: Dependencies) -> NotificationSender:
    """Build it. Its close() leaves notifications that are being sent to the next start."""
    return NotificationSender(
        core=dependencies.core,
        messenger=dependencies.messenger,
        sealer=dependencies.sealer,
        mailer=dependencies.mailer,
        push=push_notifier_of(dependencies),
    )


def _webhook_deliveries(dependencies: Dependencies) -> Deliveries:
    """Build the sender of deliveries. Its close() ends attempts that are under way."""
    return Deliveries(
        core=dependencies.core,
        sender=dependencies.webhook_sender,
        keys=dependencies.webhook_keys,
        clock_history=dependencies.clock_history,
        jitter=random.SystemRandom().random,
    )


def _start_home_assistant(
    address: MqttAddress, dependencies: Dependencies, ends: AsyncExitStack
) -> None:
    """Publish printers to the broker until `ends` closes."""
    from printreach.backends.mqtt_broker import MqttBroker  # few installations have a broker

    core, printers = dependencies.core, dependencies.printers
    live = LiveStatus(printers, core.clock)
    ends.push_async_callback(live.close)
    home = HomeAssistant(
        core=core,
        broker=MqttBroker(address),
        live=live,
        printers=printers,
        version=__version__,
        is_alone=dependencies.is_alone,
    )
    ends.push_async_callback(_end, asyncio.create_task(home.run(), name="worker: home assistant"))


def _making(
    dependencies: Dependencies,
    snapshots: Snapshots,
    maker: VideoMaker,
    guarded: Guarded,
    ends: AsyncExitStack,
) -> Sequence[Loop]:
    """Build the loops that make videos of prints."""
    making = TimelapseMaking(
        core=dependencies.core,
        snapshots=snapshots,
        videos=video_store(dependencies.settings),
        maker=maker,
    )
    ends.push_async_callback(making.close)
    videos = Loop("timelapses", making.begin_due, hints=frozenset({Topic.EVENT}))
    making.on_freed(videos.wake)
    abandoned = Loop("abandoned timelapses", guarded(making.end_abandoned), every_s=PRUNE_EVERY_S)
    return [videos, abandoned]


def _watch(
    dependencies: Dependencies,
    snapshots: Snapshots,
    collector: PictureCollector | None,
    guarded: Guarded,
    ends: AsyncExitStack,
) -> Sequence[Loop]:
    """Build the loops of the failure watch."""
    core = dependencies.core
    parts = WatchParts(
        core=core,
        http=dependencies.printers,
        scorer=dependencies.scorer,
        snapshots=snapshots,
        states=dependencies.detector,
        timelapses=collector,
    )
    rounds = WatchRounds(core=core, parts=parts)
    ends.push_async_callback(rounds.close)
    looks = Loop("watch", rounds.begin_due, every_s=WATCH_EVERY_S)
    rounds.on_freed(looks.wake)
    finding = UnwatchedPrintFinder(core, dependencies.printers, is_alone=dependencies.is_alone)
    ends.push_async_callback(_released, finding.close)
    return [
        looks,
        Loop("prints that nobody told of", finding.find, every_s=FIND_EVERY.total_seconds()),
        Loop("old looks", guarded(rounds.tidy), every_s=PRUNE_EVERY_S),
    ]


def _consumers(
    dependencies: Dependencies, collector: PictureCollector | None
) -> Sequence[Consumer]:
    """Return the consumers, each of which enqueues its work for every event."""
    core, settings = dependencies.core, dependencies.settings
    return [
        NotificationEnqueuer(
            core=core, zones=dependencies.zones, daily_limit=settings.notify_daily_limit
        ),
        WebhookEnqueuer(core=core, clock_history=dependencies.clock_history),
        LiveLinkEnder(),
        PrintHistoryWriter(),
        *(() if collector is None else (TimelapseConsumer(core.token_bytes),)),
        *([WatchStarter()] if settings.detector_watch else ()),
    ]


async def _released(release: Pass) -> None:
    """Let another worker take over at once; without the store it does when the lease ends."""
    try:
        await release()
    except Unavailable as error:
        log.warning("a lease ends by itself: %s", error)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
