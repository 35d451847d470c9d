"""The owner's browser on a printer's own host: by cookie, and only from pages of that host."""

from urllib.parse import urlsplit

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, fresh_key
from tests.rigs.calls import Answer, call
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

HANDSHAKE = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


@pytest.fixture(scope="module")
def own(relay: Service, behaviour_linked: LinkedPrinter) -> Way:
    """Signed in by the single-use link."""
    return relay.open_own_host(behaviour_linked)


def follow(relay: Service, link: str) -> Answer:
    parts = urlsplit(link)
    return call(relay.way_to(parts.netloc), f"{parts.path}?{parts.query}")


def test_the_link_opens_the_printers_page(own: Way) -> None:
    assert own.host.startswith("own-")
    assert EchoedRequest.by(call(own, "/settings?tab=1")).target == "/settings?tab=1"


def test_the_cookie_is_kept_from_scripts_other_hosts_and_the_printer(
    relay: Service, behaviour_linked: LinkedPrinter, own: Way
) -> None:
    answer = follow(relay, relay.own_link(behaviour_linked))
    (cookie,) = answer.all("Set-Cookie")
    attributes = {part.strip().lower().partition("=")[0] for part in cookie.split(";")[1:]}

    assert {"httponly", "samesite", "path"} <= attributes
    assert "domain" not in attributes
    assert not EchoedRequest.by(call(own, "/any")).has("Cookie")


def test_the_link_leads_to_the_printers_first_page_without_its_ticket(
    relay: Service, behaviour_linked: LinkedPrinter
) -> None:
    answer = follow(relay, relay.own_link(behaviour_linked))

    assert (answer.status, answer.first("Location")) == (303, "/")
    assert answer.first("Cache-Control") == "no-store"


def test_the_link_works_once(relay: Service, behaviour_linked: LinkedPrinter) -> None:
    link = relay.own_link(behaviour_linked)
    assert follow(relay, link).status == 303

    again = follow(relay, link)

    assert (again.status, again.all("Set-Cookie")) == (606, [])


def test_a_link_made_up_opens_nothing(relay: Service, behaviour_linked: LinkedPrinter) -> None:
    link = relay.own_link(behaviour_linked)

    assert follow(relay, link[:-4] + "AAAA").status == 606
    assert follow(relay, link.partition("?")[0] + "?x=1").status == 606


def test_without_the_cookie_it_is_606(own: Way) -> None:
    assert call(own.proving(), "/any").status == 606
    assert call(own.proving(("Cookie", "printreach_own=guess")), "/any").status == 606


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://localhost", "", "other-port"]
)
def test_a_write_from_another_page_is_606_and_never_reaches_the_printer(
    own: Way, behaviour: BehaviourPrinter, method: str, origin: str | None
) -> None:
    if origin == "other-port":
        origin = f"http://{own.hostname}:1"
    key = fresh_key()
    headers = [("Origin", origin)] if origin is not None else []

    answer = call(own, f"/sink?key={key}", method=method, headers=headers, body=b"G28")

    assert (answer.status, behaviour.entries(key)) == (606, [])


def test_a_write_from_the_hosts_own_page_passes(own: Way) -> None:
    answer = call(own, "/any", method="POST", headers=[("Origin", own.origin)], body=b"G28")

    assert EchoedRequest.by(answer).size == 3


def test_a_websocket_needs_the_hosts_own_origin(own: Way) -> None:
    ours, evil = ("Origin", own.origin), ("Origin", "http://evil.example")

    assert call(own, "/ws-echo", headers=HANDSHAKE).status == 606
    assert call(own, "/ws-echo", headers=[*HANDSHAKE, evil]).status == 606
    with_ours = call(own, "/ws-close?code=1000&reason=", headers=[*HANDSHAKE, ours])
    assert with_ours.status == 101


def test_credentials_of_an_app_open_no_own_host(
    relay: Service, behaviour_linked: LinkedPrinter, own: Way
) -> None:
    connection = relay.connect(behaviour_linked)

    assert call(own.proving(connection.basic), "/any").status == 606
    assert call(own.proving(), f"/any?service_api_key={connection.token}").status == 606


def test_the_cookie_opens_no_other_host(
    relay: Service, behaviour_linked: LinkedPrinter, own: Way
) -> None:
    app_host = relay.way(relay.connect(behaviour_linked)).host

    assert call(own.named(app_host), "/any").status == 606
