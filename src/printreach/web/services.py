"""The use cases that pages and APIs call, all in one place."""

from dataclasses import dataclass

from printreach.hub.accounts import Accounts
from printreach.hub.connections import Connections
from printreach.hub.printers import Printers
from printreach.hub.sessions import Sessions
from printreach.hub.signing_in import SigningIn
from printreach.hub.tries import AccountTries, CallerTries
from printreach.ports import Clock, Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """What `run` puts together, and a route asks for by the name `services`."""

    store: Store
    clock: Clock
    accounts: Accounts
    sessions: Sessions
    signing_in: SigningIn
    account_tries: AccountTries
    caller_tries: CallerTries
    printers: Printers
    connections: Connections
