"""Passwords that people may choose, and the reasons against others."""

import pytest

from printreach.backends.passwords import is_common
from printreach.rules.accounts.passwords import problem_with_password

EMAIL = "ada.lovelace@example.org"


def problem(password: str, email: str = EMAIL) -> str | None:
    return problem_with_password(password, email, is_common)


def test_a_short_password_is_refused_with_a_sentence() -> None:
    assert problem("7 chars") == "A password has at least 8 characters."
    assert problem("8 chars!") is None


def test_a_password_has_an_upper_bound() -> None:
    assert problem("ab 12" * 205) == "A password has at most 1024 characters."


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "Password",
        "12345678",
        "qwertyuiop",
        "sunshine",
        "iloveyou1",
        "PASSWORD1",
        "Password123!",
        "password!!!!",
        "sunshine2026",
        "1q2w3e4r",
        "changeme",
        "letmein1",
    ],
)
def test_a_common_password_is_refused_also_with_a_few_digits_behind_it(password: str) -> None:
    assert "one of the most common ones" in str(problem(password))


@pytest.mark.parametrize("password", ["aaaaaaaaaaaa", "abcabcabcabc", "10101010101"])
def test_a_password_of_three_characters_is_refused(password: str) -> None:
    assert "repeats the same few characters" in str(problem(password))


@pytest.mark.parametrize(
    "password",
    [EMAIL, EMAIL.upper(), "ada.lovelace", "Ada.Lovelace1815", "example.org", "x ada.lovelace"],
)
def test_the_e_mail_address_is_no_password(password: str) -> None:
    assert "little more than the e-mail address" in str(problem(password))


@pytest.mark.parametrize(
    "password", ["printreach", "PrintReach", "printreach2026", "my-printreach"]
)
def test_the_name_of_the_service_is_no_password(password: str) -> None:
    assert "name of this service" in str(problem(password))


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery staple",
        "a long enough passphrase",
        "of another kind",
        "x7!kQ02p",
        "printreach prints at night",
        "ada.lovelace likes lace",
        "hB3_x-9QzT1a",
        "p\u00e4sslich",
        "MyPrinter-4821-blue",
        "d41d8cd98f00b204",
        "8264 9513 7702",
        "correct horse",
    ],
)
def test_a_reasonable_password_is_taken(password: str) -> None:
    assert problem(password) is None


def test_a_short_name_in_the_address_is_no_reason_to_refuse() -> None:
    assert problem("adamant1", "ada@example.org") is None
