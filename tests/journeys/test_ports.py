"""Ports that stand for connections, for networks without names: admission, and routing."""

from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote, urlsplit

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, behaviour_printer, fresh_key
from tests.rigs.calls import call
from tests.rigs.service import Connection, LinkedPrinter, Service, service_on_localhost
from tests.rigs.sockets import websocket
from tests.rigs.waiting import free_ports, wait_for
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

TIMEOUT_S = 30


@pytest.fixture
def way(relay_with_ports: Service, connection_with_port: Connection) -> Way:
    """Of a connection that lasts."""
    return relay_with_ports.way(connection_with_port)


@pytest.fixture
def another(relay_with_ports: Service, linked_with_ports: LinkedPrinter) -> Iterator[Connection]:
    """A second connection to the same printer, as long as a test."""
    made = relay_with_ports.connect(linked_with_ports)
    yield made
    relay_with_ports.revoke(made)


def basic_key(connection: Connection) -> str:
    """The credentials of HTTP Basic, as they go into a query."""
    return quote(b64encode(f"{connection.user}:{connection.password}".encode()).decode(), safe="")


def test_a_connection_is_told_by_a_port_of_its_own(
    relay_with_ports: Service, connection_with_port: Connection, another: Connection
) -> None:
    lowest, _, highest = relay_with_ports.env["PRINTREACH_TUNNEL_PORTS"].partition("-")
    ports = [urlsplit(one.url).port or 0 for one in (connection_with_port, another)]

    assert all(int(lowest) <= port <= int(highest) for port in ports)
    assert ports[0] != ports[1]
    assert {urlsplit(one.url).hostname for one in (connection_with_port, another)} == {"localhost"}


def test_basic_and_bearer_open_it_and_the_printer_sees_neither(
    way: Way, connection_with_port: Connection
) -> None:
    for proof in (connection_with_port.basic, connection_with_port.bearer):
        seen = EchoedRequest.by(call(way.proving(proof), "/any"))

        assert (seen.target, seen.has("Authorization")) == ("/any", False)


def test_a_key_in_the_query_opens_it_and_the_printer_does_not_see_it(
    way: Way, connection_with_port: Connection
) -> None:
    for key in (connection_with_port.token, basic_key(connection_with_port)):
        seen = EchoedRequest.by(call(way.proving(), f"/any?a=1&service_api_key={key}&b=2"))

        assert seen.target == "/any?a=1&b=2"


def test_a_websocket_opens_with_a_key_in_the_query(
    way: Way, connection_with_port: Connection
) -> None:
    target = f"/ws-echo?service_api_key={connection_with_port.token}"
    with websocket(way.proving(), target) as socket:
        socket.send("hello")

        assert socket.recv(timeout=TIMEOUT_S) == "hello"


def test_what_host_says_counts_for_nothing(
    relay_with_ports: Service, linked_with_ports: LinkedPrinter, way: Way, another: Connection
) -> None:
    own = urlsplit(relay_with_ports.own_link(linked_with_ports)).netloc
    service = urlsplit(relay_with_ports.base_url).netloc
    for host in (service, own, urlsplit(another.url).netloc, "app-0.localhost", "else.example"):
        seen = EchoedRequest.by(call(way.named(host), "/any"))

        assert seen.all("Host") == [host]


def test_no_path_on_a_port_is_the_services_own(way: Way) -> None:
    for target in ("/healthz", "/metrics", "/api/agent/tunnel", "/"):
        assert EchoedRequest.by(call(way, target)).target == target


def test_nobody_enters_without_the_ports_own_credentials(
    behaviour: BehaviourPrinter, way: Way, another: Connection
) -> None:
    key = fresh_key()
    target = f"/sink?key={key}"
    with_keys = f"{target}&service_api_key={another.token}"

    assert call(way.proving(), target, method="POST").status == 606
    assert call(way.proving(another.basic), target, method="POST").status == 606
    assert call(way.proving(another.bearer), target, method="POST").status == 606
    assert call(way.proving(), with_keys, method="POST").status == 606
    assert behaviour.entries(key) == []


def test_an_owners_cookie_opens_the_printers_own_port_and_no_other(
    relay_with_ports: Service, linked_with_ports: LinkedPrinter, way: Way
) -> None:
    own = relay_with_ports.open_own_host(linked_with_ports)
    by_hand = own.proving(*own.credentials, ("Sec-Fetch-Site", "none"))
    assert EchoedRequest.by(call(by_hand, "/any")).target == "/any"

    assert own.port != way.port
    assert call(way.proving(*by_hand.credentials), "/any").status == 606
    assert call(way.proving(*by_hand.credentials).named(own.host), "/any").status == 606


def test_an_owners_link_opens_no_port_but_its_own(
    relay_with_ports: Service, linked_with_ports: LinkedPrinter, way: Way
) -> None:
    link = urlsplit(relay_with_ports.own_link(linked_with_ports))
    target = f"{link.path}?{link.query}"

    answer = call(way.proving().named(link.netloc), target)

    assert (answer.status, answer.all("Set-Cookie")) == (606, [])
    assert call(relay_with_ports.way_at(link.netloc), target).all("Set-Cookie") != []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with two ports, none of them used yet."""
    folder = tmp_path_factory.mktemp("small")
    with service_on_localhost(folder, tunnel_ports=free_ports(2)) as running:
        yield running


def test_a_port_serves_nobody_then_one_connection_then_the_next(
    small: Service, behaviour: BehaviourPrinter
) -> None:
    with (
        behaviour_printer(small.folder, name="second-printer") as second,
        small.printer("first", behaviour.url) as first_linked,
        small.printer("second", second.url) as second_linked,
    ):
        lowest, highest = map(int, small.env["PRINTREACH_TUNNEL_PORTS"].split("-"))
        assert call(Way(port=highest, host="localhost"), "/any").status == 603

        kept, ended = small.connect(first_linked), small.connect(first_linked)
        ways = small.way(kept), small.way(ended)
        assert {way.port for way in ways} == {lowest, highest}
        for way in ways:  # that nobody is there was just said, and is believed for a second
            wait_for("a connection at its port", partial(_is_open, way), TIMEOUT_S)
        assert [EchoedRequest.by(call(way, "/any")).target for way in ways] == ["/any", "/any"]
        with pytest.raises(RuntimeError, match="ports for connections are in use"):
            small.connect(second_linked)

        small.revoke(ended)
        wait_for("the revocation", lambda: call(ways[1], "/any").status == 604, TIMEOUT_S)

        next_way, key = small.way(small.connect(second_linked)), fresh_key()
        wait_for("the next one", lambda: _is_open(next_way), TIMEOUT_S)
        assert next_way.port == ways[1].port
        assert call(next_way, f"/sink?key={key}", method="POST").status == 200
        assert (behaviour.entries(key) != [], second.entries(key) != []) == (False, True)
        assert call(ways[1], "/any").status == 606
        assert EchoedRequest.by(call(ways[0], "/any")).target == "/any"


def _is_open(way: Way) -> bool:
    return call(way, "/any").status == 200
