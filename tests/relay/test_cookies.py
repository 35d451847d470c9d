"""Cookies of ours and of printers on the same host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.relay.cookies import (
    clean_set_cookie,
    cookie_values,
    own_cookie_name,
    set_cookies,
    without_ours,
)


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (b"", b""),
        (b"a=1", b"a=1"),
        (b"a=1;b=2", b"a=1;b=2"),
        (b"printreach_own=x", b""),
        (b"printreach_own=x; a=1", b"a=1"),
        (b"a=1; printreach_own=x; b=2", b"a=1; b=2"),
        (b"a=1;printreach_own=x;b=2", b"a=1; b=2"),
        (b" printreach_own =x;a=1", b"a=1"),
        (b"PRINTREACH_OWN=x; a=1", b"a=1"),
        (b"__Host-printreach_own=x; a=1", b"a=1"),
        (b"printreach_anything=x; a=1", b"a=1"),
        (b"printreach_own; a=1", b"a=1"),
        (b"a=printreach_own; b=2", b"a=printreach_own; b=2"),
        (b'a="1; printreach_own=x; b=2"', b'a="1; b=2"'),
        (b"__Secure-printreach=x; printreach=y", b"__Secure-printreach=x; printreach=y"),
    ],
)
def test_the_printer_sees_the_cookies_of_a_line_that_are_not_ours(sent: bytes, seen: bytes) -> None:
    assert without_ours(sent) == seen


@given(st.text(alphabet='aprintech_own=; ",-H', max_size=60))
def test_the_printer_sees_no_cookie_of_ours(text: str) -> None:
    seen = without_ours(text.encode())

    for name in (b"printreach_own", b"__Host-printreach_own"):
        assert cookie_values([(b"Cookie", seen)], name) == []


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        (b"a=1", b"a=1"),
        (b"a=1; Path=/x; HttpOnly", b"a=1; Path=/x; HttpOnly"),
        (b"a=1; Domain=x; Path=/", b"a=1; Path=/"),
        (b"a=1;domain=.x", b"a=1"),
        (b"a=1; DOMAIN ; Secure", b"a=1; Secure"),
        (b"a=1; Domain=x; Domain=y", b"a=1"),
        (b"domain=1; Path=/", b"domain=1; Path=/"),
        (b"a=1; xdomain=y", b"a=1; xdomain=y"),
        (b"", b""),
        (b"printreach_own=x", None),
        (b"Printreach_x=y; Path=/", None),
        (b"__HOST-printreach_own=x", None),
        (b"\tprintreach_own=x", None),
        (b"=printreach_own=x", None),
        (b"= printreach_own=x", None),
        (b"printreach=x", b"printreach=x"),
    ],
)
def test_a_printers_set_cookie_is_for_its_host_alone_and_none_of_ours(
    sent: bytes, arrives: bytes | None
) -> None:
    assert clean_set_cookie(sent) == arrives


def test_every_value_of_a_name_is_found_on_every_line() -> None:
    headers = [(b"Cookie", b"a=1; x=2;x=3"), (b"X", b"x=9"), (b"COOKIE", b" x =no; x=4=5; x")]

    assert cookie_values(headers, b"x") == [b"2", b"3", b"4=5", b""]


def test_on_https_a_cookie_is_held_to_its_host() -> None:
    assert own_cookie_name("https", None) == b"__Host-printreach_own"
    assert own_cookie_name("http", None) == b"printreach_own"


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        (b"session=x; HttpOnly; Path=/", [b"printreach_at_1_session=x; HttpOnly; Path=/"]),
        (b"session=x; httponly=1; Domain=x", [b"printreach_at_1_session=x; httponly=1"]),
        (b"csrf=x; Path=/", [b"csrf=x; Path=/"]),
        (b"a=; Max-Age=0", [b"a=; Max-Age=0", b"printreach_at_1_a=; Max-Age=0"]),
        (b"printreach_own_1=x; HttpOnly", []),
        (b"printreach_at_2_session=x; HttpOnly", []),
    ],
)
def test_at_a_port_a_cookie_that_no_script_may_see_is_kept_from_other_ports(
    sent: bytes, arrives: list[bytes]
) -> None:
    assert set_cookies(sent, 1) == arrives
    assert set_cookies(b"session=x; HttpOnly") == [b"session=x; HttpOnly"]


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (b"printreach_at_1_session=x; a=1", b"a=1; session=x"),
        (b"session=planted; printreach_at_1_session=x", b"session=x"),
        (b"printreach_at_2_session=x; printreach_at_12_session=x", b""),
        (b"printreach_at_1_printreach_session=x", b""),
        (b"printreach_own_1=x; csrf=y", b"csrf=y"),
    ],
)
def test_a_printer_at_a_port_gets_its_own_cookies_back_and_no_other_ports(
    sent: bytes, seen: bytes
) -> None:
    assert without_ours(sent, 1) == seen
    assert b"printreach_at" not in without_ours(sent)
