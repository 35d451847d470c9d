"""Printers in Home Assistant, through an MQTT broker that both use.

Only printers of operators appear, since a client that may write to the broker can stop a print.
Messages are retained, so Home Assistant has them after a restart. Of several workers one talks to
the broker; another one takes over if it dies, or has lost the broker.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from printreach.hub.core import Core
from printreach.hub.leased_queue import TaskLease
from printreach.hub.printers.live import LiveStatus, LiveSubscription
from printreach.ports import StoreUnavailable
from printreach.ports.mqtt import Broker, BrokerLost, BrokerMessage, BrokerSession
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.home_assistant import (
    OFFLINE,
    ONLINE,
    ORDERS,
    Topics,
    config_of,
    is_of_installation,
    is_printing,
    state_of,
)
from printreach.rules.printers import OwnedPrinter, is_online
from printreach.store.listings import PrinterRow
from printreach.store.store import Records

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 10.0
"""How often printers are looked up that were linked, renamed or removed, or (dis)connected."""
WATCH_EVERY_S: Final = 5.0
PICTURE_EVERY_S: Final = 60.0
LARGEST_PICTURE: Final = 4 * 1024 * 1024
LONGEST_WAIT_S: Final = 60.0
ORDERS_AT_ONCE: Final = 8
GOOD_BYE_WITHIN_S: Final = 2.0
LEASED_FOR: Final = timedelta(seconds=15)
CLAIMED_EVERY_S: Final = 5.0
"""How often the worker that talks to the broker renews its lease, and others look for it."""


@dataclass(kw_only=True, slots=True)
class HomeAssistant:
    """run() until cancelled. version: of this service. is_alone: there is no other worker."""

    core: Core
    broker: Broker
    live: LiveStatus
    printers: PrinterHttp
    version: str
    topics: Topics = field(default_factory=Topics)
    look_every_s: float = LOOK_EVERY_S
    picture_every_s: float = PICTURE_EVERY_S
    is_alone: bool = False
    _lease: TaskLease = field(init=False)

    def __post_init__(self) -> None:
        self._lease = TaskLease(
            core=self.core, name="home-assistant", lasts=LEASED_FOR, is_alone=self.is_alone
        )

    async def run(self) -> None:
        """Keep a connection to the broker; after a loss, retry with backoff."""
        wait_s = 1.0
        while True:
            began_at = asyncio.get_running_loop().time()
            try:
                if not await self.is_leased():
                    await asyncio.sleep(CLAIMED_EVERY_S)
                    continue
                try:
                    await self._serve_while_leased()
                finally:
                    await self._release()
            except Exception:
                # A fault at the lease must not end this for good.
                log.exception("what Home Assistant is told has stumbled, and begins anew")
            if asyncio.get_running_loop().time() - began_at > LONGEST_WAIT_S:
                wait_s = 1.0
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, LONGEST_WAIT_S)

    async def is_leased(self) -> bool:
        """Return whether this worker is the one to talk to the broker, which it claims or renews.

        Without the store the one that has claimed it goes on until its lease ends.
        """
        try:
            return await self._lease.claim()
        except StoreUnavailable as error:
            log.warning("which worker talks to the MQTT broker is looked up later: %s", error)
            until = self._lease.until
            return until is not None and self.core.clock.now() < until

    async def _release(self) -> None:
        try:
            await self._lease.release()
        except StoreUnavailable as error:
            log.warning("another worker talks to the MQTT broker later: %s", error)

    async def _serve_while_leased(self) -> None:
        serving = asyncio.create_task(self._serve())
        try:
            while not serving.done():
                await asyncio.wait([serving], timeout=None if self.is_alone else CLAIMED_EVERY_S)
                if not serving.done() and not await self.is_leased():
                    return
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    async def _serve(self) -> None:
        """Serve by one connection to the broker, until it is lost."""
        try:
            async with self.broker.connected(self.topics.bridge, OFFLINE) as session:
                try:
                    await _Connected(self, session).serve()
                finally:
                    await self._say_good_bye(session)
        except BrokerLost as error:
            _end_where_cancelled()
            log.warning("no connection to the MQTT broker: %s", error)
        except Exception:
            _end_where_cancelled()
            # What another client published, or a fault of ours, must not end this for good.
            log.exception("the connection for Home Assistant failed and is restarted")

    async def _say_good_bye(self, session: BrokerSession) -> None:
        """Publish that the service is offline; the last will covers only an unexpected end."""
        try:
            async with asyncio.timeout(GOOD_BYE_WITHIN_S):
                await session.publish(self.topics.bridge, OFFLINE, retain=True)
        except (BrokerLost, TimeoutError):
            pass  # then the broker publishes the last will


class _Connected:
    """One connection to the broker, and what was published on it."""

    def __init__(self, home: HomeAssistant, session: BrokerSession) -> None:
        self._home = home
        self._session = session
        self._topics = home.topics
        self._told: dict[str, bytes] = {}  # the last message of each topic
        self._rows: dict[str, PrinterRow] = {}
        self._subscription: LiveSubscription | None = None
        self._pictures_at: dict[str, float] = {}
        self._pictures: set[asyncio.Task[None]] = set()
        self._orders: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Raises BrokerLost."""
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._session.subscribe(self._topics.every_order)
            await self._session.subscribe(self._topics.every_config)
            await self._session.subscribe(self._topics.birth)
            await self._session.subscribe(self._topics.bridge)
            await self._look()
            await self._session.publish(self._topics.bridge, ONLINE, retain=True)
            tasks = [asyncio.create_task(one()) for one in (self._hear, self._tell)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            if self._subscription is not None:
                self._subscription.close()
            tasks += [*self._pictures, *self._orders]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # --- what is told -----------------------------------------------------------------------------

    async def _tell(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._home.look_every_s):
                    while True:
                        await self._tell_news()
            except TimeoutError:
                await self._look()

    async def _tell_news(self) -> None:
        if self._subscription is None:
            await asyncio.sleep(self._home.look_every_s)
            return
        for printer in await self._subscription.next_readings():
            await self._tell_printer(printer.printer_id)

    async def _look(self) -> None:
        """Publish printers that were added, changed or removed."""
        try:
            rows = await self._home.core.store.read(_rows_of_operators)
        except StoreUnavailable as error:
            log.warning("the printers for Home Assistant are looked up later: %s", error)
            return
        gone = self._rows.keys() - rows.keys()
        watched = frozenset(row.printer.owned for row in rows.values())
        self._rows = rows
        for printer_id in gone:
            await self._clear(printer_id)
        for printer_id, row in rows.items():
            home = self._home
            config = config_of(
                row.printer, self._topics, home.core.addresses.base_url, home.version
            )
            await self._say(self._topics.config(printer_id), config)
            await self._tell_printer(printer_id)
        if watched != (
            self._subscription.printers if self._subscription is not None else frozenset()
        ):
            if self._subscription is not None:
                self._subscription.close()
            self._subscription = (
                self._home.live.subscribe(watched, WATCH_EVERY_S) if watched else None
            )

    async def _tell_printer(self, printer_id: str) -> None:
        row = self._rows.get(printer_id)
        if row is None:
            return
        reading = self._home.live.latest(row.printer.owned)
        is_here = is_online(row.printer, row.node_alive_at, self._home.core.clock.now())
        has_status = reading.seen_at is not None and reading.seen_at >= row.printer.linked_at
        if has_status and reading.status is not None:
            await self._say(self._topics.state(printer_id), state_of(reading.status))
        answers = is_here and reading.refusal is None and has_status
        await self._say(self._topics.availability(printer_id), ONLINE if answers else OFFLINE)
        if answers and reading.status is not None and is_printing(reading.status):
            await self._show(row.printer.owned)

    async def _show(self, printer: OwnedPrinter) -> None:
        """Publish a picture now and then; the broker does not retain it."""
        now = asyncio.get_running_loop().time()
        if now < self._pictures_at.get(printer.printer_id, now):
            return
        self._pictures_at[printer.printer_id] = now + self._home.picture_every_s
        task = asyncio.create_task(self._send_picture(printer))
        self._pictures.add(task)
        task.add_done_callback(self._pictures.discard)

    async def _send_picture(self, printer: OwnedPrinter) -> None:
        picture = bytearray()
        try:
            async with (
                asyncio.timeout(10),
                self._home.printers.open(printer, "/webcam/snapshot") as answer,
            ):
                if isinstance(answer, PrinterRefusal):
                    return
                async for chunk in answer.chunks:
                    picture += chunk
                    if len(picture) > LARGEST_PICTURE:
                        return
            topic = self._topics.picture(printer.printer_id)
            await self._session.publish(topic, bytes(picture), retain=False)
        except Exception as error:  # noqa: BLE001  # a picture is worth no connection
            log.debug("no picture of printer %s: %s", printer.printer_id, error)

    async def _say(self, topic: str, payload: bytes) -> None:
        if self._told.get(topic) != payload:
            await self._session.publish(topic, payload, retain=True)
            self._told[topic] = payload

    async def _clear(self, printer_id: str) -> None:
        """Publish an empty message, which deletes a retained one: Home Assistant forgets the
        printer."""
        topics = self._topics
        for topic in (
            topics.config(printer_id),
            topics.state(printer_id),
            topics.availability(printer_id),
        ):
            await self._session.publish(topic, b"", retain=True)
            self._told.pop(topic, None)

    # --- what is heard ----------------------------------------------------------------------------

    async def _hear(self) -> None:
        async for heard in self._session.messages():
            if heard.topic == self._topics.birth:
                # Home Assistant restarts, and the broker may have lost its retained messages
                self._told.clear()
            elif heard.topic == self._topics.bridge:
                if heard.payload == OFFLINE:
                    # The last will of a worker before this one, or its good-bye.
                    await self._session.publish(self._topics.bridge, ONLINE, retain=True)
            elif (printer_id := self._topics.printer_of_config(heard.topic)) is not None:
                await self._check_config(printer_id, heard)
            elif (ordered_id := self._topics.printer_of_order(heard.topic)) is not None:
                self._take_order(ordered_id, heard)

    async def _check_config(self, printer_id: str, heard: BrokerMessage) -> None:
        """Clear retained messages of printers that were removed while the service was down."""
        is_ours = is_of_installation(heard.payload, self._home.core.addresses.base_url)
        if heard.is_retained and is_ours and printer_id not in self._rows:
            await self._clear(printer_id)

    def _take_order(self, printer_id: str, heard: BrokerMessage) -> None:
        """Carry out an order. A retained message is ignored, since it is an old order."""
        command = ORDERS.get(heard.payload)
        if command is None or heard.is_retained:
            return
        if len(self._orders) >= ORDERS_AT_ONCE:
            log.warning("an order from Home Assistant was dropped: too many at once")
            return
        task = asyncio.create_task(self._give_order(printer_id, command))
        self._orders.add(task)
        task.add_done_callback(self._orders.discard)

    async def _give_order(self, printer_id: str, command: str) -> None:
        """Carry out an order for the printer's present owner, who may have changed since the last
        look."""
        # A worker that was suspended finds here what another one has carried out since.
        if not await self._home.is_leased():
            log.warning("an order from Home Assistant was left to another worker")
            return
        try:
            rows = await self._home.core.store.read(_rows_of_operators)
        except StoreUnavailable as error:
            log.warning("an order from Home Assistant was dropped: %s", error)
            return
        row = rows.get(printer_id)
        if row is None:
            log.info("an order from Home Assistant was refused: %s isn't an operator's", printer_id)
            return
        printer = row.printer.owned
        answer = await self._home.printers.order(printer, command)
        if isinstance(answer, PrinterRefusal):
            log.info("printer %s refused %s: %s", printer.printer_id, command, answer.sentence)
        await self._home.live.ask_again(printer, 5)
        await self._tell_printer(printer.printer_id)


async def _rows_of_operators(records: Records) -> dict[str, PrinterRow]:
    rows: dict[str, PrinterRow] = {}
    for account in await records.accounts.all():
        if account.is_admin and not account.is_blocked:
            for row in await records.printers.rows_of_account(account.account_id):
                rows[row.printer.printer_id] = row
    return rows


def _end_where_cancelled() -> None:
    """Raise CancelledError if this task was cancelled; a failure of closing may have hidden it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
