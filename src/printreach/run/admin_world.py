"""Composition of the use cases for one administration command."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from printreach.backends.clock import SystemClock
from printreach.backends.passwords import Argon2Passwords
from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.accounts import Accounts
from printreach.hub.accounts.invitations import Invitations
from printreach.hub.accounts.recovery import AccountRecovery
from printreach.hub.apps import Apps
from printreach.hub.connections import Connections
from printreach.hub.detection.address_claims import AddressClaims
from printreach.hub.detection.keys import DetectionKeys
from printreach.hub.detection.usage import Usage
from printreach.hub.operators import Operating, operating
from printreach.hub.printers import Printers
from printreach.ports import Clock
from printreach.rules.accounts import SupporterPolicy
from printreach.run.dependencies import core_of
from printreach.run.paying import payments_of
from printreach.run.settings import Settings
from printreach.store.sealing import DataDirSealer
from printreach.store.store import open_store


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """The use cases that commands call."""

    clock: Clock
    data_dir: Path
    supporters: SupporterPolicy
    accounts: Accounts
    invitations: Invitations
    account_recovery: AccountRecovery
    apps: Apps
    printers: Printers
    connections: Connections
    operating: Operating
    detection_keys: DetectionKeys
    usage: Usage
    claims: AddressClaims


@asynccontextmanager
async def open_world(settings: Settings) -> AsyncIterator[World]:
    """Open the use cases on the service's own database."""
    clock = SystemClock()
    async with (
        open_store(settings.database_path) as store,
        payments_of(settings, clock) as payments,
    ):
        # The running service delivers the mails that a command enqueues.
        outbox = SealedOutbox(
            sealer=DataDirSealer(settings.data_dir), token_bytes=secrets.token_bytes
        )
        core = core_of(settings, store, clock, Argon2Passwords(), outbox)
        operated = operating(core, payments, settings.tunnel_ports)
        yield World(
            clock=clock,
            data_dir=settings.data_dir,
            supporters=settings.supporters,
            accounts=operated.accounts,
            invitations=operated.invitations,
            account_recovery=AccountRecovery(core=core),
            apps=Apps(core=core),
            detection_keys=operated.keys,
            usage=Usage(core=core, plan=settings.detector_plan),
            claims=AddressClaims(core=core),
            printers=operated.printers,
            connections=operated.connections,
            operating=operated,
        )
