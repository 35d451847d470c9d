"""The services that use cases of every feature need."""

import secrets
from dataclasses import dataclass

from printreach.hub.account_mailer import AccountMailer, Outbox
from printreach.hub.identity.proof import Reauthentication
from printreach.hub.print_mails import DefaultMailDestination
from printreach.hub.tries import AccountTries, CallerTries
from printreach.ports import Clock
from printreach.ports.passwords import Passwords
from printreach.ports.payments import Payments
from printreach.rules.credentials import TokenBytes
from printreach.rules.mails import Mails
from printreach.run.settings import Settings
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreServices:
    """One per process, so that all use cases count tries together.

    payments: None if nothing is sold.
    """

    settings: Settings
    store: Store
    clock: Clock
    token_bytes: TokenBytes
    passwords: Passwords
    payments: Payments | None
    account_mailer: AccountMailer
    default_mail_destination: DefaultMailDestination
    account_tries: AccountTries
    caller_tries: CallerTries
    proof: Reauthentication


def core_services(
    settings: Settings,
    store: Store,
    clock: Clock,
    passwords: Passwords,
    outbox: Outbox,
    payments: Payments | None,
    token_bytes: TokenBytes = secrets.token_bytes,
) -> CoreServices:
    """Build the core services."""
    account_tries = AccountTries(store, clock)
    return CoreServices(
        settings=settings,
        store=store,
        clock=clock,
        token_bytes=token_bytes,
        passwords=passwords,
        payments=payments,
        account_mailer=AccountMailer(
            outbox=outbox, mails=Mails(settings.base_url), token_bytes=token_bytes
        ),
        default_mail_destination=DefaultMailDestination(
            token_bytes=token_bytes, has_mail_server=settings.has_mail_server
        ),
        account_tries=account_tries,
        caller_tries=CallerTries(clock),
        proof=Reauthentication(clock=clock, passwords=passwords, account_tries=account_tries),
    )
