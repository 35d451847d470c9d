"""Composition of mail and notifications, for the web role's settings pages and the worker."""

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.backends.mail_log import LogMailer
from printreach.backends.mail_smtp import SmtpMailer
from printreach.backends.notify_apprise import AppriseMessenger
from printreach.backends.smtp import SmtpServer
from printreach.backends.zones import SystemZones
from printreach.hub.account_mailer import Outbox, SealedOutbox
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.mailing import MailDelivery
from printreach.hub.notify.choices import Notifications
from printreach.hub.notify.enqueue import NotificationEnqueuer
from printreach.hub.notify.sending import NotificationSender
from printreach.hub.print_mails import MailUnsubscribe
from printreach.ports import Clock
from printreach.ports.notifications import Mailer, Messenger, Sealer, Zones
from printreach.run.settings import Settings
from printreach.run.use_cases.core import CoreServices
from printreach.store.sealing import DataDirSealer
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Messaging:
    """The ways to send messages to people.

    mailer: for mails of every kind. outbox: the queue of mails about accounts.
    """

    mailer: Mailer
    outbox: Outbox
    messenger: Messenger
    sealer: Sealer
    zones: Zones


async def open_messaging(settings: Settings, ends: AsyncExitStack) -> Messaging:
    """Open the real ones; `ends` closes them. Without a mail server, mails go to the log."""
    messenger = AppriseMessenger(reach=settings.reach)
    ends.callback(messenger.close)
    sealer = DataDirSealer(settings.data_dir)
    return Messaging(
        mailer=_mailer(settings, ends),
        outbox=SealedOutbox(sealer=sealer, token_bytes=secrets.token_bytes),
        messenger=messenger,
        sealer=sealer,
        zones=SystemZones(),
    )


def _mailer(settings: Settings, ends: AsyncExitStack) -> Mailer:
    if settings.smtp_url is None:
        return LogMailer()
    sender = f"printreach@{urlsplit(settings.base_url).hostname}"
    smtp = SmtpMailer(SmtpServer.at(settings.smtp_url, sender))
    ends.callback(smtp.close)
    return smtp


def mailing(
    store: Store, clock: Clock, messaging: Messaging, clock_history: ClockHistory
) -> MailDelivery:
    """Build the sender of mails about accounts."""
    return MailDelivery(
        store=store,
        clock=clock,
        token_bytes=secrets.token_bytes,
        mailer=messaging.mailer,
        outbox=SealedOutbox(sealer=messaging.sealer, token_bytes=secrets.token_bytes),
        clock_history=clock_history,
    )


def notification_enqueuer(
    settings: Settings, clock: Clock, messaging: Messaging
) -> NotificationEnqueuer:
    """Build the consumer of events that enqueues notifications."""
    return NotificationEnqueuer(
        clock=clock,
        zones=messaging.zones,
        addresses=settings.addresses,
        token_bytes=secrets.token_bytes,
        daily_limit=settings.notify_daily_limit,
        has_mail_server=settings.has_mail_server,
    )


def notifications(core: CoreServices, messaging: Messaging) -> Notifications:
    """Build the use case in which people choose their notifications."""
    return Notifications(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        zones=messaging.zones,
        sealer=messaging.sealer,
        messenger=messaging.messenger,
        mailer=messaging.mailer,
        caller_tries=core.caller_tries,
        daily_limit=core.settings.notify_daily_limit,
        has_mail_server=core.settings.has_mail_server,
    )


def stops_mails(core: CoreServices, messaging: Messaging) -> MailUnsubscribe:
    """Build the use case behind the link in mails about prints that ends them."""
    return MailUnsubscribe(store=core.store, sealer=messaging.sealer)


def notify_sending(
    settings: Settings, store: Store, clock: Clock, messaging: Messaging
) -> NotificationSender:
    """Build the sender of notifications.

    Its close() leaves notifications that are being sent to the next start.
    """
    return NotificationSender(
        store=store,
        clock=clock,
        token_bytes=secrets.token_bytes,
        messenger=messaging.messenger,
        sealer=messaging.sealer,
        mailer=messaging.mailer,
        addresses=settings.addresses,
        has_mail_server=settings.has_mail_server,
    )
