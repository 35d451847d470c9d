"""Credentials, addresses and cookies that one side must not learn from the other."""

import pytest

from tests.rigs.behaviour.rig import EchoedRequest
from tests.rigs.calls import call
from tests.rigs.service import Connection, LinkedPrinter, Service
from tests.rigs.ways import Header, Way, basic

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def connection(relay: Service, behaviour_linked: LinkedPrinter) -> Connection:
    return relay.connect(behaviour_linked)


@pytest.fixture(scope="module")
def way(relay: Service, connection: Connection) -> Way:
    return relay.way(connection)


def everything(seen: EchoedRequest) -> str:
    """All that the printer saw, as one text."""
    return "\n".join([seen.target, *(f"{name}: {value}" for name, value in seen.headers)])


@pytest.mark.parametrize("kind", ["basic", "bearer"])
def test_our_credentials_never_reach_the_printer(
    way: Way, connection: Connection, kind: str
) -> None:
    proof: Header = getattr(connection, kind)

    seen = EchoedRequest.by(call(way.proving(proof), "/any"))

    assert not seen.has("Authorization")
    assert connection.password not in everything(seen)
    assert connection.token not in everything(seen)


@pytest.mark.parametrize(
    "header",
    [
        ("Forwarded", "for=203.0.113.9;host=evil.example"),
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Port", "443"),
        ("X-Forwarded-Prefix", "/evil"),
        ("x-forwarded-anything", "1"),
        ("X-Real-IP", "203.0.113.9"),
    ],
    ids=lambda header: header[0],
)
def test_what_a_caller_says_of_its_address_never_reaches_the_printer(
    way: Way, header: Header
) -> None:
    seen = EchoedRequest.by(call(way, "/any", headers=[header, header]))

    assert header[1] not in seen.all(header[0])


def test_the_callers_address_is_not_told_either(way: Way) -> None:
    seen = EchoedRequest.by(call(way, "/any"))

    assert not seen.has("X-Forwarded-For")
    assert not seen.has("Forwarded")


def test_the_printers_own_api_key_passes(way: Way) -> None:
    seen = EchoedRequest.by(call(way, "/any", headers=[("X-Api-Key", "of-the-printer")]))

    assert seen.all("X-Api-Key") == ["of-the-printer"]


def test_a_header_that_connection_names_is_dropped_wherever_it_is_named(way: Way) -> None:
    sent = [
        ("Connection", "keep-alive"),
        ("Connection", "X-Secret-Of-The-Hop"),
        ("X-Secret-Of-The-Hop", "1"),
    ]

    assert not EchoedRequest.by(call(way, "/any", headers=sent)).has("X-Secret-Of-The-Hop")


@pytest.mark.parametrize(
    ("target", "arrives"),
    [
        ("/any?service_api_key={key}", "/any"),
        ("/any?service_api_key={key}&a=1", "/any?a=1"),
        ("/any?a=1&service_api_key={key}", "/any?a=1"),
        ("/any?a=%26&&service_api_key={key}&b", "/any?a=%26&&b"),
    ],
)
def test_the_key_in_the_query_lets_in_and_is_taken_out(
    way: Way, connection: Connection, target: str, arrives: str
) -> None:
    seen = EchoedRequest.by(call(way.proving(), target.format(key=connection.token)))

    assert seen.target == arrives
    assert connection.token not in everything(seen)


def test_the_key_in_the_query_may_be_the_basic_pair_too(way: Way, connection: Connection) -> None:
    pair = connection.basic[1].removeprefix("Basic ")

    for written in (pair, pair.replace("=", "%3D")):
        seen = EchoedRequest.by(call(way.proving(), f"/any?service_api_key={written}"))
        assert seen.target == "/any"


def test_beside_a_key_in_the_query_the_printers_own_authorization_passes(
    way: Way, connection: Connection
) -> None:
    own = basic("printer-user", "printer-password")

    seen = EchoedRequest.by(call(way.proving(own), f"/any?service_api_key={connection.token}"))

    assert seen.all("Authorization") == [own[1]]


def test_our_cookies_never_reach_the_printer(way: Way) -> None:
    sent = "a=1; printreach_own=x; __Host-printreach_own=y; printreach_session=z; b=2"

    assert EchoedRequest.by(call(way, "/any", headers=[("Cookie", sent)])).all("Cookie") == [
        "a=1; b=2"
    ]


def test_a_request_with_only_our_cookies_carries_none(way: Way) -> None:
    seen = EchoedRequest.by(call(way, "/any", headers=[("Cookie", "printreach_own=x")]))

    assert not seen.has("Cookie")


@pytest.mark.parametrize(
    ("cookie", "arrives"),
    [
        ("a=1;Domain=localhost;Path=/", "a=1;Path=/"),
        ("a=1; path=/; DOMAIN=.example.com; HttpOnly", "a=1; path=/; HttpOnly"),
        ("a=1; domain", "a=1"),
        ("domain=mine; Path=/", "domain=mine; Path=/"),
    ],
)
def test_a_printers_cookie_stays_on_its_own_host(way: Way, cookie: str, arrives: str) -> None:
    assert set_cookies(way, cookie) == [arrives]


@pytest.mark.parametrize(
    "name", ["printreach_own", "__Host-printreach_own", "printreach_session", "__HOST-Printreach_x"]
)
def test_a_printer_cannot_set_a_cookie_of_ours(way: Way, name: str) -> None:
    assert set_cookies(way, f"{name}=planted; Path=/", "other=1") == ["other=1"]


def set_cookies(way: Way, *cookies: str) -> list[str]:
    """What arrives of these cookies that the printer sets."""
    query = "&".join(f"header=Set-Cookie:{quoted(cookie)}" for cookie in cookies)
    return call(way, f"/chosen?{query}").all("Set-Cookie")


def quoted(text: str) -> str:
    return text.replace(";", "%3B").replace(" ", "%20").replace("=", "%3D")


def test_a_printer_cannot_pass_its_failure_off_as_the_services(way: Way) -> None:
    answer = call(way, "/chosen?status=604&header=X-Service-Error:604")

    assert (answer.status, answer.all("X-Service-Error")) == (612, ["612"])
