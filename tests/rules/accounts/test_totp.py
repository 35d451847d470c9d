"""One-time codes and recovery codes."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from printreach.rules.accounts.second_factors import (
    Totp,
    code_of,
    is_waiting,
    key_uri,
    new_recovery_codes,
    new_totp,
    parse_recovery_code,
    secret_in_words,
    spaced,
    step_at,
    step_of_code,
)
from printreach.rules.connections.credentials import LINK_CODE_ALPHABET

# RFC 6238, appendix B; its eight digits end in the six that we show.
RFC_SECRET = b"12345678901234567890"
RFC_CODES = [
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
]
APP = Totp(secret=RFC_SECRET, confirmed_at=None, last_step=0)
AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "code"), RFC_CODES)
def test_the_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    at = datetime.fromtimestamp(seconds, UTC)

    assert code_of(RFC_SECRET, step_at(at)) == code[-6:]


@pytest.mark.parametrize(("off", "counts"), [(-60, False), (-30, True), (30, True), (60, False)])
def test_a_phone_may_be_half_a_minute_off(off: int, counts: bool) -> None:
    code = code_of(RFC_SECRET, step_at(AT + timedelta(seconds=off)))

    assert (step_of_code(APP, code, AT) is not None) is counts


def test_a_code_that_was_used_and_those_before_it_work_no_more() -> None:
    now = step_at(AT)
    used = Totp(secret=RFC_SECRET, confirmed_at=AT, last_step=now)

    assert step_of_code(used, code_of(RFC_SECRET, now), AT) is None
    assert step_of_code(used, code_of(RFC_SECRET, now - 1), AT) is None
    assert step_of_code(used, code_of(RFC_SECRET, now + 1), AT) == now + 1


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "\0" * 6])
def test_what_is_no_code_is_wrong(typed: str) -> None:
    assert step_of_code(APP, typed, AT) is None


def test_a_code_may_be_typed_with_a_blank() -> None:
    code = code_of(RFC_SECRET, step_at(AT))

    assert step_of_code(APP, f" {code[:3]} {code[3:]}", AT) == step_at(AT)


def test_a_new_secret_waits_ten_minutes_for_the_code_of_its_own_time() -> None:
    totp = new_totp(RFC_SECRET, AT)
    code = code_of(RFC_SECRET, step_at(AT))

    assert step_of_code(totp, code, AT) == step_at(AT)
    assert is_waiting(totp, AT)
    assert is_waiting(totp, AT + timedelta(minutes=9))
    assert not is_waiting(totp, AT + timedelta(minutes=10))
    assert not is_waiting(replace(totp, confirmed_at=AT), AT)


def test_an_app_reads_the_secret_from_the_address() -> None:
    assert key_uri(RFC_SECRET, "ada+a b@example.org", "Printreach") == (
        "otpauth://totp/Printreach%3Aada%2Ba%20b%40example.org"
        f"?secret={secret_in_words(RFC_SECRET)}&issuer=Printreach"
    )


def test_ten_recovery_codes_come_at_a_time_and_are_read_in_any_spelling() -> None:
    codes = new_recovery_codes(Random(1).randbytes)

    assert len(set(codes)) == 10
    assert all(len(code) * math.log2(len(LINK_CODE_ALPHABET)) >= 80 for code in codes)
    for code in codes:
        assert parse_recovery_code(spaced(code).lower()) == code


def test_recovery_codes_of_twelve_letters_that_people_still_have_are_read() -> None:
    assert parse_recovery_code("acde-fghj-kmnp") == "ACDEFGHJKMNP"


@pytest.mark.parametrize("typed", ["", "ABCD", "O" * 20, "A" * 13, "A" * 21, "123456"])
def test_what_cannot_be_a_recovery_code_is_none(typed: str) -> None:
    assert parse_recovery_code(typed) is None
