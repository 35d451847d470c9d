"""Typed values become an address, or a sentence about the error."""

import pytest

from printreach.rules.notifications.channels import (
    CHANNEL_BY_NAME,
    CHANNELS,
    PLAIN_SCHEMES,
    SCHEMES,
    DestinationAddress,
    InvalidField,
    may_be_used,
    parse_destination,
)

BOT = "123456789:AAbbccddeeffgghhiijjkkllmmnnooppqqr"
TOKEN = "syt_token/with+odd=signs"


def read(channel: str, **typed: str) -> DestinationAddress | InvalidField:
    return parse_destination(CHANNEL_BY_NAME[channel], typed)


@pytest.mark.parametrize(
    ("channel", "typed", "url", "label"),
    [
        ("mail", {}, "", "your e-mail address"),
        ("ntfy", {"topic": "t-1"}, "ntfys://ntfy.sh/t-1?mode=private", "t-1 on ntfy.sh"),
        (
            "ntfy",
            {"topic": "t", "server": "https://Ntfy.example:8443/", "token": "a/b"},
            "ntfys://a%2Fb@ntfy.example:8443/t?mode=private&auth=token",
            "t on ntfy.example:8443",
        ),
        (
            "ntfy",
            {"topic": "t", "server": "http://nas.local"},
            "ntfy://nas.local/t?mode=private",
            "t on nas.local",
        ),
        ("telegram", {"token": BOT, "chat": "-10012"}, f"tgram://{BOT}/-10012", "chat -10012"),
        (
            "discord",
            {"url": "https://discord.com/api/webhooks/123456/abcdefghijk"},
            "discord://123456/abcdefghijk",
            "webhook 123456",
        ),
        ("pushover", {"user": "u" * 30, "token": "t" * 30}, None, "your devices"),
        (
            "slack",
            {
                "url": "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
            },
            "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
            "webhook A1BRTD4JD",
        ),
        (
            "matrix",
            {"server": "matrix.org", "token": TOKEN, "room": "#printers:matrix.org"},
            "matrixs://syt_token%2Fwith%2Bodd%3Dsigns@matrix.org/%23printers%3Amatrix.org",
            "#printers:matrix.org on matrix.org",
        ),
        (
            "gotify",
            {"server": "gotify.example", "token": "AbCdEfGhIjKlMnO"},
            "gotifys://gotify.example/AbCdEfGhIjKlMnO",
            "app on gotify.example",
        ),
        ("apprise", {"url": "PBUL://secret"}, "pbul://secret", "Pushbullet"),
        ("apprise", {"url": "ntfy://127.0.0.1:8589/t"}, "ntfy://127.0.0.1:8589/t", "ntfy"),
    ],
)
def test_what_is_typed_becomes_an_address(
    channel: str, typed: dict[str, str], url: str | None, label: str
) -> None:
    address = read(channel, **typed)

    assert isinstance(address, DestinationAddress), address
    assert url is None or address.url == url
    assert address.label == label


@pytest.mark.parametrize(
    ("channel", "typed", "field"),
    [
        ("ntfy", {}, "topic"),
        ("ntfy", {"topic": "a/b"}, "topic"),
        ("ntfy", {"topic": "t", "server": "a b"}, "server"),
        ("ntfy", {"topic": "t", "server": "ntfy.sh/path"}, "server"),
        ("ntfy", {"topic": "t", "server": "user@host"}, "server"),
        ("ntfy", {"topic": "t", "server": "file:///etc/passwd"}, "server"),
        ("ntfy", {"topic": "t\nx"}, "topic"),
        ("ntfy", {"topic": "t", "token": "x" * 301}, "token"),
        ("telegram", {"token": "nonsense", "chat": "1"}, "token"),
        ("telegram", {"token": BOT, "chat": "../x"}, "chat"),
        ("discord", {"url": "https://evil.example/api/webhooks/123456/abcdefghijk"}, "url"),
        ("discord", {"url": "https://discord.com.evil.example/api/webhooks/1/a"}, "url"),
        ("slack", {"url": "https://hooks.slack.com@evil.example/services/T/A/B"}, "url"),
        ("pushover", {"user": "short", "token": "t" * 30}, "user"),
        ("matrix", {"server": "m", "token": "t", "room": "printers"}, "room"),
        ("gotify", {"server": "g", "token": "../../x/y/z"}, "token"),
        *(
            ("apprise", {"url": url}, "url")
            for url in (
                *("syslog://", "windows://", "dbus://", "macosx://", "gnome://", "exec:///bin/sh"),
                *("file:///etc/passwd", "json://127.0.0.1", "rsyslog://10.0.0.1", "mqtt://h/t"),
                *("workflows://h/?template=/etc/passwd", "vapid://u/k", "fcm://p/t", "ntfys://"),
                *("ntfys", "", "https://discord.com/api/webhooks/1/a", "x" * 2000),
            )
        ),
    ],
)
def test_what_is_no_address_is_told_at_its_field(
    channel: str, typed: dict[str, str], field: str
) -> None:
    wrong = read(channel, **typed)

    assert isinstance(wrong, InvalidField), wrong
    assert wrong.field == field
    assert wrong.sentence.endswith(".")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ntfys", "The address begins with the service, like ntfys://."),
        ("syslog://host", "This service can't be used here."),
    ],
)
def test_an_address_without_a_service_and_one_of_an_unknown_service_are_told_apart(
    url: str, sentence: str
) -> None:
    assert read("apprise", url=url) == InvalidField("url", sentence)


def test_every_way_is_read() -> None:
    for channel in CHANNELS:
        assert isinstance(
            parse_destination(channel, {}),
            DestinationAddress if channel.name == "mail" else InvalidField,
        )


def test_no_label_holds_a_secret() -> None:
    for address in (
        read("ntfy", topic="t", token="tk_secret"),
        read("telegram", token=BOT, chat="1"),
        read("apprise", url="pbul://secret"),
        read("gotify", server="g.example", token="AbCdEfGhIjKlMnO"),
    ):
        assert isinstance(address, DestinationAddress)
        for secret in ("secret", BOT, "AbCdEfGhIjKlMnO"):
            assert secret not in address.label


def test_addresses_without_tls_are_for_operators_who_allow_their_own_network() -> None:
    assert may_be_used("ntfys://h/t", allow_plain=False)
    assert not may_be_used("ntfy://h/t", allow_plain=False)
    assert may_be_used("ntfy://h/t", allow_plain=True)
    assert not may_be_used("syslog://", allow_plain=True)
    assert not PLAIN_SCHEMES & set(SCHEMES)
