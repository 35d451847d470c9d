"""Supporter status, and valid mail addresses."""

from datetime import UTC, datetime, timedelta
from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.accounts import (
    SupporterPolicy,
    email_key,
    is_supporter,
    parse_email,
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
    assert parse_email(typed) == typed.strip()


@pytest.mark.parametrize(
    "typed",
    [
        *("", "ada", "@example.org", "ada@", "a da@example.org", "ada@.org", "a\x00@b", "a" * 300),
        *("a@x.example,b@y.example", "a@x;b@y", "x<a@y.example", "x<a@y.example>", "a:b@c"),
        *("a(b)@c", "a@c(b)", "a@b@c", '"a"@b', '"a b"@c', "a\\b@c", "a@[192.0.2.1]", "a[@b"),
        *("a\r\nBcc: b@c", "a\u200b@b", "a\u202e@b", "a\u2028@b", "a@b\u00ad", "a\ud800@b"),
        *(".a@b", "a.@b", "a..b@c", "a@b.", "a@b..c", "a@-b", "a@b-.c", "a@b_c", f"a@{'b' * 64}"),
        *("a@b\uff0ec", "a@\uff42", "a@b\u3002c", "a@b/c", "a@b,c"),
    ],
)
def test_what_cannot_be_an_address_is_refused(typed: str) -> None:
    assert parse_email(typed) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada@Example.org", "ada@example.ORG"),
        ("e\u0301@x.org", "\u00c9@x.org"),
        ("ada@b\u00fccher.example", "ada@XN--BCHER-KVA.example"),
    ],
)
def test_every_spelling_of_a_mailbox_is_the_same(one: str, other: str) -> None:
    first, second = parse_email(one), parse_email(other)
    assert first is not None
    assert second is not None

    assert email_key(first) == email_key(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("stra\u00dfe@x.org", "strasse@x.org"),
        ("a@stra\u00dfe.example", "a@strasse.example"),
        ("\ufb01@x.org", "fi@x.org"),
        ("a@xn--.example", "a@.example"),
        ("a@xn--example-.org", "a@example.org"),
    ],
)
def test_mailboxes_of_other_letters_are_not_the_same(one: str, other: str) -> None:
    assert email_key(one) != email_key(other)


@pytest.mark.parametrize(
    "typed",
    ["o'brien+3d@example.org", "a.b-c_d!#$%&*/=?^`{|}~@x", "\u00e9l\u00e8ve@b\u00fccher.example"],
)
def test_what_providers_hand_out_is_taken(typed: str) -> None:
    assert parse_email(typed) == typed


@given(st.text(max_size=80))
def test_an_address_that_is_taken_has_one_spelling_and_one_mailbox(text: str) -> None:
    email = parse_email(text)
    if email is None:
        return

    assert parse_email(email) == email
    assert email.count("@") == 1
    assert email_key(email_key(email)) == email_key(email)
    assert not set(email) & set(',;:<>()[]"\\ ')


@given(st.from_regex(r"[a-z\u00c0-\u024f.,<>@ -]{1,20}@[a-z\u00c0-\u024f.,<>@-]{1,20}"))
def test_a_mail_program_reads_the_same_single_mailbox(text: str) -> None:
    email = parse_email(text)
    if email is None or not email.isascii():
        return

    assert getaddresses([email]) == [("", email)]
