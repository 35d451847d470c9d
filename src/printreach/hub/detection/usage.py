"""What an account used failure detection for, and what it chose about paying."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from printreach.hub.accounts import account_with
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.detection.usage import (
    Billing,
    Calls,
    DayOfUse,
    Month,
    Plan,
    Switches,
    cost_usd,
    month_of,
    switches_of,
    total,
)
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthOfUse:
    """A calendar month of an account.

    by_day: every day of the month. by_key: by the keys' names. months: others with use, and the
    present one, the newest first.
    """

    month: Month
    is_present: bool
    calls: Calls
    by_day: Mapping[date, int]
    by_key: Sequence[tuple[str, int]]
    months: Sequence[Month]
    cost_usd: Decimal
    plan: Plan
    switches: Switches


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The use cases about usage."""

    core: Core
    plan: Plan

    async def month(self, account_id: str, month: Month | None = None) -> MonthOfUse:
        """Return the recorded use. month: None for the present one."""
        return await self.core.store.read(lambda records: self._month(records, account_id, month))

    async def month_of(self, email: str, month: Month | None = None) -> MonthOfUse | Denied:
        """Return the recorded use, as an operator."""

        async def look(records: Records) -> MonthOfUse | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            return await self._month(records, account.account_id, month)

        return await self.core.store.read(look)

    async def set_free_only(self, account_id: str, *, free_only: bool) -> None:
        """Set whether the account never pays, whatever else is set."""

        async def change(records: Records) -> None:
            switches = await self._switches(records, account_id)
            await records.detection_switches.put(account_id, replace(switches, free_only=free_only))

        await self.core.store.write(change)

    async def set_billing(self, account_id: str, *, on: bool) -> Denied | None:
        """Set whether the account pays for calls beyond its allowance."""

        async def change(records: Records) -> Denied | None:
            switches = await self._switches(records, account_id)
            if switches.billing is Billing.BLOCKED:
                return Denied(
                    Reason.INVALID, N_("A payment failed. Ask the operator of this service.")
                )
            if on and not self.plan.offers_billing:
                return Denied(Reason.INVALID, N_("This service does not bill for calls."))
            billing = Billing.ON if on else Billing.OFF
            await records.detection_switches.put(account_id, replace(switches, billing=billing))
            return None

        return await self.core.store.write(change)

    async def set_billing_of(self, email: str, billing: Billing, by: Operator) -> Switches | Denied:
        """Set an account's billing as an operator, whatever is offered and was set before."""
        at = self.core.clock.now()

        async def change(records: Records) -> Switches | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            switches = await self._switches(records, account.account_id)
            changed = replace(switches, billing=billing)
            await records.detection_switches.put(account.account_id, changed)
            await note(records, by, at, OperatorAct.BILLING_CHANGED, account.email, billing)
            return changed

        return await self.core.store.write(change)

    async def _switches(self, records: Records, account_id: str) -> Switches:
        return switches_of(await records.detection_switches.get(account_id), self.plan)

    async def _month(self, records: Records, account_id: str, asked: Month | None) -> MonthOfUse:
        present = month_of(self.core.clock.now())
        month = asked or present
        days = await records.detection_usage.of_month(account_id, month)
        names = {
            key.key_id: key.name for key in await records.detection_keys.of_account(account_id)
        }
        months = {present, *await records.detection_usage.months(account_id)}
        calls = total(days)
        return MonthOfUse(
            month=month,
            is_present=month == present,
            calls=calls,
            by_day=_by_day(month, days),
            by_key=_by_key(days, names),
            months=sorted(months, reverse=True),
            cost_usd=cost_usd(self.plan, calls.paid),
            plan=self.plan,
            switches=await self._switches(records, account_id),
        )


def _by_day(month: Month, days: Sequence[DayOfUse]) -> dict[date, int]:
    calls = dict.fromkeys(month.days, 0)
    for day in days:
        calls[day.day] += day.calls.all
    return calls


def _by_key(days: Sequence[DayOfUse], names: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return the use by key, the busiest first. A key that was deleted has no name any more."""
    calls: dict[str, int] = {}
    for day in days:
        calls[day.key_id] = calls.get(day.key_id, 0) + day.calls.all
    busiest = sorted(calls.items(), key=lambda item: (-item[1], item[0]))
    return [(names.get(key_id, N_("A key of before")), count) for key_id, count in busiest]
