"""The dependencies of the web role and the worker, and how they are opened from the settings."""

import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from printreach.backends.bus_rows import open_bus, pruned
from printreach.backends.clock import SystemZones
from printreach.backends.lookups import Lookups
from printreach.backends.mail_log import LogMailer
from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.backends.video_ffmpeg import PROGRAM, FfmpegVideos
from printreach.backends.webhook_http import WebhookHttp
from printreach.http1.tracing import Tracing
from printreach.hub.account_mailer import Outbox
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.notifications.push import PushNotifier
from printreach.hub.prints.snapshots import Snapshots
from printreach.ports import Bus, Clock, Tunnels
from printreach.ports.notifications import Mailer, Messenger, PushSender, Sealer, Zones
from printreach.ports.payments import Payments
from printreach.ports.printer_http import HostKeys, PrinterHttp
from printreach.ports.relaying import DetectorStates
from printreach.ports.scoring import Scorer
from printreach.ports.signing_in import Passwords
from printreach.ports.snapshots import SnapshotStore, VideoMaker
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.rules.printers import Restart
from printreach.rules.prints.snapshots import S3Bucket
from printreach.run.main import how_to_install
from printreach.run.process import steady_time
from printreach.run.settings import Settings, SettingsError
from printreach.store.location import DatabaseLocation
from printreach.store.store import Store, open_store

SNAPSHOTS_FOLDER: Final = "snapshots"
TIMELAPSES_FOLDER: Final = "timelapses"


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependencies:
    """One per process; tests supply fakes.

    printers: reaches them by the relay of this process, or of others. mailer: for mails of every
    kind. detector: is told the verdicts of the failure watch. payments: None if nothing is sold.
    host_keys: None where nothing makes any. restart: of this process; None if the service never ran
    before. is_alone: this process is the whole service.
    """

    settings: Settings
    core: Core
    bus: Bus
    printers: PrinterHttp
    mailer: Mailer
    messenger: Messenger
    push_sender: PushSender
    sealer: Sealer
    webhook_sender: WebhookSender
    webhook_keys: WebhookKeys
    scorer: Scorer
    detector: DetectorStates
    payments: Payments | None = None
    host_keys: HostKeys | None = None
    restart: Restart | None = None
    is_alone: bool = False
    zones: Zones = field(default_factory=SystemZones)
    clock_history: ClockHistory = field(default_factory=lambda: ClockHistory(steady_time))


def core_of(
    settings: Settings, store: Store, clock: Clock, passwords: Passwords, outbox: Outbox
) -> Core:
    """Build the core of all use cases from the operator's settings."""
    return Core(
        store=store,
        clock=clock,
        token_bytes=secrets.token_bytes,
        passwords=passwords,
        outbox=outbox,
        addresses=settings.addresses,
        supporters=settings.supporters,
        has_mail_server=settings.has_mail_server,
    )


def open_mailer(settings: Settings, ends: AsyncExitStack) -> Mailer:
    """Open the mailer, which `ends` closes. Without a mail server, mails go to the log."""
    if settings.smtp_url is None:
        return LogMailer()
    from printreach.backends.mail_smtp import SmtpMailer, SmtpServer

    sender = f"printreach@{urlsplit(settings.base_url).hostname}"
    smtp = SmtpMailer(SmtpServer.at(settings.smtp_url, sender))
    ends.callback(smtp.close)
    return smtp


def open_webhook_sender(
    settings: Settings, ends: AsyncExitStack, tracing: Tracing | None = None
) -> WebhookHttp:
    """Open the HTTP client of webhooks, which `ends` closes."""
    lookups = Lookups()
    ends.push_async_callback(lookups.close)
    sender = WebhookHttp(lookups, settings.reach, tracing=tracing)
    ends.push_async_callback(sender.close)
    return sender


@asynccontextmanager
async def tracing_of(settings: Settings, node_id: str) -> AsyncIterator[Tracing | None]:
    """Begin to send traces; None where nobody asked for them.

    Raises SettingsError if the library is missing.
    """
    if not settings.sends_traces:
        yield None
        return
    try:
        from printreach.backends.traces import sending_traces
    except ImportError as error:
        raise _missing_extra("OTEL_EXPORTER_OTLP_ENDPOINT", "otel", error) from None
    async with sending_traces(node_id) as tracing:
        yield tracing


@asynccontextmanager
async def payments_of(settings: Settings, clock: Clock) -> AsyncIterator[Payments | None]:
    """Open the payment provider; None if nothing is sold.

    Raises SettingsError if its library is missing.
    """
    if settings.stripe is None:
        yield None
        return
    try:
        # The library takes half a second to import, so only installations that sell load it.
        from printreach.backends.pay_stripe import stripe_payments
    except ImportError as error:
        raise _missing_extra("PRINTREACH_STRIPE_SECRET_KEY", "stripe", error) from None
    async with stripe_payments(settings.stripe, clock) as payments:
        yield payments


@asynccontextmanager
async def store_of(settings: Settings) -> AsyncIterator[Store]:
    """Open the database.

    Raises SettingsError if its library is missing, and as open_store does.
    """
    require_driver(settings.database)
    async with open_store(settings.database) as store:
        yield store


def require_driver(location: DatabaseLocation) -> None:
    """Raise SettingsError if the library for that database isn't installed."""
    if not isinstance(location, Path) and find_spec("asyncpg") is None:
        raise _missing_extra("PRINTREACH_DATABASE_URL", "postgresql", ImportError(name="asyncpg"))


@asynccontextmanager
async def bus_of(
    settings: Settings, store: Store, clock: Clock, tunnels: Tunnels | None = None
) -> AsyncIterator[Bus]:
    """Open the bus: over NATS if a server is named, else in the database.

    tunnels: what this process knows of them; None if it is no node of the service. Raises
    SettingsError if its library is missing.
    """
    async with pruned(store, clock), _bus_of(settings, store, clock, tunnels) as bus:
        yield bus


def _bus_of(
    settings: Settings, store: Store, clock: Clock, tunnels: Tunnels | None
) -> AbstractAsyncContextManager[Bus]:
    if settings.nats_urls:
        try:
            from printreach.backends.bus_nats import open_nats_bus
        except ImportError as error:
            raise _missing_extra("PRINTREACH_NATS_URL", "nats", error) from None
        return open_nats_bus(settings.nats_urls, store, tunnels)
    if settings.database_url:
        from printreach.backends.bus_rows import open_postgresql_bus

        return open_postgresql_bus(store, clock)
    return open_bus(store, clock)


def push_notifier_of(dependencies: Dependencies) -> PushNotifier:
    """Build the sender of messages to browsers."""
    return PushNotifier(
        core=dependencies.core, sealer=dependencies.sealer, sender=dependencies.push_sender
    )


def snapshots_of(dependencies: Dependencies) -> Snapshots:
    """Build the use cases about stored pictures. Raises SettingsError."""
    kept = snapshot_store(dependencies.settings)
    return Snapshots(core=dependencies.core, kept=kept, http=dependencies.printers)


def snapshot_store(settings: Settings) -> SnapshotStore:
    if settings.snapshots is None:
        return DiskSnapshots(settings.data_dir / SNAPSHOTS_FOLDER)
    return _in_bucket(settings.snapshots)


def video_store(settings: Settings) -> SnapshotStore:
    """Return the storage of timelapses, beside that of pictures. Raises SettingsError."""
    if settings.snapshots is None:
        return DiskSnapshots(settings.data_dir / TIMELAPSES_FOLDER, ".mp4")
    return _in_bucket(settings.snapshots, ".mp4", "video/mp4")


def video_maker() -> VideoMaker | None:
    """Return what makes timelapses; None on a machine without ffmpeg."""
    program = shutil.which(PROGRAM)
    return None if program is None else FfmpegVideos(program)


def _in_bucket(place: S3Bucket, *kind: str) -> SnapshotStore:
    try:
        from printreach.backends.snapshots_s3 import S3Snapshots
    except ImportError as error:
        raise _missing_extra("PRINTREACH_SNAPSHOTS_URL", "s3", error) from None
    return S3Snapshots(place, *kind)


def _missing_extra(setting: str, extra: str, error: ImportError) -> SettingsError:
    return SettingsError(
        f"{setting} needs more than is installed ({error.name}): {how_to_install(extra)} brings it."
    )
