"""Addresses that people type."""

import pytest

from printreach.agent.addresses import (
    BadAddress,
    ListenAddress,
    WebAddress,
    parse_listen_address,
    parse_web_address,
    parse_web_address_or_host,
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://printreach.example", "https://printreach.example"),
        ("https://printreach.example/", "https://printreach.example"),
        ("HTTPS://PrintReach.Example:443", "https://printreach.example"),
        ("http://192.168.1.20:8080", "http://192.168.1.20:8080"),
        ("http://[FD00::20]:80/", "http://[fd00::20]"),
        ("http://my_printer", "http://my_printer"),
    ],
)
def test_one_server_has_one_spelling(typed: str, meant: str) -> None:
    assert str(parse_web_address(typed)) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "printreach.example",
        "ftp://printreach.example",
        "javascript://printreach.example",
        "https://",
        "https:///path",
        "https://:443",
        "https://host:0",
        "https://host:65536",
        "https://host:port",
        "https://host:-1",
        "https://host/octoprint",
        "https://host/?a=1",
        "https://host/#top",
        "https://user@host",
        "https://user:secret@host",
        "https://@host",
        "https://ho st",
        " https://host",
        "https://host\n",
        "https://host\r\nX-Evil: 1",
        "https://host\t.example",
        "https://host\\@evil.example",
        "https://[::1",
        "https://[not-an-address]",
        "https://-host",
        "https://host%2eexample",
        "https://drucker-kueche.example\u00fc",
        "https://" + "a" * 300,
        "https://host\0",
    ],
)
def test_what_is_not_exactly_a_servers_address_is_refused(typed: str) -> None:
    with pytest.raises(BadAddress):
        parse_web_address(typed)


def test_a_refusal_never_repeats_the_address_which_may_hold_a_password() -> None:
    with pytest.raises(BadAddress) as refusal:
        parse_web_address("https://user:hunter2@host")

    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("octopi.local", "http://octopi.local:5000"),
        ("octopi.local:8000", "http://octopi.local:8000"),
        ("octopi.local:80", "http://octopi.local"),
        ("192.168.1.20", "http://192.168.1.20:5000"),
        ("fe80::1", "http://[fe80::1]:5000"),
        ("[fe80::1]", "http://[fe80::1]:5000"),
        ("[fe80::1]:80", "http://[fe80::1]"),
        ("http://octopi.local", "http://octopi.local"),
        ("https://octopi.local", "https://octopi.local"),
    ],
)
def test_a_bare_host_gets_the_platforms_port_and_a_url_its_own(typed: str, meant: str) -> None:
    assert str(parse_web_address_or_host(typed, 5000)) == meant


@pytest.mark.parametrize("typed", ["", ":5000", "host:0", "host/path", "user@host", "a b"])
def test_a_bare_host_is_checked_like_a_url(typed: str) -> None:
    with pytest.raises(BadAddress):
        parse_web_address_or_host(typed, 5000)


def test_an_https_address_says_that_it_is_encrypted() -> None:
    assert parse_web_address("https://host").is_tls
    assert not parse_web_address("http://host").is_tls


def test_the_authority_is_what_a_host_header_says() -> None:
    assert WebAddress(scheme="https", host="host", port=443).authority == "host"
    assert WebAddress(scheme="https", host="host", port=80).authority == "host:80"
    assert WebAddress(scheme="http", host="fd00::1", port=81).authority == "[fd00::1]:81"


@pytest.mark.parametrize(
    ("typed", "host", "port"),
    [
        ("0.0.0.0:8765", "0.0.0.0", 8765),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::]:8765", "::", 8765),
        ("raspberrypi:80", "raspberrypi", 80),
    ],
)
def test_a_listening_address_is_a_host_and_a_port(typed: str, host: str, port: int) -> None:
    assert parse_listen_address(typed) == ListenAddress(host=host, port=port)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "8765",
        ":8765",
        "host:",
        "host:port",
        "host:65536",
        "host:-1",
        "host: 80",
        "::8765",
        "[host]:80",
        "host name:80",
        "http://host:80",
        "host:\u0661\u0662",
    ],
)
def test_a_listening_address_that_leaves_anything_open_is_refused(typed: str) -> None:
    with pytest.raises(BadAddress):
        parse_listen_address(typed)
