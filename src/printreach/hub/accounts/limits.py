"""The limits of accounts: operators decide them, and everything that counts asks for them."""

from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.hub.accounts import account_with
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.ports import Notice, Topic
from printreach.rules.accounts.limits import AccountLimits, LimitChanges, problem_with_limits
from printreach.rules.operators import Operator, OperatorAct
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.store.store import Records

REMEMBERED: Final = timedelta(seconds=30)
"""How long a page uses the limits it read; as long as a relay caches a grant."""
MAX_REMEMBERED: Final = 20_000
EVERYBODY: Final = "all accounts"


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountLimitCases:
    """The use cases about limits; operators decide them."""

    core: Core

    async def in_force(self, account_id: str) -> AccountLimits:
        """Return the limits in force for that account."""
        return await self.core.store.read(lambda records: records.limits.in_force(account_id))

    async def of_service(self) -> LimitChanges:
        """Return the limits that were decided for all accounts."""
        return await self.core.store.read(lambda records: records.limits.of_service())

    async def set_of_service(self, changes: LimitChanges, by: Operator) -> Denied | None:
        """Decide the limits of all accounts that have none of their own.

        Relays apply them within 30 s.
        """
        problem, at = problem_with_limits(changes), self.core.clock.now()
        if problem is not None:
            return Denied(Reason.INVALID, problem)

        async def put(records: Records) -> None:
            await records.limits.put_of_service(changes)
            await note(records, by, at, OperatorAct.LIMITS_CHANGED, EVERYBODY, _in_words(changes))

        await self.core.store.write(put)
        return None

    async def set_of_account(
        self, email: str, changes: LimitChanges, by: Operator
    ) -> Denied | None:
        """Decide the limits of one account."""
        problem, at = problem_with_limits(changes), self.core.clock.now()
        if problem is not None:
            return Denied(Reason.INVALID, problem)

        async def put(records: Records) -> Denied | None:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            await records.limits.put_of_account(account.account_id, changes)
            await records.notify(Notice(Topic.ACCOUNT, account.account_id), at)
            words = _in_words(changes)
            await note(records, by, at, OperatorAct.LIMITS_CHANGED, account.email, words)
            return None

        return await self.core.store.write(put)


@dataclass(slots=True)
class RequestLimits:
    """Limits how often an account may make requests; counted in memory.

    Each browser, app and access token of an account is counted by itself, and its detection keys
    together. So a program that makes too many requests, or a stolen one, never keeps the owner out:
    they can still revoke it.
    """

    core: Core
    _known: dict[str, tuple[datetime, Limit]] = field(default_factory=dict)

    async def take(self, account_id: str, by: str) -> TooSoon | None:
        """Count one request; None if it is allowed. by: the id of what makes it for the account."""
        return self.core.caller_tries.take(await self._limit(account_id), f"{account_id} {by}")

    def look(self, account_id: str, by: str) -> TooSoon | None:
        """Return what take() would, without counting, and without asking the store."""
        known = self._known.get(account_id)
        if known is None:
            return None
        return self.core.caller_tries.look(known[1], f"{account_id} {by}")

    async def _limit(self, account_id: str) -> Limit:
        at, known = self.core.clock.now(), self._known.get(account_id)
        if known is not None and abs(at - known[0]) < REMEMBERED:
            return known[1]
        limits = await self.core.store.read(lambda records: records.limits.in_force(account_id))
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        limit = requests_limit(limits.requests_a_minute)
        self._known[account_id] = at, limit
        return limit


def requests_limit(a_minute: int) -> Limit:
    """Allow that many at once, and as many again over a minute."""
    return Limit(name="request", at_once=a_minute, every=timedelta(minutes=1) / a_minute)


def _in_words(changes: LimitChanges) -> str:
    decided = [f"{name}={value}" for name, value in asdict(changes).items() if value is not None]
    return ", ".join(decided) or "the service's own"
