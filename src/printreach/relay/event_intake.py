"""Events from agents: they are stored, then acknowledged, and limited for each printer."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from printreach.contract import signin
from printreach.contract.events import EventType, PrintEvent
from printreach.ports.relaying import EventInbox
from printreach.rules.backoff import Backoff
from printreach.rules.rate_limits import TokenBucket

log = logging.getLogger(__name__)

BURST: Final = 1000
"""The most events after weeks without a connection: all that an agent keeps."""
REFILL_INTERVAL_S: Final = 20.0
"""4,320 events a day; prints of five minutes, one after another, make some 4,000. An agent that
invents events fills 31,000 rows at most, which are kept for a week."""
WARN_INTERVAL_S: Final = 3600.0
"""The interval of warnings in the log about one printer that exceeds the limit."""
MANY: Final = 1000
"""The number of printers above which those with a full bucket are forgotten."""
RETRY: Final = Backoff.doubling(0.5, 30.0)
"""The backoff between tries while the store fails."""

NOT_AN_AGENTS: Final = frozenset(
    {
        EventType.POSSIBLE_FAILURE,
        EventType.PAUSED_BY_DETECTOR,
        EventType.NOTIFICATION_LIMIT_REACHED,
        EventType.TEST,
    }
)
"""Events that only the service itself makes."""


class EventLimiter:
    """A limit on the events of each printer, over all connections of its agents."""

    def __init__(self) -> None:
        self._by_printer: dict[str, TokenBucket] = {}
        self._warned_at: dict[str, float] = {}
        self._forget_at = MANY

    def wait_s(self, printer_id: str, events: int, now: float) -> float:
        """Count events; return the seconds that they have to wait before they are stored."""
        bucket = self._by_printer.get(printer_id) or TokenBucket(BURST, REFILL_INTERVAL_S, now)
        self._by_printer[printer_id] = bucket
        wait_s = bucket.reserve(now, events)
        if len(self._by_printer) >= self._forget_at:
            self._forget_full(now)
        return wait_s

    def should_warn(self, printer_id: str, now: float) -> bool:
        """Return whether the log should warn of this printer: once per WARN_INTERVAL_S."""
        if now - self._warned_at.get(printer_id, -WARN_INTERVAL_S) < WARN_INTERVAL_S:
            return False
        self._warned_at[printer_id] = now
        return True

    def give_back(self, printer_id: str, events: int) -> None:
        """Uncount events that were dropped while they waited; the agent sends them again."""
        if (bucket := self._by_printer.get(printer_id)) is not None:
            bucket.give_back(events)

    def __len__(self) -> int:
        return len(self._by_printer)

    def _forget_full(self, now: float) -> None:
        full = [name for name, bucket in self._by_printer.items() if bucket.has(now, BURST)]
        for name in full:
            del self._by_printer[name]
            self._warned_at.pop(name, None)
        self._forget_at = max(MANY, 2 * len(self._by_printer))


class BadEvents(Exception):
    """Events that no agent of ours sends; the sentence goes to the agent and into the log."""


class EventIntake:
    """The events of one agent. No task runs while none are being stored."""

    __slots__ = ("_inbox", "_limiter", "_printer_id", "_send", "_storing")

    def __init__(
        self,
        inbox: EventInbox,
        limiter: EventLimiter,
        printer_id: str,
        send: Callable[[signin.FromService], None],
    ) -> None:
        self._inbox = inbox
        self._limiter = limiter
        self._printer_id = printer_id
        self._send = send
        self._storing: asyncio.Task[None] | None = None

    def receive(self, events: list[PrintEvent]) -> None:
        """Begin to store events. Raises BadEvents."""
        if self._storing is not None and not self._storing.done():
            raise BadEvents("the events before these are not stored yet")
        for event in events:
            if event.event_type in NOT_AN_AGENTS:
                raise BadEvents(f"events of type {event.event_type} are the service's own")
        now = asyncio.get_running_loop().time()
        wait_s = self._limiter.wait_s(self._printer_id, len(events), now)
        self._storing = asyncio.create_task(self._store(events, wait_s))

    def close(self) -> None:
        """Stop storing; the agent sends unacknowledged events again."""
        if self._storing is not None:
            self._storing.cancel()

    def _warn(self) -> None:
        if self._limiter.should_warn(self._printer_id, asyncio.get_running_loop().time()):
            log.warning(
                "printer %s sends more events than any print gives cause for: %d at once, and one"
                " each %d s. They are stored later, and none is lost here.",
                self._printer_id,
                BURST,
                REFILL_INTERVAL_S,
            )

    async def _store(self, events: list[PrintEvent], wait_s: float) -> None:
        if wait_s > 0:
            self._warn()
            try:
                await asyncio.sleep(wait_s)
            except asyncio.CancelledError:
                # Otherwise the events of a tunnel that ends often would never be stored.
                self._limiter.give_back(self._printer_id, len(events))
                raise
        failures = 0
        while True:
            try:
                await self._inbox.put(self._printer_id, events)
            except Exception:
                log.exception("events could not be stored, and are tried again")
                failures += 1
                await asyncio.sleep(RETRY.pause_s(failures))
            else:
                break
        self._send(signin.EventsStored(event_ids=[event.event_id for event in events]))
