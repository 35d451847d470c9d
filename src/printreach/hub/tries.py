"""Limits on tries: by account, which survive a restart, and by network address, in memory."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.limiters.shared_counts import SharedCounts, Spent
from printreach.ports import Clock
from printreach.rules.accounts.sessions import Session
from printreach.rules.rate_limits import (
    Limit,
    TooSoon,
    networks_of,
    spent_elsewhere,
    take_all,
)
from printreach.store.store import Records, Store

SIGN_IN_BY_ACCOUNT: Final = Limit(name="sign-in", at_once=10, every=timedelta(minutes=1))
SIGN_IN_BY_ADDRESS: Final = Limit(name="sign-in", at_once=30, every=timedelta(seconds=20))
"""Holds off an attacker who tries passwords of many accounts from few addresses."""
PROOF_BY_SESSION: Final = Limit(name="proof", at_once=10, every=timedelta(minutes=1))
"""Passwords typed in a browser that is signed in. Nobody else can use it up."""
CODE_BY_ACCOUNT: Final = Limit(name="code", at_once=5, every=timedelta(minutes=5))
"""An attacker who guesses codes knows the password already. 3 codes of a million are valid, and 288
attempts a day are allowed."""
SIGN_UP_BY_ADDRESS: Final = Limit(name="sign-up", at_once=10, every=timedelta(minutes=5))
RESET_MAIL: Final = Limit(name="reset-mail", at_once=9, every=timedelta(minutes=10))
"""Nobody can fill another person's mailbox with our mails. Each kind of mail has its own limits, so
that requests for one kind do not block another."""
RESET_MAIL_BY_CALLER: Final = Limit(
    name="reset-mail-caller", at_once=3, every=timedelta(minutes=10)
)
SIGN_UP_MAIL: Final = Limit(name="sign-up-mail", at_once=9, every=timedelta(minutes=10))
SIGN_UP_MAIL_BY_CALLER: Final = Limit(
    name="sign-up-mail-caller", at_once=3, every=timedelta(minutes=10)
)
CHANGE_MAIL: Final = Limit(name="change-mail", at_once=9, every=timedelta(minutes=10))
CHANGE_MAIL_BY_CALLER: Final = Limit(
    name="change-mail-caller", at_once=3, every=timedelta(minutes=10)
)
RESET_BY_ADDRESS: Final = Limit(name="reset", at_once=10, every=timedelta(minutes=2))
PASSKEY_BY_ADDRESS: Final = Limit(name="passkey", at_once=30, every=timedelta(seconds=20))
PROVIDER_BY_ADDRESS: Final = Limit(name="provider", at_once=30, every=timedelta(seconds=20))
"""Sign-ins through the OpenID Connect provider; each may cause requests of ours to it."""
LINK_CODE_BY_ADDRESS: Final = Limit(name="link-code", at_once=30, every=timedelta(seconds=30))
"""In addition to the ten tries of an account, since an account costs nothing."""
INVITATION_BY_LINK: Final = Limit(name="invitation", at_once=10, every=timedelta(minutes=10))
"""Its form reveals whether an address has an account, so one link allows few tries."""
FORM_BY_ADDRESS: Final = Limit(name="form", at_once=120, every=timedelta(milliseconds=500))
"""Forms of callers who have not signed in, counted before they are read."""
UNKNOWN_SESSION_BY_ADDRESS: Final = Limit(
    name="unknown-session", at_once=60, every=timedelta(seconds=1)
)
"""Cookies of no session, each of which the store was asked for."""
LINK_BY_ADDRESS: Final = Limit(name="link", at_once=30, every=timedelta(seconds=20))
"""Links of mails and invitations: they cannot be guessed, but looking one up costs."""
MAX_CALLERS: Final = 50_000
"""In memory, about 10 MB; beyond that the least recently used are evicted."""
MAX_KNOWN_SESSIONS: Final = 20_000
"""In memory, about 6 MB; beyond that the least recently used are evicted."""


@dataclass(slots=True)
class CallerTries:
    """Limits tries of anonymous callers, who may be many; forgotten with the process.

    counts: with those of other nodes.
    """

    clock: Clock
    most: int = MAX_CALLERS
    counts: SharedCounts = field(default_factory=SharedCounts)
    _busy_until: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts.on_spent(self._spent_elsewhere)

    @property
    def remembered(self) -> int:
        """Return how many callers are remembered."""
        return len(self._busy_until)

    def take(self, limit: Limit, who: str) -> TooSoon | None:
        """Count one try; None if it is allowed."""
        return self._take_all([(limit, who)])

    def look(self, limit: Limit, who: str) -> TooSoon | None:
        """Return what take() would, without counting."""
        return self._take_all([(limit, who)], is_counted=False)

    def look_by_address(self, limit: Limit, address: str) -> TooSoon | None:
        """Return what take_by_address() would, without counting."""
        return self._take_all(_by_network(limit, address), is_counted=False)

    def take_by_address(
        self, limit: Limit, address: str, at: str = "", *, of_all: Limit | None = None
    ) -> TooSoon | None:
        """Count one try for the networks that the address is in.

        at: what the tries are made at, if each is counted by itself. of_all: the limit of all
        addresses together, if there is one.
        """
        wanted = _by_network(limit, address, at)
        return self._take_all([*wanted, (of_all, "")] if of_all is not None else wanted)

    def _take_all(
        self, wanted: list[tuple[Limit, str]], *, is_counted: bool = True
    ) -> TooSoon | None:
        at = self.clock.now()
        keys = [(limit.name, who) for limit, who in wanted]
        limits = [limit for limit, _ in wanted]
        known = [self._busy_until.get(key) for key in keys]
        result = take_all(zip(limits, known, strict=True), at)
        if isinstance(result, TooSoon):
            return result
        for key, limit, allowed in zip(keys, limits, result, strict=True) if is_counted else ():
            self._remember(key, allowed.busy_until, at)
            self.counts.spend(*key, limit.every.total_seconds(), limit.most.total_seconds())
        return None

    def _spent_elsewhere(self, spent: Spent) -> None:
        at, key = self.clock.now(), (spent.limit, spent.who)
        used, most = timedelta(seconds=spent.used_s), timedelta(seconds=spent.most_s)
        self._remember(key, spent_elsewhere(self._busy_until.get(key), used, most, at), at)

    def _remember(self, key: tuple[str, str], busy_until: datetime, at: datetime) -> None:
        # The most recently used come last.
        self._busy_until.pop(key, None)
        if len(self._busy_until) >= self.most:
            self._make_room(at)
        self._busy_until[key] = busy_until

    def _make_room(self, at: datetime) -> None:
        living = {key: until for key, until in self._busy_until.items() if until > at}
        if len(living) >= self.most:
            by_end = sorted(living, key=living.__getitem__)
            for key in by_end[: self.most // 10]:
                del living[key]
        self._busy_until = living


@dataclass(slots=True)
class KnownSessions:
    """Accounts and sessions by the digests of their tokens, as they were last looked up.

    It opens nothing. It tells the share that a request takes, and whether its limit is reached,
    before the store is asked.
    """

    _known: OrderedDict[bytes, tuple[str, str]] = field(default_factory=OrderedDict, repr=False)

    def get(self, token_digest: bytes) -> tuple[str, str] | None:
        """Return the ids of account and session."""
        return self._known.get(token_digest)

    def note(self, token_digest: bytes, session: Session) -> None:
        self._known[token_digest] = session.account_id, session.session_id
        self._known.move_to_end(token_digest)
        if len(self._known) > MAX_KNOWN_SESSIONS:
            self._known.popitem(last=False)

    def forget(self, token_digest: bytes) -> None:
        self._known.pop(token_digest, None)


@dataclass(frozen=True, slots=True)
class AccountTries:
    """Limits tries on one account or mail address, whether it exists or not; they survive a
    restart."""

    store: Store
    clock: Clock

    async def take(self, limit: Limit, who: str) -> TooSoon | None:
        """Count one try; None if it is allowed."""
        return await self.take_all([(limit, who)])

    async def take_all(self, wanted: Sequence[tuple[Limit, str]]) -> TooSoon | None:
        """Count one try against each of these limits; None if all allow it."""
        at = self.clock.now()
        keys = [_key(limit, who) for limit, who in wanted]

        async def look_and_note(records: Records) -> TooSoon | None:
            known = [await records.tries.busy_until(key) for key in keys]
            limits = [limit for limit, _ in wanted]
            result = take_all(zip(limits, known, strict=True), at)
            if isinstance(result, TooSoon):
                return result
            for key, allowed in zip(keys, result, strict=True):
                await records.tries.set_busy_until(key, allowed.busy_until, at)
            return None

        return await self.store.write(look_and_note)

    async def forget(self, limit: Limit, who: str) -> None:
        """Forget earlier failures, since the right one was tried."""
        await self.store.write(lambda records: records.tries.forget(_key(limit, who)))


def _by_network(limit: Limit, address: str, at: str = "") -> list[tuple[Limit, str]]:
    return [(network.scaled(limit), f"{network.name} {at}") for network in networks_of(address)]


def _key(limit: Limit, who: str) -> str:
    """Return a hash: what people type may be long, or a password by mistake."""
    return f"{limit.name}:{hashlib.sha256(who.encode()).hexdigest()}"
