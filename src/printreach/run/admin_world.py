"""The use cases, composed for one administration command."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from printreach.backends.clock import SystemClock
from printreach.backends.mail_log import LogMailer
from printreach.backends.passwords import Argon2Passwords
from printreach.backends.sql.store import SqlStore, open_store
from printreach.hub.account_limits import AccountLimitCases
from printreach.hub.accounts import Accounts
from printreach.hub.address_claims import AddressClaims
from printreach.hub.apps import Apps
from printreach.hub.billing import Billing
from printreach.hub.connections import Connections
from printreach.hub.detection_keys import DetectionKeys
from printreach.hub.invitations import Invitations
from printreach.hub.operated_apps import OperatedApps
from printreach.hub.operating import Operating
from printreach.hub.post import Post
from printreach.hub.printers import Printers
from printreach.hub.proof import Proof
from printreach.hub.rescue import Rescue
from printreach.hub.tries import AccountTries, CallerTries
from printreach.hub.usage import Usage
from printreach.ports import Clock
from printreach.ports.payments import Payments
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.mails import Mails
from printreach.run.paying import payments_of
from printreach.run.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """What commands work with."""

    clock: Clock
    data_dir: Path
    supporters: SupporterPolicy
    accounts: Accounts
    invitations: Invitations
    rescue: Rescue
    apps: Apps
    printers: Printers
    connections: Connections
    operating: Operating
    detection_keys: DetectionKeys
    usage: Usage
    claims: AddressClaims


@asynccontextmanager
async def open_world(settings: Settings) -> AsyncIterator[World]:
    """Everything on the service's own database."""
    clock = SystemClock()
    async with (
        open_store(settings.database_path) as store,
        payments_of(settings, clock) as payments,
    ):
        operating = _operating(settings, store, clock, payments)
        yield World(
            clock=clock,
            data_dir=settings.data_dir,
            supporters=settings.supporters,
            accounts=operating.accounts,
            invitations=operating.invitations,
            rescue=Rescue(
                store=store,
                clock=clock,
                post=Post(
                    mailer=LogMailer(),
                    mails=Mails(settings.base_url),
                    token_bytes=secrets.token_bytes,
                ),
            ),
            apps=Apps(store=store, clock=clock),
            detection_keys=DetectionKeys(store=store, clock=clock, token_bytes=secrets.token_bytes),
            usage=Usage(store=store, clock=clock, plan=settings.detector_plan),
            claims=AddressClaims(store=store, clock=clock),
            printers=operating.printers,
            connections=operating.connections,
            operating=operating,
        )


def _operating(
    settings: Settings, store: SqlStore, clock: Clock, payments: Payments | None
) -> Operating:
    """What the operators' pages call, too."""
    token_bytes, passwords = secrets.token_bytes, Argon2Passwords()
    billing = Billing(
        store=store,
        clock=clock,
        caller_tries=CallerTries(clock),
        supporters=settings.supporters,
        base_url=settings.base_url,
        payments=payments,
    )
    tries = AccountTries(store, clock)
    return Operating(
        store=store,
        clock=clock,
        proof=Proof(clock=clock, passwords=passwords, account_tries=tries),
        accounts=Accounts(
            store=store,
            passwords=passwords,
            clock=clock,
            token_bytes=token_bytes,
            billing=billing,
        ),
        invitations=Invitations(
            store=store, clock=clock, token_bytes=token_bytes, base_url=settings.base_url
        ),
        printers=Printers(store=store, clock=clock),
        connections=Connections(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            addresses=settings.addresses,
            ports=settings.tunnel_ports,
        ),
        apps=OperatedApps(store=store, clock=clock),
        limits=AccountLimitCases(store=store, clock=clock),
        billing=billing,
        keys=DetectionKeys(store=store, clock=clock, token_bytes=token_bytes),
    )
