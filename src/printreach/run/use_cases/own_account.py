"""Composition of the use cases about a person's own account."""

from printreach.hub.access_tokens import AccessTokens
from printreach.hub.account_data import AccountData
from printreach.hub.accounts import Accounts
from printreach.hub.identity.owner import Owner
from printreach.hub.identity.passkeys import Passkeys
from printreach.hub.remote_lock import RemoteLock
from printreach.ports.printer_http import PrinterHttp
from printreach.run.use_cases.core import CoreServices


def owner(core: CoreServices) -> Owner:
    """Build the use case that changes address, password and authenticator app."""
    return Owner(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        passwords=core.passwords,
        proof=core.proof,
        account_mailer=core.account_mailer,
        account_tries=core.account_tries,
    )


def account_data(core: CoreServices, accounts: Accounts) -> AccountData:
    """Build the use case that exports and deletes an account's data."""
    return AccountData(
        store=core.store,
        clock=core.clock,
        accounts=accounts,
        proof=core.proof,
        account_mailer=core.account_mailer,
    )


def remote_lock(core: CoreServices, http: PrinterHttp, passkeys: Passkeys) -> RemoteLock:
    """Build the use case that locks remote control of an account's printers."""
    return RemoteLock(
        store=core.store,
        clock=core.clock,
        http=http,
        proof=core.proof,
        passkeys=passkeys,
        account_mailer=core.account_mailer,
    )


def access_tokens(core: CoreServices) -> AccessTokens:
    """Build the use case of access tokens, for a person's own programs."""
    return AccessTokens(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        proof=core.proof,
        account_mailer=core.account_mailer,
    )
