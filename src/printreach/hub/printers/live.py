"""The present status of printers, polled once a second while somebody watches, and shared by all.

A printer without a subscription is not polled. A slow subscriber gets only the newest reading of
each printer. Readings are kept by printer and owner, so that a new owner sees nothing of the former
one's prints.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from typing import Final, TypeVar

import msgspec

from printreach.contract.codec import BAD_JSON, sentence_of
from printreach.contract.commands import CommandStatus
from printreach.contract.status import StatusResult
from printreach.contract.temperatures import TemperatureHistory
from printreach.hub.printers.readings import Reading, Readings, Temperatures, readings_of
from printreach.languages import in_english
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.ports import Clock
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.printers import OwnedPrinter

log = logging.getLogger(__name__)

INTERVAL_S: Final = 1.0
REFUSED_INTERVAL_S: Final = 3.0
"""The interval for a printer that gives no status; its return is noticed this much later."""
MAX_INTERVAL_S: Final = 60.0
AWAITED_EVERY_S: Final = 0.25
"""While a page waits for what an order leads to."""
FRESH: Final = timedelta(seconds=2)
"""A page that opens accepts a reading of this age."""
MAX_AT_ONCE: Final = 32
"""Requests under way. With a farm behind one slow line, its others wait; accounts take turns."""
_QUESTION: Final = {"IncludeMaterialSystem": "1"}


class LiveStatus:
    """Owned by the process: one for all pages and workers. close() ends all polling."""

    def __init__(self, http: PrinterHttp, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self.temperatures = Temperatures()
        self._readings = Readings()
        self._asking: dict[OwnedPrinter, asyncio.Task[Reading]] = {}
        self._asking_since: dict[OwnedPrinter, float] = {}
        self._loading: dict[OwnedPrinter, asyncio.Task[None]] = {}
        self._polls: dict[OwnedPrinter, asyncio.Task[None]] = {}
        self._subscriptions: dict[OwnedPrinter, set[LiveSubscription]] = {}
        self._slots = FairSemaphore(MAX_AT_ONCE)

    async def close(self) -> None:
        tasks = [*self._polls.values(), *self._asking.values(), *self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def latest(self, printer: OwnedPrinter) -> Reading:
        """Return the latest reading, however old."""
        return self._readings.latest(printer)

    async def fresh(
        self, printers: Iterable[OwnedPrinter], within_s: float, max_age: timedelta = FRESH
    ) -> Mapping[OwnedPrinter, Reading]:
        """Return the readings after asking printers that were not asked recently; slow ones stay
        old.

        A printer that has left a request open for that long already holds nobody up any more.
        """
        asked = [printer for printer in printers if self._is_stale(printer, max_age)]
        waited_since = asyncio.get_running_loop().time() - within_s
        tasks = [self._ask(printer) for printer in asked]
        awaited = [
            task
            for printer, task in zip(asked, tasks, strict=True)
            if self._asking_since.get(printer, inf) > waited_since
        ]
        if awaited:
            await asyncio.wait(awaited, timeout=within_s)
        return self._readings.by_printer

    async def ask_again(self, printer: OwnedPrinter, within_s: float) -> Reading:
        """Ask now, since something was just done to the printer."""
        return await self.ask_until(printer, lambda _: True, within_s)

    async def ask_until(
        self, printer: OwnedPrinter, is_awaited: Callable[[Reading], bool], within_s: float
    ) -> Reading:
        """Ask again and again until a reading is the awaited one, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                reading = await self._ask_anew(printer)
                while not is_awaited(reading):
                    await asyncio.sleep(AWAITED_EVERY_S)
                    reading = await self._ask_anew(printer)
        return self.latest(printer)

    async def load_temperatures(self, printer: OwnedPrinter, within_s: float) -> None:
        """Ask the agent for the temperatures of the time when nobody watched, once for each gap.

        An agent that doesn't know them, since it is older, leaves the gap.
        """
        is_here = self.latest(printer).refusal is None
        if printer not in self._loading and is_here and self.temperatures.has_gap(printer):
            loading = self._loading[printer] = asyncio.create_task(self._load(printer))
            loading.add_done_callback(lambda _: self._loading.pop(printer, None))
        if (running := self._loading.get(printer)) is not None:
            await asyncio.wait([running], timeout=within_s)

    def subscribe(
        self, printers: Iterable[OwnedPrinter], every_s: float = INTERVAL_S
    ) -> "LiveSubscription":
        """Subscribe to printers; close() ends it.

        every_s: the longest interval the caller accepts.
        """
        subscription = LiveSubscription(self, frozenset(printers), every_s)
        for printer in subscription.printers:
            is_in_haste = every_s < self._interval_s(printer)
            self._subscriptions.setdefault(printer, set()).add(subscription)
            if is_in_haste:
                self._begin_asking(printer)
        return subscription

    def unsubscribe(self, subscription: "LiveSubscription") -> None:
        for printer in subscription.printers:
            subscriptions = self._subscriptions.get(printer, set())
            subscriptions.discard(subscription)
            if not subscriptions and self._subscriptions.pop(printer, None) is not None:
                self._polls.pop(printer).cancel()

    @property
    def subscribed_count(self) -> int:
        """Return how many printers have a subscription."""
        return len(self._polls)

    def _interval_s(self, printer: OwnedPrinter) -> float:
        """Return the shortest interval any subscriber asked for; infinity without subscribers."""
        return min(
            (subscription.every_s for subscription in self._subscriptions.get(printer, ())),
            default=inf,
        )

    # --- asking -----------------------------------------------------------------------------------

    def _begin_asking(self, printer: OwnedPrinter) -> None:
        if (slower := self._polls.pop(printer, None)) is not None:
            slower.cancel()
        self._polls[printer] = asyncio.create_task(
            # What it asks later is of no single request.
            self._keep_asking(printer),
            context=Context(),
        )

    async def _keep_asking(self, printer: OwnedPrinter) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            try:
                reading = await asyncio.shield(self._ask(printer))
            except Exception:
                log.exception("could not ask a printer what it does")
                await asyncio.sleep(REFUSED_INTERVAL_S)
                continue
            for subscription in self._subscriptions.get(printer, ()):
                subscription.notify(printer, reading)
            interval_s = self._interval_s(printer)
            if reading.refusal is not None:
                interval_s = max(interval_s, REFUSED_INTERVAL_S)
            await asyncio.sleep(min(max(0.0, began_at + interval_s - loop.time()), MAX_INTERVAL_S))

    def _ask(self, printer: OwnedPrinter) -> "asyncio.Task[Reading]":
        """Return the request under way, or begin one: there are never two at the same time."""
        running = self._asking.get(printer)
        if running is None:
            running = self._asking[printer] = asyncio.create_task(self._look(printer))
            self._asking_since[printer] = asyncio.get_running_loop().time()
            running.add_done_callback(lambda _: self._forget_asking(printer))
        return running

    def _forget_asking(self, printer: OwnedPrinter) -> None:
        self._asking.pop(printer, None)
        self._asking_since.pop(printer, None)

    async def _ask_anew(self, printer: OwnedPrinter) -> Reading:
        """Return the latest reading after a request that begins now: one that is under way already
        may tell of an earlier state."""
        if (older := self._asking.get(printer)) is not None:
            await asyncio.wait([older])
        await asyncio.wait([self._ask(printer)])
        return self.latest(printer)

    async def _look(self, printer: OwnedPrinter) -> Reading:
        async with self._slots.slot(printer.account_id):
            answer = await self._http.ask(printer, "/status", _QUESTION)
        reading = self._reading(printer, answer, self._clock.now())
        self._readings.keep(printer, reading)
        return reading

    async def _load(self, printer: OwnedPrinter) -> None:
        async with self._slots.slot(printer.account_id):
            answer = await self._http.ask(printer, "/temperatures")
        history = answer if isinstance(answer, PrinterRefusal) else read_temperatures(answer)
        told = (
            readings_of(history, self._clock.now())
            if isinstance(history, TemperatureHistory)
            else ()
        )
        self.temperatures.fill(printer, told)

    def _reading(
        self, printer: OwnedPrinter, answer: bytes | PrinterRefusal, at: datetime
    ) -> Reading:
        status = answer if isinstance(answer, PrinterRefusal) else read_status(answer)
        if isinstance(status, PrinterRefusal):
            return replace(self.latest(printer), refusal=status, asked_at=at)
        size = len(answer) if isinstance(answer, bytes) else 0
        self.temperatures.note(printer, at, status.job_status.current_print.temps)
        return Reading(status=status, seen_at=at, asked_at=at, json_bytes=size)

    def _is_stale(self, printer: OwnedPrinter, max_age: timedelta) -> bool:
        asked_at = self.latest(printer).asked_at
        return asked_at is None or abs(self._clock.now() - asked_at) > max_age


class LiveSubscription:
    """One subscriber's view of some printers."""

    def __init__(self, live: LiveStatus, printers: frozenset[OwnedPrinter], every_s: float) -> None:
        self.printers = printers
        self.every_s = every_s
        self._live = live
        self._unread: dict[OwnedPrinter, Reading] = {}
        self._has_unread = asyncio.Event()

    def notify(self, printer: OwnedPrinter, reading: Reading) -> None:
        self._unread[printer] = reading
        self._has_unread.set()

    async def next_readings(self) -> Mapping[OwnedPrinter, Reading]:
        """Wait for at least one new reading, and return the newest ones since the last call."""
        await self._has_unread.wait()
        self._has_unread.clear()
        readings, self._unread = self._unread, {}
        return readings

    def close(self) -> None:
        self._live.unsubscribe(self)


class _StatusEnvelope(msgspec.Struct, rename="pascal"):
    result: StatusResult


class _TemperaturesEnvelope(msgspec.Struct, rename="pascal"):
    result: TemperatureHistory


_T = TypeVar("_T", StatusResult, TemperatureHistory)
_status = msgspec.json.Decoder(_StatusEnvelope)
_temperatures = msgspec.json.Decoder(_TemperaturesEnvelope)


def read_status(body: bytes) -> StatusResult | PrinterRefusal:
    """Parse the printer's answer to `/status`."""
    return _read(lambda: _status.decode(body).result)


def read_temperatures(body: bytes) -> TemperatureHistory | PrinterRefusal:
    """Parse the printer's answer to `/temperatures`."""
    return _read(lambda: _temperatures.decode(body).result)


def _read(decode: Callable[[], _T]) -> _T | PrinterRefusal:
    try:
        return decode()
    except BAD_JSON as exc:
        text = in_english(
            "The agent's answer can't be read; it may be of another version. %(details)s",
            details=sentence_of(exc),
        )
        return PrinterRefusal(CommandStatus.UNKNOWN_FAILURE, text)
