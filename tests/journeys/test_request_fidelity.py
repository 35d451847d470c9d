"""The app's request reaches the printer unchanged."""

import http.client

import pytest

from tests.rigs.behaviour.rig import EchoedRequest
from tests.rigs.calls import call
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow]

TARGETS = [
    "/",
    "/api/files/local/a%20b.gcode",
    "/api/files/local/folder%2Fname.gcode",
    "/double//slash///end//",
    "//starts/with/two",
    "/caf%C3%A9/%E6%97%A5%E6%9C%AC.gcode",
    "/broken/%ff%fe/utf8",
    "/matrix;version=1;x/path",
    "/dots/../up/./here",
    "/%2e%2e/%2E%2E/encoded-dots",
    "/empty-query?",
    "/query?a=1&a=2&&b=&=c&d",
    "/query?q=%26%3D%3F%23+plus",
    "/query?next=http://example.com/a?b=c",
    "/question??two?three",
    "/brackets[0]?x[]=1&y={z}|`^",
    "/quotes'\"<>",
    "/case/%c3%A9",
    "/" + "long/" * 1500,
    "/?" + "x" * 8000,
]

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "MKCOL", "SEARCH"]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target[:40])
def test_the_printer_sees_the_target_byte_for_byte(way: Way, target: str) -> None:
    assert EchoedRequest.by(call(way, target)).target == target


@pytest.mark.parametrize("method", METHODS)
def test_the_printer_sees_the_method(way: Way, method: str) -> None:
    assert EchoedRequest.by(call(way, "/any", method=method)).method == method


def test_repeated_request_headers_arrive_one_by_one_and_in_order(way: Way) -> None:
    sent = [("X-One", "a"), ("X-Other", "b"), ("X-One", "c, d"), ("x-one", "e")]

    seen = EchoedRequest.by(call(way, "/any", headers=sent))

    ours = [
        (name.lower(), value)
        for name, value in seen.headers
        if name.lower() in {"x-one", "x-other"}
    ]
    assert ours == [(name.lower(), value) for name, value in sent]


def test_headers_a_printer_may_need_pass_untouched(way: Way) -> None:
    sent = {
        "Accept": "text/html;q=0.8, */*",
        "Accept-Encoding": "br, gzip",
        "Accept-Language": "de-AT",
        "Cookie": "session_P5000=abc; remember=1",
        "If-None-Match": 'W/"x"',
        "Origin": "http://elsewhere.example.com",
        "Referer": "http://elsewhere.example.com/?a=b",
        "User-Agent": "Slicer/2.9 (µ)".encode().decode("latin-1"),
        "X-Api-Key": "0123456789ABCDEF",
        "X-Requested-With": "XMLHttpRequest",
        "X-Empty": "",
    }

    seen = EchoedRequest.by(call(way, "/any", headers=[*sent.items()]))

    assert {name: seen.all(name) for name in sent} == {name: [sent[name]] for name in sent}


def test_hop_by_hop_headers_end_at_the_hop(way: Way) -> None:
    if way.is_direct:
        pytest.skip("a single hop shows them all")
    sent = [
        ("Connection", "close, X-Only-For-The-Hop"),
        ("X-Only-For-The-Hop", "1"),
        ("Keep-Alive", "timeout=5"),
        ("Proxy-Authorization", "Basic abc"),
        ("Proxy-Connection", "keep-alive"),
        ("TE", "trailers"),
    ]

    seen = EchoedRequest.by(call(way, "/any", headers=sent))

    assert [name for name, _ in sent[1:] if seen.has(name)] == []


def test_two_requests_share_one_connection(way: Way) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", way.port)
    connection.sock = way.connect()
    for number in range(3):
        connection.putrequest("POST", f"/any?n={number}", skip_host=True)
        for name, value in (("Host", way.host), *way.credentials, ("Content-Length", "4")):
            connection.putheader(name, value)
        connection.endheaders(b"body")
        answer = connection.getresponse()
        assert f"/any?n={number}".encode() in answer.read()
    connection.close()
