"""Composition of mail and notifications, for the web role's settings pages and the worker."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.backends.clock import SystemZones
from printreach.backends.mail_log import LogMailer
from printreach.backends.mail_smtp import SmtpMailer
from printreach.backends.notify_apprise import AppriseMessenger
from printreach.backends.smtp import SmtpServer
from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.accounts.mail_queue import MailDelivery
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.notifications.sending import NotificationSender
from printreach.ports.notifications import Mailer, Messenger, Sealer, Zones
from printreach.run.settings import Settings
from printreach.store.sealing import DataDirSealer


@dataclass(frozen=True, kw_only=True, slots=True)
class Messaging:
    """The ways to send messages to people.

    mailer: for mails of every kind.
    """

    mailer: Mailer
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


def mailing(core: Core, messaging: Messaging, clock_history: ClockHistory) -> MailDelivery:
    """Build the sender of mails about accounts."""
    return MailDelivery(
        core=core,
        mailer=messaging.mailer,
        outbox=SealedOutbox(sealer=messaging.sealer, token_bytes=core.token_bytes),
        clock_history=clock_history,
    )


def notify_sending(core: Core, messaging: Messaging) -> NotificationSender:
    """Build the sender of notifications.

    Its close() leaves notifications that are being sent to the next start.
    """
    return NotificationSender(
        core=core,
        messenger=messaging.messenger,
        sealer=messaging.sealer,
        mailer=messaging.mailer,
    )
