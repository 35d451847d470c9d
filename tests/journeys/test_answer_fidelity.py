"""The printer's answer reaches the app unchanged."""

import hashlib
from urllib.parse import quote

import pytest

from tests.rigs.behaviour.pattern import digest, pattern
from tests.rigs.calls import Answer, call, raw_request, read_head
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow


def chosen(way: Way, *headers: str, method: str = "GET", **arguments: object) -> Answer:
    """Ask for an answer with this status, reason, body and these `Name: value` headers."""
    pairs = [*arguments.items(), *(("header", header) for header in headers)]
    query = "&".join(f"{name}={quote(str(value))}" for name, value in pairs)
    return call(way, f"/chosen?{query}", method=method)


@pytest.mark.parametrize("status", [200, 201, 202, 207, 226, 299, 400, 401, 403, 404, 409, 418])
def test_the_printers_status_is_the_apps_status(way: Way, status: int) -> None:
    answer = chosen(way, status=status, body="x")

    assert (answer.status, answer.body) == (status, b"x")


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599, 614])
def test_a_failure_of_the_printer_is_not_turned_into_one_of_the_service(
    way: Way, status: int
) -> None:
    answer = chosen(way, status=status, body="the printer said so")

    assert (answer.status, answer.body) == (status, b"the printer said so")
    assert answer.first("X-Service-Error") is None


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_handed_on_not_followed(way: Way, status: int) -> None:
    answer = chosen(way, "Location:/login?next=%2F#top", status=status)

    assert (answer.status, answer.first("Location")) == (status, "/login?next=%2F#top")


def test_the_reason_phrase_survives(way: Way) -> None:
    assert chosen(way, status=409, reason="Printer Is Busy").reason == "Printer Is Busy"


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_ends_at_its_head(way: Way, status: int) -> None:
    answer = chosen(way, 'ETag:"abc"', status=status)

    assert (answer.status, answer.body, answer.first("ETag")) == (status, b"", '"abc"')


def test_several_cookies_stay_several_headers_in_order(way: Way) -> None:
    cookies = ["a=1; Path=/; HttpOnly", "b=2, with a comma; Path=/x", "a=3; Max-Age=0"]

    answer = chosen(way, *(f"Set-Cookie:{cookie}" for cookie in cookies))

    assert answer.all("Set-Cookie") == cookies


def test_repeated_answer_headers_stay_repeated(way: Way) -> None:
    answer = chosen(way, "Link:</a>; rel=x", "X-Twice:1", "Link:</b>; rel=y", "X-Twice:2")

    assert answer.all("Link") == ["</a>; rel=x", "</b>; rel=y"]
    assert answer.all("X-Twice") == ["1", "2"]


def test_headers_of_security_and_caching_pass(way: Way) -> None:
    sent = {
        "Access-Control-Allow-Origin": "*",
        "Cache-Control": "no-store",
        "Content-Disposition": "attachment; filename*=UTF-8''caf%C3%A9.gcode",
        "Content-Security-Policy": "default-src 'self'",
        "ETag": '"x"',
        "Vary": "Cookie, Accept",
        "WWW-Authenticate": 'Digest realm="printer", nonce="1"',
        "X-Empty": "",
        "X-Frame-Options": "sameorigin",
    }

    answer = chosen(way, *(f"{name}:{value}" for name, value in sent.items()))

    assert {name: answer.first(name) for name in sent} == sent


def test_a_compressed_body_is_not_unpacked(way: Way) -> None:
    answer = chosen(way, "Content-Encoding:gzip", body="not even gzip")

    assert (answer.first("Content-Encoding"), answer.body) == ("gzip", b"not even gzip")


def test_head_tells_the_length_and_sends_nothing(way: Way) -> None:
    answer = call(way, "/file?size=123456", method="HEAD")

    assert (answer.status, answer.first("Content-Length"), answer.body) == (200, "123456", b"")


def test_get_after_head_on_one_connection_is_not_mistaken(way: Way) -> None:
    head = b"%s /file?size=5 HTTP/1.1\r\nHost: " + way.host.encode()
    fields = "".join(f"\r\n{name}: {value}" for name, value in way.credentials).encode()
    with way.connect() as connection:
        connection.sendall(head % b"HEAD" + fields + b"\r\n\r\n")
        connection.sendall(head % b"GET" + fields + b"\r\nConnection: close\r\n\r\n")
        received = b"".join(iter(lambda: connection.recv(65536), b""))

    assert received.count(b"HTTP/1.1 200") == 2
    assert received.endswith(b"\r\n\r\n" + pattern(5))


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [("0-0", 0, 1), ("100-199", 100, 200), ("65530-65545", 65530, 65546), ("-10", 99990, 100000)],
)
def test_a_range_comes_as_that_range(way: Way, asked: str, start: int, stop: int) -> None:
    answer = call(way, "/file?size=100000", headers=[("Range", f"bytes={asked}")])

    assert answer.status == 206
    assert answer.first("Content-Range") == f"bytes {start}-{stop - 1}/100000"
    assert answer.body == pattern(100000)[start:stop]


def test_a_range_outside_the_file_is_the_printers_refusal(way: Way) -> None:
    answer = call(way, "/file?size=100", headers=[("Range", "bytes=100-")])

    assert (answer.status, answer.first("Content-Range")) == (416, "bytes */100")


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 262144, 3_000_001])
def test_a_download_of_any_size_is_whole(way: Way, size: int) -> None:
    answer = call(way, f"/file?size={size}")

    assert len(answer.body) == size
    assert hashlib.sha256(answer.body).hexdigest() == digest(size)


def test_informational_answers_do_not_replace_the_real_one(way: Way) -> None:
    with raw_request(way, "GET", "/hints?key=none", ("Connection", "close")) as connection:
        status, _ = read_head(connection)
        while status < 200:  # the caller may see them or not
            status, _ = read_head(connection)
        body = connection.makefile("rb").read()

    assert (status, body) == (200, b"after the hints")
