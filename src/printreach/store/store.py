"""Opens the database, and runs units of work on it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from sqlalchemy import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.ports import Notice, StoreUnavailable
from printreach.ports.notifications import Sealer
from printreach.store.access_tokens import AccessTokenRows
from printreach.store.accounts import AccountRows
from printreach.store.apps import AppRows
from printreach.store.connections import ConnectionRows
from printreach.store.deliveries import DeliveryRows
from printreach.store.detection import (
    ClaimRows,
    DetectionKeyRows,
    SwitchRows,
    UsageRows,
)
from printreach.store.detection_contexts import ContextRows
from printreach.store.engine import reading_engine, reason_of, writing_engine
from printreach.store.events import EventRows
from printreach.store.identities import IdentityRows
from printreach.store.limits import LimitRows
from printreach.store.live_links import LiveLinkRows
from printreach.store.mail_links import InvitationRows, MailLinkRows
from printreach.store.migrate import migrate
from printreach.store.notifications import NotifyRows
from printreach.store.operating import OperatorRows
from printreach.store.payments import PaymentRows
from printreach.store.personal import PersonalRows
from printreach.store.portal_flows import FlowRows
from printreach.store.printers import PrinterRows
from printreach.store.prints import PrintRows
from printreach.store.resealing import seal_anew
from printreach.store.sealing import DataDirSealer
from printreach.store.second_factors import PasskeyRows, SecondFactorRows, TryRows
from printreach.store.sessions import SessionRows, StepRows
from printreach.store.snapshots import SnapshotRows
from printreach.store.tables import notices
from printreach.store.waiting_mails import WaitingMailRows
from printreach.store.watching import WatchRows, WatchSettingsRows
from printreach.store.webhooks import WebhookRows
from printreach.store.writer import Writer

T = TypeVar("T")


class Notices:
    """The notices of one unit of work. given: whether there are any."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self.given = False

    async def give(self, notice: Notice, at: datetime) -> None:
        await self._connection.execute(
            insert(notices).values(topic=notice.topic.value, key=notice.key, at=at)
        )
        self.given = True


class SqlRecords:
    """ports.Records on one connection, for the length of one unit of work.

    No part refers back to the whole: a cycle of 40 objects for each unit would wait for the garbage
    collector, which runs seldom.
    """

    def __init__(self, connection: AsyncConnection, sealer: Sealer) -> None:
        self.connection = connection
        self._notices = Notices(connection)
        self.accounts = AccountRows(connection)
        self.apps = AppRows(connection)
        self.printers = PrinterRows(connection)
        self.connections = ConnectionRows(connection)
        self.sessions = SessionRows(connection)
        self.steps = StepRows(connection)
        self.mail_links = MailLinkRows(connection)
        self.mails = WaitingMailRows(connection)
        self.second_factors = SecondFactorRows(connection, sealer)
        self.passkeys = PasskeyRows(connection)
        self.identities = IdentityRows(connection)
        self.invitations = InvitationRows(connection)
        self.tries = TryRows(connection)
        self.flows = FlowRows(connection)
        self.payments = PaymentRows(connection)
        self.limits = LimitRows(connection)
        self.operating = OperatorRows(connection)
        self.live_links = LiveLinkRows(connection)
        self.snapshots = SnapshotRows(connection)
        self.prints = PrintRows(connection)
        self.events = EventRows(connection, self._notices.give)
        self.notifications = NotifyRows(connection)
        self.access_tokens = AccessTokenRows(connection)
        self.detection_keys = DetectionKeyRows(connection)
        self.detection_usage = UsageRows(connection)
        self.detection_switches = SwitchRows(connection)
        self.detection_claims = ClaimRows(connection)
        self.detection_contexts = ContextRows(connection)
        self.webhooks = WebhookRows(connection)
        self.deliveries = DeliveryRows(connection)
        self.watch_settings = WatchSettingsRows(connection)
        self.watches = WatchRows(connection)
        self.personal = PersonalRows(connection)

    @property
    def gave_notice(self) -> bool:
        return self._notices.given

    async def notify(self, notice: Notice, at: datetime) -> None:
        await self._notices.give(notice, at)


class SqlStore:
    """ports.Store in an SQLite file. Created by open_store.

    sealer: of secrets; without one, that of the keys beside the file.
    """

    def __init__(self, path: Path, sealer: Sealer | None = None) -> None:
        self._sealer = sealer or DataDirSealer(path.parent)
        self._writing = writing_engine(path)
        self._reading = reading_engine(path)
        self._writer = Writer(self._writing)
        self._on_notices: list[Callable[[], None]] = []

    async def write(self, work: Callable[[SqlRecords], Awaitable[T]]) -> T:
        async def unit(connection: AsyncConnection) -> tuple[T, bool]:
            records = SqlRecords(connection, self._sealer)
            return await work(records), records.gave_notice

        result, gave_notice = await self._writer.write(unit)
        if gave_notice:
            for wake in self._on_notices:
                wake()
        return result

    async def read(self, work: Callable[[SqlRecords], Awaitable[T]]) -> T:
        try:
            connection = await self._reading.connect()
            try:
                return await work(SqlRecords(connection, self._sealer))
            finally:
                # `async with` runs this in a task of its own, which costs more than the work.
                await connection.close()
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"The database gave no answer: {reason_of(error)}.") from error

    def on_notices(self, wake: Callable[[], None]) -> None:
        """Have this called after each commit of this process that gave notices."""
        self._on_notices.append(wake)

    def start(self) -> None:
        """Begin to accept writes; needs the event loop."""
        self._writer.start()

    async def close(self) -> None:
        """Finish what is queued, then release the file."""
        await self._writer.close()
        await self._writing.dispose()
        await self._reading.dispose()


@asynccontextmanager
async def open_store(path: Path) -> AsyncIterator[SqlStore]:
    """Open the store in that file, created or migrated first. Leaving waits for queued writes.

    Raises DatabaseTooNew, SealingKeysRefused, and StoreUnavailable if the file cannot be used.
    """
    sealer = DataDirSealer(path.parent)
    try:
        await asyncio.to_thread(migrate, path)
        await asyncio.to_thread(seal_anew, path, sealer)
    except (SQLAlchemyError, OSError) as error:
        reason = reason_of(error)
        raise StoreUnavailable(f"The database {path} cannot be used: {reason}.") from error
    store = SqlStore(path, sealer)
    store.start()
    try:
        yield store
    finally:
        await store.close()
