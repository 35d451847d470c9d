"""Usage of failure detection, and its cost. Amounts of money are exact decimals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

CALLS_A_PRINT_HOUR: Final = 180
"""One call every 20 seconds."""


class Tier(NamedTuple):
    """The price of a call up to a number of calls a month; up_to: None for all beyond."""

    up_to: int | None
    usd_a_call: Decimal


DEFAULT_TIERS: Final = (
    Tier(1_000_000, Decimal("0.0004")),
    Tier(20_000_000, Decimal("0.00025")),
    Tier(None, Decimal("0.00015")),
)


class Billing(StrEnum):
    """Whether an account pays for calls beyond its allowance."""

    OFF = "off"
    ON = "on"
    BLOCKED = "blocked"
    """It did not pay; its keys rest until the operator says otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The installation's offer. free_calls: for each calendar month and account.

    tiers: by what they are up to, the last one without end. offers_billing: accounts may switch it
    on themselves. free_only: for accounts that never said.
    """

    free_calls: int = 5000
    free_only: bool = True
    offers_billing: bool = False
    tiers: tuple[Tier, ...] = DEFAULT_TIERS


@dataclass(frozen=True, kw_only=True, slots=True)
class Switches:
    """The choices of an account. free_only: it never pays, whatever else is set."""

    free_only: bool = True
    billing: Billing = Billing.OFF

    @property
    def pays(self) -> bool:
        """Whether calls beyond the allowance are made, and charged."""
        return self.billing is Billing.ON and not self.free_only


def switches_of(chosen: Switches | None, plan: Plan) -> Switches:
    """Return what holds for an account. chosen: None where it never chose."""
    return Switches(free_only=plan.free_only) if chosen is None else chosen


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """Counts of answered calls; paid: those beyond the allowance."""

    all: int = 0
    paid: int = 0

    def __add__(self, other: "Calls") -> "Calls":
        return Calls(all=self.all + other.all, paid=self.paid + other.paid)


@dataclass(frozen=True, kw_only=True, slots=True)
class DayOfUse:
    """The calls of one key on one UTC day."""

    account_id: str
    key_id: str
    day: date
    calls: Calls


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A calendar month, in UTC."""

    year: int
    month: int

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"

    @property
    def first_day(self) -> date:
        return date(self.year, self.month, 1)

    @property
    def following(self) -> "Month":
        return Month(self.year + self.month // 12, self.month % 12 + 1)

    @property
    def days(self) -> list[date]:
        """All of them, in order."""
        count = (self.following.first_day - self.first_day).days
        return [self.first_day.replace(day=number) for number in range(1, count + 1)]


def month_of(at: datetime) -> Month:
    """Return the month of an instant."""
    there = at.astimezone(UTC)
    return Month(there.year, there.month)


def day_of(at: datetime) -> date:
    """Return the UTC day of an instant."""
    return at.astimezone(UTC).date()


def parse_month(text: str) -> Month | None:
    """`YYYY-MM`; None for anything else."""
    try:
        day = date.fromisoformat(f"{text}-01")
    except ValueError:
        return None
    month = Month(day.year, day.month)
    # 9999 has no month after its last.
    return month if str(month) == text and 2000 <= day.year < 9999 else None


def total(days: Iterable[DayOfUse]) -> Calls:
    """Return all their calls together."""
    return sum((day.calls for day in days), Calls())


def is_beyond_allowance(plan: Plan, so_far: int) -> bool:
    """Whether the free calls of this month are used up."""
    return so_far >= plan.free_calls


def cost_usd(plan: Plan, paid_calls: int) -> Decimal:
    """Return what the calls beyond the allowance of one month cost.

    Each tier prices its own part.
    """
    done, end, cost = plan.free_calls, plan.free_calls + paid_calls, Decimal(0)
    for tier in plan.tiers:
        here = end if tier.up_to is None else min(end, tier.up_to)
        if here > done:
            cost += (here - done) * tier.usd_a_call
            done = here
    return cost


def print_hours(calls: int) -> Decimal:
    """Return the same in hours of prints that are looked at every 20 seconds."""
    return Decimal(calls) / CALLS_A_PRINT_HOUR


def problem_with_tiers(tiers: Sequence[Tier]) -> str | None:
    """Return the end of a sentence where these cannot be the prices."""
    bounds = [tier.up_to for tier in tiers]
    if not bounds or bounds[-1] is not None:
        return "needs a last price, for all calls beyond"
    limits = [bound for bound in bounds[:-1] if bound is not None]
    if len(limits) != len(bounds) - 1 or limits != sorted(set(limits)):
        return "needs numbers of calls that grow"
    return None
