"""The dependencies of the web role and the worker."""

import secrets
from dataclasses import dataclass

from printreach.hub.account_mailer import Outbox
from printreach.hub.core import Core
from printreach.ports import Bus, Clock
from printreach.ports.passwords import Passwords
from printreach.ports.payments import Payments
from printreach.ports.printer_http import HostKeys, PrinterHttp
from printreach.ports.relaying import DetectorStates
from printreach.ports.scoring import Scorer
from printreach.run.messaging import Messaging
from printreach.run.settings import Settings
from printreach.run.webhooks import WebhookDependencies
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependencies:
    """One per process; tests supply fakes.

    printers: reaches printers if a relay runs in this process. detector: is told the verdicts of
    the failure watch. payments: None if nothing is sold. host_keys: None without a relay.
    """

    settings: Settings
    core: Core
    bus: Bus
    printers: PrinterHttp
    messaging: Messaging
    webhooks: WebhookDependencies
    scorer: Scorer
    detector: DetectorStates
    payments: Payments | None = None
    host_keys: HostKeys | None = None


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
