"""WebhookUrls that are accepted, and the addresses that are called for them."""

import pytest

from printreach.rules.public_addresses import PRIVATE_NETWORKS, PUBLIC_ONLY, Reach
from printreach.rules.webhooks.urls import (
    MAX_URL_LENGTH,
    WebhookTarget,
    parse_webhook_url,
    place_to_show,
    target_of,
)

HOME = Reach(networks=PRIVATE_NETWORKS)
REFUSED = [
    # no https, or no URL
    *(
        "http://hook.example/x",
        "ftp://hook.example",
        "hook.example",
        "//hook.example",
        "https:/a.b",
    ),
    *("javascript:alert(1)", "", "https://", "https:///x", "https://?x", "https://:443/"),
    # private in the usual spelling
    *("https://127.0.0.1/", "https://10.1.2.3:8443/", "https://192.168.0.10/", "https://0.0.0.0/"),
    *("https://169.254.169.254/latest", "https://100.64.1.1", "https://172.20.0.1?x=1"),
    *("https://[::1]/", "https://[fd00::1]/", "https://[fe80::1]/", "https://[::]/"),
    *("https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[64:ff9b::7f00:1]/"),
    *("https://[2002:7f00:1::]/", "https://[ff02::1]/", "https://[::127.0.0.1]/"),
    # IPv4 in decimal, octal and hexadecimal, whole and in parts
    *("https://2130706433/", "https://0x7f000001/", "https://017700000001/", "https://127.1/"),
    *("https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://127.0.0x1/", "https://10.0.258/"),
    *(
        "https://127.0.0.1./",
        "https://0/",
        "https://0x/",
        "https://1.1.1.1.1/",
        "https://300.1.1.1/",
    ),
    *("https://00000010.0.0.1/", "https://hook.example.0x7f/", "https://8.8.8.8./"),
    # read in two ways
    *("https://hook.example\\@127.0.0.1/", "https://a@hook.example/", "https://a:b@hook.example/"),
    *(
        "https://hook.example /",
        "https://hook.example/\n",
        "https://hook.example/ä",
        "https://ä.de/",
    ),
    *("https://\uff11\uff12\uff17.0.0.1/", "https://①②⑦.0.0.1/", "https://127。0。0。1/"),
    *("https://%31%32%37.0.0.1/", "https://hook%2eexample/", "https://hook.example/#part"),
    *("https://[fe80::1%25eth0]/", "https://[1.2.3.4]/", "https://[::1", "https://::1/"),
    *("https://[v1.x]/", "https://hook..example/", "https://-hook.example/", "https://.example/"),
    # ports and lengths
    *("https://hook.example:0/", "https://hook.example:65536/", "https://hook.example:/"),
    *("https://hook.example:+1/", "https://hook.example:443x/", f"https://{'a' * 64}.example/"),
    f"https://{'a.' * 127}example/",
    f"https://hook.example/{'a' * MAX_URL_LENGTH}",
]


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_private_or_could_be_read_in_two_ways_is_refused(url: str) -> None:
    assert isinstance(parse_webhook_url(url, PUBLIC_ONLY), str)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://hook.example", "hook.example", 443, "/"),
        ("https://Hook.Example:8443/a/b?c=d&e=%20", "hook.example", 8443, "/a/b?c=d&e=%20"),
        ("https://hook.example?x=https://y@z", "hook.example", 443, "/?x=https://y@z"),
        ("HTTPS://8.8.8.8/x//../y", "8.8.8.8", 443, "/x//../y"),
        ("https://[2606:4700::1111]:1/", "2606:4700::1111", 1, "/"),
        ("https://xn--hk-fka.example./", "xn--hk-fka.example.", 443, "/"),
        ("https://7.example/", "7.example", 443, "/"),
    ],
)
def test_the_path_and_query_are_called_as_they_were_given(
    url: str, host: str, port: int, path: str
) -> None:
    expected = WebhookTarget(is_tls=True, host=host, port=port, path=path)

    assert parse_webhook_url(url, PUBLIC_ONLY) == expected


@pytest.mark.parametrize(
    "url", ["http://192.168.0.4:8123/api/webhook/x", "https://[fd00::1]/", "http://printer/"]
)
def test_an_operator_may_allow_private_and_plain_targets(url: str) -> None:
    assert isinstance(parse_webhook_url(url, HOME), WebhookTarget)
    assert isinstance(parse_webhook_url(url, PUBLIC_ONLY), str)


@pytest.mark.parametrize("url", ["http://8.8.8.8/", "http://[2606:4700::1111]/"])
def test_a_public_address_takes_https_though_private_ones_are_allowed(url: str) -> None:
    assert "https" in str(parse_webhook_url(url, HOME))
    assert isinstance(parse_webhook_url(url.replace("http:", "https:"), HOME), WebhookTarget)


def test_an_empty_url_is_called_empty() -> None:
    assert parse_webhook_url("", PUBLIC_ONLY) == "WebhookUrl is empty."


@pytest.mark.parametrize("url", ["http://2130706433/", "http://0x7f.1/", "http://224.0.0.1/"])
def test_an_unusual_spelling_stays_refused_where_private_targets_are_allowed(url: str) -> None:
    assert isinstance(parse_webhook_url(url, HOME), str)


def test_a_host_header_names_a_port_only_where_it_is_unusual() -> None:
    assert target_of("https://hook.example/").host_header == "hook.example"
    assert target_of("https://hook.example:444/").host_header == "hook.example:444"
    assert target_of("https://[2606:4700::1]/").host_header == "[2606:4700::1]"
    assert target_of("http://hook.example:443/").host_header == "hook.example:443"


def test_an_origin_is_the_same_however_its_url_is_spelled() -> None:
    assert (
        target_of("https://Hook.example/a").origin == target_of("https://hook.example:443").origin
    )


def test_what_is_shown_of_a_target_holds_no_secret() -> None:
    assert place_to_show("https://hook.example/secret?token=1") == "hook.example"


def test_the_target_of_a_webhook_is_shown_though_it_is_no_longer_called() -> None:
    assert target_of("http://169.254.169.254/latest").host == "169.254.169.254"
