"""A printer whose web server has a self-signed certificate."""

from collections.abc import Iterator

import pytest

from tests.rigs.behaviour.pattern import pattern
from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, fresh_key
from tests.rigs.calls import call, raw_request
from tests.rigs.service import Service
from tests.rigs.sockets import websocket
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def way(relay: Service, behaviour: BehaviourPrinter) -> Iterator[Way]:
    with relay.printer("self-signed", behaviour.https_url) as linked:
        yield relay.way(relay.connect(linked))


def test_it_is_reached_like_any_other(way: Way) -> None:
    assert EchoedRequest.by(call(way, "/a%2Fb?c")).target == "/a%2Fb?c"
    assert call(way, "/file?size=1000000").body == pattern(1_000_000)


def test_its_websockets_work(way: Way) -> None:
    with websocket(way, "/ws-echo") as connection:
        connection.send(pattern(300_000))
        assert connection.recv(timeout=60) == pattern(300_000)


def test_its_request_is_cancelled_when_the_app_leaves(
    way: Way, behaviour: BehaviourPrinter
) -> None:
    key = fresh_key()
    with raw_request(way, "GET", f"/endless?key={key}") as connection:
        connection.recv(1000)

    behaviour.wait_for(key, "cancelled")
