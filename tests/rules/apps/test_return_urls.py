"""Return URLs of the portal, and how completion URLs are put together."""

from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.apps import App
from printreach.rules.apps.return_urls import completion_url, may_return_to, place_to_show

OWN = "https://reach.example/appportal/v1/complete"


def app(*prefixes: str, returns_to_lan: bool = False) -> App:
    return App(
        app_id="app",
        name="App",
        return_prefixes=prefixes,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        returns_to_lan=returns_to_lan,
    )


APP = app("https://app.example/done", "http://192.168.1.20:7125/auth", "myapp://done")


@pytest.mark.parametrize(
    "url",
    [
        OWN,
        "https://app.example/done",
        "https://APP.example/done",
        "HTTPS://app.example/done",
        "https://app.example:443/done",
        "https://app.example/done/",
        "https://app.example/done/printer/7",
        "https://app.example/done?printer=7&x=a%20b#tab",
        "https://app.example/done?to=https://other.example/..",
        "https://app.example/done/caf\u00e9",
        "http://192.168.1.20:7125/auth",
        "myapp://done",
        "MyApp://done/now",
    ],
)
def test_people_are_sent_where_the_app_said_beforehand(url: str) -> None:
    assert may_return_to(APP, OWN, url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/done",
        "//app.example/done",
        "https:app.example/done",
        "https:/app.example/done",
        "https:///app.example/done",
        "https://",
        "http://app.example/done",
        "https://app.example:8443/done",
        "https://app.example:0/done",
        "https://app.example:99999/done",
        "https://app.example.evil.example/done",
        "https://evil.example/https://app.example/done",
        "https://app.example./done",
        "https://app.example/",
        "https://app.example/donee",
        "https://app.example/Done",
        "https://app.example/done/../evil",
        "https://app.example/done/%2e%2e/evil",
        "https://app.example/done/.%2E/evil",
        "https://app.example/done/..%2fevil",
        "https://app.example/done/%5c..",
        "https://app.example/done/./x",
        "https://app.example@evil.example/done",
        "https://user:password@app.example/done",
        "https://@app.example/done",
        "https://app.example%40evil.example/done",
        "https://app.example\\@evil.example/done",
        "https://evil.example\\.app.example/done",
        "https://app.example/done\\..\\evil",
        " https://app.example/done",
        "https://app.example/done ",
        "https://app.example/do\tne",
        "https://app.example/done\r\nSet-Cookie: a=b",
        "https://app.example/done\x00",
        "https://app.example/done\u202egnp",
        "https://app.example/done\u200b",
        "https://\u0430pp.example/done",
        "https://app\u3002example/done",
        "https://app.example\uff0fdone",
        "https://[::1/done",
        "javascript://app.example/done%0aalert(1)",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript://done",
        "file:///etc/passwd",
        "myapp:done",
        "myapp://other",
        "myapp://done@other",
        "myapp2://done",
        "https://app.example/done?" + "x" * 2048,
        "http://192.168.1.20:7126/auth",
        "http://192.168.1.21:7125/auth",
    ],
)
def test_people_are_sent_nowhere_else(url: str) -> None:
    assert not may_return_to(APP, OWN, url)


@pytest.mark.parametrize("prefix", ["https://app.example", "https://app.example/"])
def test_a_prefix_without_a_path_stands_for_the_whole_host(prefix: str) -> None:
    assert may_return_to(app(prefix), OWN, "https://app.example")
    assert may_return_to(app(prefix), OWN, "https://app.example/any/path")


def test_a_prefix_that_ends_with_a_slash_takes_what_is_below_it() -> None:
    below = app("https://app.example/done/")

    assert may_return_to(below, OWN, "https://app.example/done/1")
    assert not may_return_to(below, OWN, "https://app.example/done")


def test_an_app_that_registered_nothing_has_our_own_page() -> None:
    assert may_return_to(app(), OWN, OWN)
    assert not may_return_to(app(), OWN, OWN + "/../../../link")
    assert not may_return_to(app(), OWN, "https://reach.example/")


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.1.77:8123/auth/done",
        "http://10.0.0.1/",
        "http://172.31.0.1:1/",
        "http://127.0.0.1:7125/",
        "http://169.254.3.4/",
        "https://192.168.1.77/",
        "http://[fd00::7]:80/",
        "http://[fe80::7]/",
        "http://[::1]:8080/",
    ],
)
def test_an_app_of_the_lan_is_returned_to_any_address_there(url: str) -> None:
    assert may_return_to(app(returns_to_lan=True), OWN, url)
    assert not may_return_to(app(), OWN, url)


@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8/",
        "https://8.8.8.8/",
        "http://172.32.0.1/",
        "http://[2001:db8::1]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[::ffff:192.168.1.1]/",
        "http://[fe80::7%25eth0]/",
        "http://0.0.0.0/",
        "http://127.1/",
        "http://0x7f.0.0.1/",
        "http://2130706433/",
        "http://192.168.1.1.evil.example/",
        "http://localhost/",
        "http://printer.local/",
        "ftp://192.168.1.77/",
    ],
)
def test_an_app_of_the_lan_is_returned_nowhere_else(url: str) -> None:
    assert not may_return_to(app(returns_to_lan=True), OWN, url)


def test_parameters_are_appended() -> None:
    assert completion_url("https://app.example/done", {"success": "true", "id": "a b&c=+"}) == (
        "https://app.example/done?success=true&id=a%20b%26c%3D%2B"
    )


def test_its_own_query_and_fragment_survive() -> None:
    url = completion_url("https://app.example/done?a=1&a=%2B#tab?x", {"success": "false"})

    assert url == "https://app.example/done?a=1&a=%2B&success=false#tab?x"


@pytest.mark.parametrize("ending", ["?", "?a=1&"])
def test_a_query_that_waits_for_more_gets_it(ending: str) -> None:
    url = completion_url("myapp://done" + ending, {"id": "1"})

    assert url == f"myapp://done{ending}id=1"


@pytest.mark.slow
@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
def test_an_app_reads_what_was_written(parameters: dict[str, str]) -> None:
    url = completion_url("https://app.example/caf\u00e9?own=1#end", parameters)

    assert url.isascii()
    assert urlsplit(url).fragment == "end"
    assert parse_qsl(urlsplit(url).query, keep_blank_values=True, strict_parsing=True) == [
        ("own", "1"),
        *parameters.items(),
    ]


@given(st.text())
def test_whatever_is_asked_for_is_answered(url: str) -> None:
    assert may_return_to(APP, OWN, url) in {True, False}


def test_people_are_shown_where_they_go() -> None:
    assert place_to_show("https://App.example:8443/done") == "app.example"
    assert place_to_show("myapp://done") == "myapp://"
