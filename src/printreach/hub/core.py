"""What use cases of every feature need."""

from dataclasses import dataclass
from functools import cached_property

from printreach.hub.account_mailer import AccountMailer, Outbox
from printreach.hub.print_mails import DefaultMailDestination
from printreach.hub.reauthentication import Reauthentication
from printreach.hub.tries import AccountTries, CallerTries, KnownSessions
from printreach.limiters.shared_counts import SharedCounts
from printreach.ports import Clock
from printreach.ports.passwords import Passwords
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.accounts.mails import Mails
from printreach.rules.addresses import Addresses
from printreach.rules.connections.credentials import TokenBytes
from printreach.store.store import Store


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
