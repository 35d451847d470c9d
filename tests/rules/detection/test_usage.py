"""The cost of calls, to the last digit, and the month that they belong to."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from printreach.rules.detection.usage import (
    DEFAULT_TIERS,
    Billing,
    Calls,
    DayOfUse,
    Month,
    Plan,
    Switches,
    Tier,
    cost_usd,
    is_beyond_allowance,
    month_of,
    parse_month,
    print_hours,
    problem_with_tiers,
    total,
)

PLAN = Plan()


@pytest.mark.parametrize(
    ("calls", "usd"),
    [
        (5_000, "0"),
        (5_001, "0.0004"),
        (12_345, "2.938"),
        (999_999, "397.9996"),
        (1_000_000, "398"),
        (1_000_001, "398.00025"),
        (19_999_999, "5147.99975"),
        (20_000_000, "5148"),
        (20_000_001, "5148.00015"),
        (1_000_000_000_003, "150002148.00045"),
    ],
)
def test_each_tier_prices_its_own_part_exactly(calls: int, usd: str) -> None:
    assert cost_usd(PLAN, calls - PLAN.free_calls) == Decimal(usd)


def test_an_allowance_above_a_tier_skips_it() -> None:
    plan = Plan(free_calls=1_500_000)

    assert cost_usd(plan, 2) == Decimal("0.0005")
    assert cost_usd(plan, 0) == 0


def test_an_operator_sets_other_prices() -> None:
    plan = Plan(free_calls=0, tiers=(Tier(10, Decimal("0.1")), Tier(None, Decimal("0.01"))))

    assert cost_usd(plan, 10) == 1
    assert cost_usd(plan, 13) == Decimal("1.03")


@pytest.mark.parametrize(
    ("so_far", "is_beyond"), [(0, False), (4_999, False), (5_000, True), (5_001, True)]
)
def test_the_allowance_is_so_many_calls_and_not_one_more(so_far: int, is_beyond: bool) -> None:
    assert is_beyond_allowance(PLAN, so_far) is is_beyond


@pytest.mark.parametrize(
    ("switches", "pays"),
    [
        (Switches(), False),
        (Switches(billing=Billing.ON), False),
        (Switches(free_only=False), False),
        (Switches(free_only=False, billing=Billing.BLOCKED), False),
        (Switches(free_only=False, billing=Billing.ON), True),
    ],
)
def test_only_billing_on_and_free_only_off_pay(switches: Switches, pays: bool) -> None:
    assert switches.pays is pays


@pytest.mark.parametrize(
    ("calls", "hours"), [(0, "0"), (45, "0.25"), (90, "0.5"), (180, "1"), (5_400, "30")]
)
def test_180_calls_are_one_print_hour(calls: int, hours: str) -> None:
    assert print_hours(calls) == Decimal(hours)


@pytest.mark.parametrize(
    ("at", "month"),
    [
        (datetime(2026, 1, 31, 23, 59, 59, 999_999, UTC), Month(2026, 1)),
        (datetime(2026, 2, 1, tzinfo=UTC), Month(2026, 2)),
        (datetime(2026, 2, 1, 1, tzinfo=timezone(timedelta(hours=2))), Month(2026, 1)),
    ],
)
def test_months_begin_at_midnight_in_utc(at: datetime, month: Month) -> None:
    assert month_of(at) == month


def test_months_follow_each_other_over_the_year() -> None:
    assert Month(2026, 12).following == Month(2027, 1)
    assert Month(2024, 2).days[-1] == date(2024, 2, 29)
    assert len(Month(2026, 12).days) == 31


@pytest.mark.parametrize("text", ["2026-05", "2000-01", "9998-12"])
def test_a_month_is_read_as_it_is_written(text: str) -> None:
    assert str(parse_month(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "2026", "2026-00", "2026-13", "2026-5", "26-05", "2026-05-01", "1999-12"),
        *("9999-12", "2026-W01", "202605", "x", "2026-05\n", "\N{FULLWIDTH DIGIT TWO}026-05"),
    ],
)
def test_what_is_no_month_is_none(text: str) -> None:
    assert parse_month(text) is None


def test_days_are_added_up() -> None:
    day = DayOfUse(account_id="ada", key_id="k", day=date(2026, 5, 1), calls=Calls(all=3, paid=1))

    assert total([day, day]) == Calls(all=6, paid=2)
    assert total([]) == Calls()


def test_the_prices_of_the_interface_are_prices() -> None:
    assert problem_with_tiers(DEFAULT_TIERS) is None


@pytest.mark.parametrize(
    "bounds", [(), (10,), (None, None), (None, 10), (10, 10, None), (20, 10, None)]
)
def test_prices_need_growing_bounds_and_a_last_one_for_all_beyond(
    bounds: tuple[int | None, ...],
) -> None:
    assert problem_with_tiers([Tier(bound, Decimal(1)) for bound in bounds]) is not None
