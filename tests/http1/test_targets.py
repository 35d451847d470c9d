"""Targets and Hosts that are accepted. Refused ones are in corpus/."""

import pytest

from printreach.http1.heads import BadMessage, Request, parse_request


def parse(line: bytes = b"GET / HTTP/1.1", host: bytes = b"h") -> Request:
    return parse_request(b"%b\r\nHost: %b\r\n\r\n" % (line, host))


@pytest.mark.parametrize(
    "target",
    [
        b"/",
        b"//",
        b"//other.example/x",
        b"/a%2Fb%2f..%2F",
        b"/a/../b/./c",
        b"/%",
        b"/%zz%00",
        b"/?",
        b"/?a=b?c&d=/e",
        b'/"<>\\^`{|}',
        "/Düse.gcode".encode(),
        b"/\xff\x80\xa0",
        b"/http://other.example/",
        b"/:80@x",
    ],
)
def test_path_and_query_keep_every_byte(target: bytes) -> None:
    assert parse(b"GET %b HTTP/1.1" % target).target == target


@pytest.mark.parametrize(
    ("target", "reduced"),
    [
        (b"http://h", b"/"),
        (b"http://h/", b"/"),
        (b"http://h/a%2F//b?c", b"/a%2F//b?c"),
        (b"http://h?c", b"/?c"),
        (b"http://h//x", b"//x"),
        (b"https://h/a", b"/a"),
        (b"HTTP://H/a", b"/a"),
        (b"http://h/http://x/", b"/http://x/"),
    ],
)
def test_an_address_of_the_same_host_is_reduced_to_its_path(target: bytes, reduced: bytes) -> None:
    assert parse(b"GET %b HTTP/1.1" % target).target == reduced


def test_the_port_of_an_address_counts_and_the_host_is_compared_without_case() -> None:
    line = b"GET http://Printer.Example:80/x HTTP/1.1"

    assert parse(line, host=b"pRINTER.example:80").target == b"/x"
    with pytest.raises(BadMessage):
        parse(line, host=b"printer.example")


@pytest.mark.parametrize("target", [b"*", b"http://h"])
def test_options_may_ask_about_the_server_itself(target: bytes) -> None:
    assert parse(b"OPTIONS %b HTTP/1.1" % target).target == b"*"


def test_options_may_ask_about_the_root() -> None:
    assert parse(b"OPTIONS http://h/ HTTP/1.1").target == b"/"


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"app-1.tunnel.example",
        b"app-1.tunnel.example.",
        b"192.168.1.20",
        b"octopi.local:5000",
        b"my_printer:80",
        b"[::1]",
        b"[::1]:8080",
        b"[fe80::1:2]:65535",
        b"[::ffff:192.0.2.1]",
        b"EXAMPLE",
        b"a" * 255,
    ],
)
def test_a_host_is_kept_as_sent(host: bytes) -> None:
    assert parse(host=host).host == host


@pytest.mark.parametrize("host", [b"a" * 256, b"h:123456", b"[]", b"[h]", b"[::1]x", b"::1"])
def test_a_host_that_is_no_host_name_is_refused(host: bytes) -> None:
    with pytest.raises(BadMessage) as refusal:
        parse(host=host)

    assert refusal.value.status == 400
