"""The query that opens the portal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.portal.parameters import logo_origin, parse_portal_query


def test_names_are_told_apart_without_regard_to_case() -> None:
    query = parse_portal_query(
        [
            ("APPID", "app"),
            ("returnurl", "myapp://done"),
            ("PrinterID", "p1"),
            ("appLogoUrl", "https://app.example/logo.png"),
            ("HostApiKeyAppName", "My app"),
        ]
    )

    assert query.app_id == "app"
    assert query.return_url == "myapp://done"
    assert query.printer_id == "p1"
    assert query.logo_url == "https://app.example/logo.png"
    assert query.key_app_name == "My app"
    assert not query.is_ambiguous


def test_unknown_and_obsolete_names_are_ignored() -> None:
    query = parse_portal_query([("appId", "app"), ("authType", "enhanced"), ("x", "1"), ("x", "2")])

    assert query == parse_portal_query([("appId", "app")])


def test_the_older_name_for_the_keys_app_is_known() -> None:
    query = parse_portal_query([("appId", "app"), ("octoPrintApiKeyAppName", "My app")])

    assert query.key_app_name == "My app"


def test_an_empty_value_counts_as_left_out() -> None:
    query = parse_portal_query([("appId", "app"), ("returnUrl", ""), ("printerId", " ")])

    assert (query.return_url, query.printer_id) == (None, None)


def test_the_same_value_twice_is_no_question() -> None:
    query = parse_portal_query(
        [("appId", "app"), ("appid", "app"), ("returnUrl", "a"), ("returnurl", "a")]
    )

    assert (query.app_id, query.return_url, query.is_return_url_ambiguous) == ("app", "a", False)


def test_two_apps_are_none() -> None:
    assert parse_portal_query([("appId", "app"), ("appid", "other")]).app_id == ""


def test_two_return_urls_are_told() -> None:
    query = parse_portal_query([("appId", "app"), ("returnUrl", "a"), ("RETURNURL", "b")])

    assert (query.return_url, query.is_return_url_ambiguous) == (None, True)


@pytest.mark.parametrize("name", ["printerId", "appLogoUrl", "hostApiKeyAppName"])
def test_two_values_of_anything_else_are_told_too(name: str) -> None:
    query = parse_portal_query([("appId", "app"), (name, "one"), (name.lower(), "two")])

    assert query.is_ambiguous


@pytest.mark.parametrize("name", ["A", "x" * 61, "a\x07b", "a\u202eb"])
def test_a_name_that_no_software_takes_costs_the_key_alone(name: str) -> None:
    query = parse_portal_query([("appId", "app"), ("hostApiKeyAppName", name)])

    assert (query.app_id, query.key_app_name, query.is_ambiguous) == ("app", None, False)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://app.example/logo.png", "https://app.example"),
        ("https://APP.example:8443/logo.png?x=1", "https://app.example:8443"),
        ("https://app.example/caf\u00e9.png", "https://app.example"),
        ("https://192.0.2.1/logo.png", "https://192.0.2.1"),
    ],
)
def test_a_logo_comes_from_its_own_origin(url: str, origin: str) -> None:
    assert logo_origin(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/logo.png",
        "//app.example/logo.png",
        "/logo.png",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "javascript:alert(1)",
        "https://user:password@app.example/logo.png",
        "https://app.example;script-src */logo.png",
        "https://app.example,*/logo.png",
        "https://app.example 'unsafe-inline'/logo.png",
        "https://*/logo.png",
        "https://*.example/logo.png",
        "https://[2001:db8::1]/logo.png",
        "https://app.example\r\nX: y/logo.png",
        "https://app.example\\@other.example/logo.png",
        "https://\u0430pp.example/logo.png",
        "https://app.example:99999/logo.png",
        "https://",
        "https://app.example/" + "x" * 2048,
    ],
)
def test_other_logos_are_left_out(url: str) -> None:
    assert logo_origin(url) is None
    assert parse_portal_query([("appId", "app"), ("appLogoUrl", url)]).logo_url is None


@given(st.text())
def test_an_origin_says_nothing_else_in_a_policy(rest: str) -> None:
    origin = logo_origin("https://" + rest)

    assert origin is None or not set(origin) & set(" ;,'\"*\\\r\n\t@/?#") - {"/"}
