"""Who is a supporter, and what is an address."""

from datetime import UTC, datetime, timedelta

import pytest

from printreach.rules.accounts import (
    SupporterPolicy,
    email_key,
    is_supporter,
    read_email,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def has_perks(
    policy: SupporterPolicy,
    *,
    granted: bool = False,
    until: datetime | None = None,
    paid_until: datetime | None = None,
) -> bool:
    return is_supporter(policy, granted=granted, until=until, paid_until=paid_until, at=NOON)


def test_where_everyone_is_a_supporter_nobody_needs_a_grant() -> None:
    assert has_perks(SupporterPolicy.EVERYONE)
    assert not has_perks(SupporterPolicy.GRANTED)


def test_a_grant_without_an_end_lasts() -> None:
    assert has_perks(SupporterPolicy.GRANTED, granted=True)


def test_a_grant_ends_at_its_instant() -> None:
    moment = timedelta(microseconds=1)

    assert has_perks(SupporterPolicy.GRANTED, granted=True, until=NOON + moment)
    assert not has_perks(SupporterPolicy.GRANTED, granted=True, until=NOON)


def test_who_paid_is_a_supporter_until_that_instant() -> None:
    moment = timedelta(microseconds=1)

    assert has_perks(SupporterPolicy.GRANTED, paid_until=NOON + moment)
    assert not has_perks(SupporterPolicy.GRANTED, paid_until=NOON)


def test_a_grant_counts_though_what_was_paid_is_over() -> None:
    assert has_perks(SupporterPolicy.GRANTED, granted=True, paid_until=NOON)


@pytest.mark.parametrize("typed", ["ada@example.org", "  ada@example.org\n", "ada+3d@localhost"])
def test_an_address_is_taken_without_the_blanks_around_it(typed: str) -> None:
    assert read_email(typed) == typed.strip()


@pytest.mark.parametrize(
    "typed",
    ["", "ada", "@example.org", "ada@", "a da@example.org", "ada@.org", "a\x00@b", "a" * 300],
)
def test_what_cannot_be_an_address_is_refused(typed: str) -> None:
    assert read_email(typed) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ada@Example.org", "ada@example.ORG"), ("e\u0301@x.org", "\u00c9@x.org")],
)
def test_addresses_that_differ_in_case_alone_are_the_same(one: str, other: str) -> None:
    first, second = read_email(one), read_email(other)
    assert first is not None
    assert second is not None

    assert email_key(first) == email_key(second)
