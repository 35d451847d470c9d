"""Reauthentication of an account's owner, before what cannot be undone."""

from dataclasses import dataclass
from typing import Final

from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import PROOF_BY_SESSION, AccountTries
from printreach.languages import N_
from printreach.ports import Clock
from printreach.ports.passwords import Passwords
from printreach.rules.accounts import Account
from printreach.rules.accounts.passwords import MAX_PASSWORD_LENGTH
from printreach.rules.accounts.sessions import Session, is_fresh
from printreach.rules.rate_limits import TooSoon, widest_network_of

WRONG_PASSWORD: Final = Denied(Reason.WRONG_CREDENTIALS, N_("That is not your password."))
NOT_FRESH: Final = Denied(
    Reason.WRONG_CREDENTIALS, N_("Sign out and in again, then do this within ten minutes.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reauthentication:
    """Asks for the password, since somebody else may be using a browser that is signed in."""

    clock: Clock
    passwords: Passwords
    account_tries: AccountTries

    async def of_owner(
        self, account: Account, session: Session, password: str
    ) -> Denied | TooSoon | None:
        """Return None if the password is right, or there is none and the sign-in is recent."""
        if not account.password_hash:
            return None if is_fresh(session, self.clock.now()) else NOT_FRESH
        who = f"{account.account_id} {session.session_id}"
        refused = await self.account_tries.take(PROOF_BY_SESSION, who)
        if refused is not None:
            return refused
        typed = password[: MAX_PASSWORD_LENGTH + 1]
        network = widest_network_of(session.address)
        if not await self.passwords.matches(typed, account.password_hash, network):
            return WRONG_PASSWORD
        await self.account_tries.forget(PROOF_BY_SESSION, who)
        return None
