"""Subscriptions of agents' connections to changes of their printer and of its account.

Changes come as notices. A notice may be lost, so every RECHECK_S the store is asked which of the
node's printers are linked, and which of them nobody may control.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from itertools import chain
from typing import Protocol

from printreach.ports import Bus, Notice, Topic
from printreach.ports.relaying import Agents

log = logging.getLogger(__name__)

RECHECK_S = 30.0
"""The time until a linked, removed or locked printer is noticed if the notice was lost."""
STORE_TIMEOUT_S = 10.0
"""The time-out of a recheck: a store that hangs must not end the rechecks."""
_TOPICS = (Topic.PRINTER, Topic.DETECTOR, Topic.ACCOUNT)


class Subscriber(Protocol):
    """The callbacks of one agent's connection.

    account_id: of the printer's account; "" if it has none, None while that is looked up.
    """

    account_id: str | None

    def on_notice(self, topic: Topic) -> None:
        """Something about its printer or its account has changed."""

    def on_recheck(self, is_linked: bool, *, refuses_control: bool) -> None:
        """The store was asked again whether the printer is linked, and may be controlled."""


class PrinterSubscriptions:
    """Notifies subscribers of changes to their printer; a printer may have several."""

    def __init__(self, agents: Agents, bus: Bus) -> None:
        self._agents = agents
        self._bus = bus
        self._subscribers: dict[str, tuple[Subscriber, ...]] = {}
        self._unsubscribe: Callable[[], None] | None = None  # a node without agents hears nothing
        self._rechecking = asyncio.create_task(self._keep_rechecking())

    async def close(self) -> None:
        self._subscribers.clear()
        self._follow_bus()
        self._rechecking.cancel()
        await asyncio.gather(self._rechecking, return_exceptions=True)

    def add(self, printer_id: str, subscriber: Subscriber) -> None:
        self._subscribers[printer_id] = (*self._subscribers.get(printer_id, ()), subscriber)
        self._follow_bus()

    def remove(self, printer_id: str, subscriber: Subscriber) -> None:
        left = tuple(
            other for other in self._subscribers.get(printer_id, ()) if other is not subscriber
        )
        if left:
            self._subscribers[printer_id] = left
        else:
            self._subscribers.pop(printer_id, None)
        self._follow_bus()

    def __len__(self) -> int:
        """Return how many printers have subscribers."""
        return len(self._subscribers)

    def _follow_bus(self) -> None:
        """Subscribe to notices while there are subscribers."""
        if self._subscribers and self._unsubscribe is None:
            self._unsubscribe = self._bus.subscribe(self._on_notice, *_TOPICS)
        elif not self._subscribers and self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def _on_notice(self, notice: Notice) -> None:
        if notice.topic is not Topic.ACCOUNT:
            for subscriber in self._subscribers.get(notice.key, ()):
                subscriber.on_notice(notice.topic)
        else:
            for subscriber in chain.from_iterable(self._subscribers.values()):
                if subscriber.account_id in (notice.key, None):
                    subscriber.on_notice(notice.topic)

    async def _keep_rechecking(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_S)
            printer_ids = tuple(self._subscribers)
            try:
                async with asyncio.timeout(STORE_TIMEOUT_S):
                    linked = await self._agents.linked_among(printer_ids)
            except Exception:  # without the store, tunnels go on
                log.exception("could not check again which printers are linked")
            else:
                self._tell(printer_ids, linked)

    def _tell(self, printer_ids: Collection[str], linked: Mapping[str, bool]) -> None:
        for printer_id in printer_ids:
            for subscriber in self._subscribers.get(printer_id, ()):
                refuses_control = linked.get(printer_id, False)
                subscriber.on_recheck(printer_id in linked, refuses_control=refuses_control)
