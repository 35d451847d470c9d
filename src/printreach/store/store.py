"""Opens the database, and runs units of work on it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import func, insert, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from printreach.limiters.fair_semaphore import CURRENT_SHARE
from printreach.ports import Notice, StoreUnavailable
from printreach.ports.notifications import Sealer
from printreach.rules.histogram import Histogram
from printreach.store.accounts import (
    AccountRecords,
    FilamentPriceRecords,
    IdentityRecords,
    LimitRecords,
    PresetRecords,
)
from printreach.store.accounts.access_tokens import AccessTokenRecords
from printreach.store.accounts.mails import InvitationRecords, MailLinkRecords, MailRecords
from printreach.store.accounts.personal import PersonalRecords
from printreach.store.accounts.second_factors import PasskeyRecords, SecondFactorRecords, TryRecords
from printreach.store.accounts.sessions import SessionRecords, StepRecords
from printreach.store.accounts.shown_once import ShownOnceRecords
from printreach.store.apps import AppRecords
from printreach.store.async_engine import AsyncConnection, AsyncEngine
from printreach.store.connections import ConnectionRecords
from printreach.store.connections.live_links import LiveLinkRecords
from printreach.store.detection import (
    ClaimRecords,
    DetectionKeyRecords,
    SwitchRecords,
    UsageRecords,
)
from printreach.store.detection.contexts import ContextRecords
from printreach.store.engine import (
    OF_CALLERS,
    OF_SERVICE,
    reading_engine,
    reason_of,
    writing_engine,
)
from printreach.store.leases import LeaseRecords
from printreach.store.location import UNFINISHED_RESTORE, DatabaseLocation, data_dir_of
from printreach.store.migrate import migrate
from printreach.store.notifications import NotifyRecords
from printreach.store.notifications.push import PushRecords
from printreach.store.operators import OperatorRecords
from printreach.store.payments import PaymentRecords
from printreach.store.portal import FlowRecords
from printreach.store.printers import PrinterRecords
from printreach.store.printers.given_orders import GivenOrderRecords
from printreach.store.printers.members import MemberRecords
from printreach.store.prints import PrintRecords
from printreach.store.prints.events import EventRecords
from printreach.store.prints.snapshots import SnapshotRecords
from printreach.store.prints.timelapses import TimelapseRecords
from printreach.store.readers import Readers
from printreach.store.sealing import DataDirSealer, seal_anew_in_file
from printreach.store.tables import notices
from printreach.store.watch import WatchBackgroundRecords, WatchRecords, WatchSettingsRecords
from printreach.store.webhooks import WebhookRecords
from printreach.store.webhooks.deliveries import DeliveryRecords
from printreach.store.writer import Writer

T = TypeVar("T")


class Notices:
    """The notices of one unit of work."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self.given: list[Notice] = []

    async def give(self, notice: Notice, at: datetime) -> None:
        await self._connection.execute(
            insert(notices).values(topic=notice.topic.value, key=notice.key, at=at)
        )
        self.given.append(notice)


class Records:
    """All records, on one connection, for the length of one unit of work.

    No part refers back to the whole: a cycle of 40 objects for each unit would wait for the garbage
    collector, which runs seldom.
    """

    def __init__(self, connection: AsyncConnection, sealer: Sealer) -> None:
        self.connection = connection
        self._notices = Notices(connection)
        self.accounts = AccountRecords(connection)
        self.apps = AppRecords(connection)
        self.printers = PrinterRecords(connection)
        self.members = MemberRecords(connection)
        self.given_orders = GivenOrderRecords(connection)
        self.connections = ConnectionRecords(connection)
        self.sessions = SessionRecords(connection)
        self.steps = StepRecords(connection)
        self.mail_links = MailLinkRecords(connection)
        self.mails = MailRecords(connection)
        self.second_factors = SecondFactorRecords(connection, sealer)
        self.passkeys = PasskeyRecords(connection)
        self.identities = IdentityRecords(connection)
        self.invitations = InvitationRecords(connection)
        self.tries = TryRecords(connection)
        self.flows = FlowRecords(connection)
        self.payments = PaymentRecords(connection)
        self.limits = LimitRecords(connection)
        self.filament_prices = FilamentPriceRecords(connection)
        self.presets = PresetRecords(connection)
        self.operating = OperatorRecords(connection)
        self.live_links = LiveLinkRecords(connection)
        self.snapshots = SnapshotRecords(connection)
        self.timelapses = TimelapseRecords(connection)
        self.prints = PrintRecords(connection)
        self.events = EventRecords(connection, self._notices.give)
        self.notifications = NotifyRecords(connection)
        self.pushes = PushRecords(connection)
        self.access_tokens = AccessTokenRecords(connection)
        self.detection_keys = DetectionKeyRecords(connection)
        self.detection_usage = UsageRecords(connection)
        self.detection_switches = SwitchRecords(connection)
        self.detection_claims = ClaimRecords(connection)
        self.detection_contexts = ContextRecords(connection)
        self.webhooks = WebhookRecords(connection)
        self.deliveries = DeliveryRecords(connection)
        self.watch_settings = WatchSettingsRecords(connection)
        self.watch_backgrounds = WatchBackgroundRecords(connection)
        self.watches = WatchRecords(connection)
        self.personal = PersonalRecords(connection)
        self.leases = LeaseRecords(connection)
        self.shown_once = ShownOnceRecords(connection)

    @property
    def given_notices(self) -> Sequence[Notice]:
        return self._notices.given

    async def time(self) -> datetime:
        """Return the time of the database's clock: of a server, that of its machine."""
        said = await self.connection.scalar(select(func.current_timestamp()))
        assert said is not None
        return said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)

    async def notify(self, notice: Notice, at: datetime) -> None:
        """Publish the notice if and when this unit of work is committed."""
        await self._notices.give(notice, at)


class UnitWriter(Protocol):
    """Runs units of work on one kind of database: Writer and PostgresqlWriter."""

    def start(self) -> None: ...

    async def write(
        self, work: Callable[[AsyncConnection], Awaitable[T]], *, may_overlap: bool = False
    ) -> T: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Database:
    """One kind of database, ready to be used."""

    reading: AsyncEngine
    readers: Readers
    writer: UnitWriter


class Store:
    """The database. What `write` returned survives a loss of power.

    Created by open_store. sealer: of secrets; without one, that of the keys of the location.
    is_available: whether the last reading found the database. read_times, write_times: of what
    succeeded; a reading's without the wait for its turn.
    """

    def __init__(self, location: DatabaseLocation, sealer: Sealer | None = None) -> None:
        self._sealer = sealer or DataDirSealer(data_dir_of(location))
        database = _database_at(location)
        self._reading = database.reading
        self._readers = database.readers
        self._writer = database.writer
        self._on_notices: list[Callable[[Sequence[Notice]], None]] = []
        self.is_available = True
        self.read_times, self.write_times = Histogram(), Histogram()

    async def write(
        self, work: Callable[[Records], Awaitable[T]], *, may_overlap: bool = False
    ) -> T:
        """Run a unit of work as if alone: what it reads stays as it is until it is committed.

        It is committed as a whole or, if it raises, not at all. It must await nothing but the
        records, and change nothing else: where others write at the same time it may be run again.
        may_overlap: it is right whatever others commit between its statements, as claims and
        additions are, and need not be kept apart. Raises StoreUnavailable.
        """

        async def unit(connection: AsyncConnection) -> tuple[T, Sequence[Notice]]:
            records = Records(connection, self._sealer)
            return await work(records), records.given_notices

        begun_at = asyncio.get_running_loop().time()
        result, given = await self._writer.write(unit, may_overlap=may_overlap)
        self.write_times.observe(asyncio.get_running_loop().time() - begun_at)
        if given:
            for tell in self._on_notices:
                tell(given)
        return result

    async def read(self, work: Callable[[Records], Awaitable[T]]) -> T:
        """Read records; each statement sees what is committed by then.

        Readers are shared fairly: limiters.fair_semaphore. Raises StoreUnavailable and TooBusy.
        """
        key = await self._readers.acquire()
        begun_at = asyncio.get_running_loop().time()
        try:
            result = await self._read(work)
        except StoreUnavailable:
            self.is_available = False
            raise
        else:
            self.is_available = True
            self.read_times.observe(asyncio.get_running_loop().time() - begun_at)
            return result
        finally:
            self._readers.release(key)

    async def read_for_service(self, work: Callable[[Records], Awaitable[T]]) -> T:
        """Read what no single caller waits for, as a relay does, whose callers share connections.

        Raises StoreUnavailable.
        """
        token = CURRENT_SHARE.set(None)
        try:
            return await self.read(work)
        finally:
            CURRENT_SHARE.reset(token)

    async def _read(self, work: Callable[[Records], Awaitable[T]]) -> T:
        try:
            try:
                return await self._read_once(work)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            # The server was started anew, say; all connections of before are closed by now.
            return await self._read_once(work)
        except (SQLAlchemyError, OSError) as error:
            raise StoreUnavailable(f"The database gave no answer: {reason_of(error)}.") from error

    async def _read_once(self, work: Callable[[Records], Awaitable[T]]) -> T:
        connection = await self._reading.connect()
        try:
            return await work(Records(connection, self._sealer))
        finally:
            # `async with` runs this in a task of its own, which costs more than the work.
            await connection.close()

    def on_notices(self, tell: Callable[[Sequence[Notice]], None]) -> None:
        """Have this called with the notices of each unit of work that this process commits."""
        self._on_notices.append(tell)

    def start(self) -> None:
        """Begin to accept writes; needs the event loop."""
        self._writer.start()

    async def close(self) -> None:
        """Finish what is queued, then close all connections."""
        await self._writer.close()
        await self._reading.dispose()


@asynccontextmanager
async def open_store(location: DatabaseLocation) -> AsyncIterator[Store]:
    """Open the store there, created or migrated first. Leaving waits for queued writes.

    Raises DatabaseTooNew, SealingKeysRefused, and StoreUnavailable if it cannot be used.
    """
    data_dir = data_dir_of(location)
    if (data_dir / UNFINISHED_RESTORE).exists():
        raise StoreUnavailable(
            f"A restore of {data_dir} was cut off. Restore the backup again, with --replace; what"
            f" was there before is in a folder replaced-… of {data_dir}."
        )
    sealer = DataDirSealer(data_dir)
    try:
        await asyncio.to_thread(prepare_database, location, sealer)
    except (SQLAlchemyError, OSError) as error:
        reason = reason_of(error)
        raise StoreUnavailable(f"The database {location} cannot be used: {reason}.") from error
    store = Store(location, sealer)
    store.start()
    try:
        yield store
    finally:
        await store.close()


def prepare_database(location: DatabaseLocation, sealer: DataDirSealer) -> None:
    """Create the database or migrate it, and seal anew what an older key sealed. Blocks."""
    if isinstance(location, Path):
        migrate(location)
        seal_anew_in_file(location, sealer)
    else:
        from printreach.store.postgresql import prepare_database as prepare

        prepare(location, sealer)


def _database_at(location: DatabaseLocation) -> _Database:
    if isinstance(location, Path):
        return _Database(
            reading=reading_engine(location),
            readers=Readers(OF_CALLERS, OF_SERVICE),
            writer=Writer(writing_engine(location)),
        )
    # Its driver is an extra.
    from printreach.store import postgresql
    from printreach.store.postgresql.writer import PostgresqlWriter

    pool = postgresql.pool_of_connections(location)
    return _Database(
        reading=AsyncEngine(pool.execution_options(isolation_level="AUTOCOMMIT")),
        readers=Readers(postgresql.OF_CALLERS, postgresql.OF_SERVICE),
        writer=PostgresqlWriter(pool),
    )
