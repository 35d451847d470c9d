"""How people are reached, for the pages where they choose it and the worker that does it."""

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.backends.mail_log import LogMailer
from printreach.backends.mail_smtp import SmtpMailer
from printreach.backends.notify_apprise import AppriseMessenger
from printreach.backends.sealing import DataDirSealer
from printreach.backends.smtp import SmtpServer
from printreach.backends.zones import SystemZones
from printreach.hub.mailing import Mailing
from printreach.hub.notify.choices import Notifications
from printreach.hub.notify.owing import Notifying
from printreach.hub.notify.sending import NotifySending
from printreach.hub.post import Outbox, SealedOutbox
from printreach.hub.print_mails import StopsMails
from printreach.ports import Clock, Mailer, Store
from printreach.ports.notifications import Messenger, Sealer, Zones
from printreach.run.settings import Settings
from printreach.run.use_cases.ground import Ground


@dataclass(frozen=True, kw_only=True, slots=True)
class Reaching:
    """mailer: for mails of every kind. outbox: where those about accounts wait for it."""

    mailer: Mailer
    outbox: Outbox
    messenger: Messenger
    sealer: Sealer
    zones: Zones


async def real_reaching(settings: Settings, ends: AsyncExitStack) -> Reaching:
    """The machine's own. Where no mail server is set, mails go to the log."""
    messenger = AppriseMessenger(reach=settings.reach)
    ends.callback(messenger.close)
    sealer = DataDirSealer(settings.data_dir)
    return Reaching(
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


def mailing(store: Store, clock: Clock, reaching: Reaching) -> Mailing:
    """Who delivers mails about accounts."""
    outbox = SealedOutbox(sealer=reaching.sealer, token_bytes=secrets.token_bytes)
    return Mailing(store=store, clock=clock, mailer=reaching.mailer, outbox=outbox)


def notifying(settings: Settings, clock: Clock, reaching: Reaching) -> Notifying:
    """Who queues words for each event."""
    return Notifying(
        clock=clock,
        zones=reaching.zones,
        addresses=settings.addresses,
        token_bytes=secrets.token_bytes,
        daily_limit=settings.notify_daily_limit,
        has_mail_server=settings.has_mail_server,
    )


def notifications(ground: Ground, reaching: Reaching) -> Notifications:
    """Where people choose what they hear of."""
    return Notifications(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        zones=reaching.zones,
        sealer=reaching.sealer,
        messenger=reaching.messenger,
        mailer=reaching.mailer,
        caller_tries=ground.caller_tries,
        daily_limit=ground.settings.notify_daily_limit,
        has_mail_server=ground.settings.has_mail_server,
    )


def stops_mails(ground: Ground, reaching: Reaching) -> StopsMails:
    """Who ends mails about prints, by the link in each of them."""
    return StopsMails(store=ground.store, sealer=reaching.sealer)


def notify_sending(
    settings: Settings, store: Store, clock: Clock, reaching: Reaching
) -> NotifySending:
    """Who sends them. close() leaves what is on its way to the next start."""
    return NotifySending(
        store=store,
        clock=clock,
        messenger=reaching.messenger,
        sealer=reaching.sealer,
        mailer=reaching.mailer,
        addresses=settings.addresses,
        has_mail_server=settings.has_mail_server,
    )
