"""Composition of what use cases of every feature need."""

import secrets

from printreach.hub.account_mailer import Outbox
from printreach.hub.core import Core
from printreach.ports import Clock
from printreach.ports.passwords import Passwords
from printreach.run.settings import Settings
from printreach.store.store import Store


def core_of(
    settings: Settings, store: Store, clock: Clock, passwords: Passwords, outbox: Outbox
) -> Core:
    """Build it from the operator's settings."""
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
