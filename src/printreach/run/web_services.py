"""The use cases of the web role, composed."""

import secrets

from printreach.backends.clock import SystemClock
from printreach.backends.passwords import Argon2Passwords
from printreach.backends.sql.store import SqlStore
from printreach.hub.accounts import Accounts
from printreach.hub.connections import Connections
from printreach.hub.printers import Printers
from printreach.hub.sessions import Sessions
from printreach.hub.signing_in import SigningIn
from printreach.hub.tries import AccountTries, CallerTries
from printreach.ports import Clock, Passwords
from printreach.run.settings import Settings
from printreach.web.services import Services


def web_services(
    settings: Settings,
    store: SqlStore,
    *,
    clock: Clock | None = None,
    passwords: Passwords | None = None,
) -> Services:
    """Everything on that store. clock, passwords: tests have their own."""
    clock, passwords = clock or SystemClock(), passwords or Argon2Passwords()
    token_bytes = secrets.token_bytes
    sessions = Sessions(store=store, clock=clock, token_bytes=token_bytes)
    account_tries, caller_tries = AccountTries(store, clock), CallerTries(clock)
    return Services(
        store=store,
        clock=clock,
        accounts=Accounts(store=store, passwords=passwords, clock=clock, token_bytes=token_bytes),
        sessions=sessions,
        signing_in=SigningIn(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            passwords=passwords,
            sessions=sessions,
            account_tries=account_tries,
            caller_tries=caller_tries,
        ),
        account_tries=account_tries,
        caller_tries=caller_tries,
        printers=Printers(store=store, clock=clock),
        connections=Connections(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            addresses=settings.addresses,
            ports=settings.tunnel_ports,
        ),
    )
