"""What people do with an account of their own."""

from printreach.hub.access_tokens import AccessTokens
from printreach.hub.account_data import AccountData
from printreach.hub.accounts import Accounts
from printreach.hub.identity.owner import Owner
from printreach.hub.identity.passkeys import Passkeys
from printreach.hub.remote_lock import RemoteLock
from printreach.ports.printer_http import PrinterHttp
from printreach.run.use_cases.ground import Ground


def owner(ground: Ground) -> Owner:
    """Its address, password and authenticator app."""
    return Owner(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        passwords=ground.passwords,
        proof=ground.proof,
        post=ground.post,
        account_tries=ground.account_tries,
    )


def account_data(ground: Ground, accounts: Accounts) -> AccountData:
    """Handed over, and deleted."""
    return AccountData(
        store=ground.store,
        clock=ground.clock,
        accounts=accounts,
        proof=ground.proof,
        post=ground.post,
    )


def remote_lock(ground: Ground, http: PrinterHttp, passkeys: Passkeys) -> RemoteLock:
    """Of its printers."""
    return RemoteLock(
        store=ground.store,
        clock=ground.clock,
        http=http,
        proof=ground.proof,
        passkeys=passkeys,
        post=ground.post,
    )


def access_tokens(ground: Ground) -> AccessTokens:
    """For programs of their own."""
    return AccessTokens(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        proof=ground.proof,
        post=ground.post,
    )
