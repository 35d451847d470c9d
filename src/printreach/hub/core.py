"""What use cases of every feature need, and how an owner is asked to prove who they are again."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from printreach.hub.account_mailer import AccountMailer, Outbox
from printreach.hub.denied import Denied, Reason
from printreach.hub.print_mails import DefaultMailDestination
from printreach.hub.tries import PROOF_BY_SESSION, AccountTries, CallerTries, KnownSessions
from printreach.languages import N_
from printreach.limiters.shared_counts import SharedCounts
from printreach.ports import Clock
from printreach.ports.signing_in import Passwords
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.accounts.mails import Mails
from printreach.rules.accounts.passwords import MAX_PASSWORD_LENGTH
from printreach.rules.accounts.sessions import Session, is_fresh
from printreach.rules.addresses import Addresses
from printreach.rules.connections.credentials import TokenBytes
from printreach.rules.rate_limits import TooSoon, widest_network_of
from printreach.store.store import Store

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


@dataclass(frozen=True, kw_only=True)
class Core:
    """One per process, so that all use cases count tries together.

    outbox: the queue of mails about accounts. has_mail_server: without one, mails are only written
    to the log, which the operator reads.
    """

    store: Store
    clock: Clock
    token_bytes: TokenBytes
    passwords: Passwords
    outbox: Outbox
    addresses: Addresses
    supporters: SupporterPolicy
    has_mail_server: bool

    @cached_property
    def counts(self) -> SharedCounts:
        """What this process counts together with other nodes."""
        return SharedCounts()

    @cached_property
    def account_mailer(self) -> AccountMailer:
        return AccountMailer(
            outbox=self.outbox, mails=Mails(self.addresses.base_url), token_bytes=self.token_bytes
        )

    @cached_property
    def default_mail_destination(self) -> DefaultMailDestination:
        return DefaultMailDestination(
            token_bytes=self.token_bytes, has_mail_server=self.has_mail_server
        )

    @cached_property
    def account_tries(self) -> AccountTries:
        return AccountTries(self.store, self.clock)

    @cached_property
    def caller_tries(self) -> CallerTries:
        return CallerTries(self.clock, counts=self.counts)

    @cached_property
    def known_sessions(self) -> KnownSessions:
        return KnownSessions()

    @cached_property
    def proof(self) -> Reauthentication:
        return Reauthentication(
            clock=self.clock, passwords=self.passwords, account_tries=self.account_tries
        )
