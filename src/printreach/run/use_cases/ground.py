"""What use cases of every subject stand on."""

import secrets
from dataclasses import dataclass

from printreach.backends.sql.store import SqlStore
from printreach.hub.identity.proof import Proof
from printreach.hub.post import Outbox, Post
from printreach.hub.print_mails import FirstPlace
from printreach.hub.tries import AccountTries, CallerTries
from printreach.ports import Clock, Passwords
from printreach.ports.payments import Payments
from printreach.rules.credentials import TokenBytes
from printreach.rules.mails import Mails
from printreach.run.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """There is one in a process: whoever counts tries counts them together with the others.

    payments: None where nothing is sold.
    """

    settings: Settings
    store: SqlStore
    clock: Clock
    token_bytes: TokenBytes
    passwords: Passwords
    payments: Payments | None
    post: Post
    first_place: FirstPlace
    account_tries: AccountTries
    caller_tries: CallerTries
    proof: Proof


def ground(
    settings: Settings,
    store: SqlStore,
    clock: Clock,
    passwords: Passwords,
    outbox: Outbox,
    payments: Payments | None,
    token_bytes: TokenBytes = secrets.token_bytes,
) -> Ground:
    """Lay it."""
    account_tries = AccountTries(store, clock)
    return Ground(
        settings=settings,
        store=store,
        clock=clock,
        token_bytes=token_bytes,
        passwords=passwords,
        payments=payments,
        post=Post(outbox=outbox, mails=Mails(settings.base_url), token_bytes=token_bytes),
        first_place=FirstPlace(token_bytes=token_bytes, has_mail_server=settings.has_mail_server),
        account_tries=account_tries,
        caller_tries=CallerTries(clock),
        proof=Proof(clock=clock, passwords=passwords, account_tries=account_tries),
    )
