"""On https behind the proxies that the deployment files are for, everything works as without."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.rigs.behaviour.pattern import blocks, digest
from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, fresh_key
from tests.rigs.behaviour.streams import jpeg_part
from tests.rigs.calls import call, opened, raw_request, read_head
from tests.rigs.proxies import DOMAIN, PROXIES, SERVICE, service_behind
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.sockets import websocket
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.peer, pytest.mark.usefixtures("relay")]


@pytest.fixture(scope="module", params=PROXIES)
def proxied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp(request.param)
    with service_behind(request.param, folder, host=SERVICE) as running:
        yield running


@pytest.fixture(scope="module")
def linked(proxied: Service, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    with proxied.printer("behaviour", behaviour.url) as printer:
        yield printer


@pytest.fixture(scope="module")
def way(proxied: Service, linked: LinkedPrinter) -> Way:
    return proxied.way(proxied.connect(linked))


def test_the_connections_address_is_https_below_the_domain(way: Way) -> None:
    assert way.scheme == "https"
    assert way.hostname.endswith("." + DOMAIN)


@pytest.mark.parametrize("target", ["/a%2Fb//c;d?x=%26&&y=%C3%A9", "/a/%2e%2e/x"])
def test_targets_pass_untouched(way: Way, target: str) -> None:
    assert EchoedRequest.by(call(way, target)).target == target


def test_neither_the_proxys_nor_the_callers_address_reaches_the_printer(way: Way) -> None:
    seen = EchoedRequest.by(call(way, "/any", headers=[("X-Forwarded-For", "203.0.113.9")]))

    assert not seen.has("X-Forwarded-For")
    assert not seen.has("X-Real-IP")


def test_websockets_pass(way: Way) -> None:
    with websocket(way, "/ws-echo") as connection:
        connection.send("é" * 100_000)
        assert connection.recv(timeout=60) == "é" * 100_000


def test_each_picture_of_a_webcam_arrives_before_the_next_is_made(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with opened(way, f"/stepped/mjpeg?key={key}") as answer:
        for number in range(3):
            assert answer.read(len(jpeg_part(number))) == jpeg_part(number)
            behaviour.allow_step(key)


def test_an_upload_is_passed_on_as_it_comes(way: Way, behaviour: BehaviourPrinter) -> None:
    key = fresh_key()
    with raw_request(way, "PUT", f"/sink?key={key}", ("Content-Length", "20")) as connection:
        connection.sendall(b"ten bytes!")
        behaviour.wait_for(key, "received", 10)
        connection.sendall(b"ten bytes!")
        assert read_head(connection)[0] == 200


def test_a_large_upload_is_whole(way: Way) -> None:
    size = 20_000_000

    answer = call(way, f"/sink?key={fresh_key()}", method="POST", body=blocks(size))

    assert answer.json() == {"sha256": digest(size), "size": size}


def test_the_services_own_codes_pass_the_proxy(way: Way) -> None:
    refused = call(way.proving(), "/any")
    unknown = call(way.named(f"app-none.{DOMAIN}:{way.port}"), "/any")

    assert (refused.status, refused.first("X-Service-Error")) == (606, "606")
    assert (unknown.status, unknown.first("X-Service-Error")) == (603, "603")


def test_an_app_that_leaves_cancels_the_printers_request(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with raw_request(way, "GET", f"/endless?key={key}") as connection:
        connection.recv(1000)

    behaviour.wait_for(key, "cancelled")


def test_the_owners_cookie_is_bound_to_the_host_and_https(
    proxied: Service, linked: LinkedPrinter
) -> None:
    link = urlsplit(proxied.own_link(linked))
    answer = call(proxied.way_to(link.netloc), f"{link.path}?{link.query}")
    (cookie,) = answer.all("Set-Cookie")

    assert link.scheme == "https"
    assert cookie.startswith("__Host-")
    assert "; Secure" in cookie


def test_a_write_on_the_owners_host_passes_with_its_https_origin(
    proxied: Service, linked: LinkedPrinter
) -> None:
    own = proxied.open_own_host(linked)
    plain = ("Origin", own.origin.replace("https", "http"))

    assert call(own, "/any", method="POST", headers=[("Origin", own.origin)]).status == 200
    assert call(own, "/any", method="POST", headers=[plain]).status == 606
