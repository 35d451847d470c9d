"""Limits hold for all nodes together: two relays and two web nodes on PostgreSQL and NATS."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice
from urllib.parse import urlencode

import pytest

from printreach.hub.tries import SIGN_IN_BY_ADDRESS
from printreach.limiters.shared_counts import SHARE
from printreach.rules.printers import WRONG_TRIES_ALLOWED
from tests.journeys.test_several_nodes import sign_in
from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer, fresh_key
from tests.rigs.calls import Answer, call, opened
from tests.rigs.nodes import Nodes, nodes
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.service import LinkedPrinter
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Header, Way

pytestmark = pytest.mark.slow

VIEWERS = 8
"""Of a webcam, by one connection."""


FORM = ("Content-Type", "application/x-www-form-urlencoded")
SOON_S = 10.0  # a second on a quiet machine
FEW = 40
"""Requests of an account in a minute; web nodes use the limit that they read for half of it."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with PostgresqlServer() as server, server.database() as url:
        env = {"PRINTREACH_DATABASE_URL": url}
        with nodes(tmp_path_factory.mktemp("nodes"), env) as several:
            yield several


@pytest.fixture(scope="module")
def webs(running: Nodes) -> Iterator[tuple[Way, Way]]:
    """The ways to both web nodes."""
    host = running.base_url.partition("//")[2]
    running.admin("limits", "--requests-a-minute", str(FEW))
    second = running.node("web-2", "--role", "web")
    with second.program:
        second.wait_ready()
        yield Way(port=running.web.port, host=host), Way(port=second.port, host=host)


@pytest.fixture(scope="module")
def behaviour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BehaviourPrinter]:
    with behaviour_printer(tmp_path_factory.mktemp("behaviour")) as printer:
        yield printer


@pytest.fixture(scope="module")
def linked(running: Nodes, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("behaviour", behaviour.url) as printer:
        yield printer


def post(way: Way, target: str, fields: Mapping[str, str], *headers: Header) -> Answer:
    body, origin = urlencode(fields).encode(), ("Origin", f"http://{way.host}")
    return call(way, target, method="POST", headers=[FORM, origin, *headers], body=body)


def test_the_viewers_of_a_webcam_are_counted_at_all_relays(
    running: Nodes, linked: LinkedPrinter
) -> None:
    connection = running.connect(linked)
    ways = [relay.way(connection) for relay in running.relays]
    stream = f"/stepped/mjpeg?key={fresh_key()}"
    with ExitStack() as viewers:
        for way in islice(cycle(ways), VIEWERS):
            assert viewers.enter_context(opened(way, stream)).status == 200

        for way in ways:
            wait_for("609", partial(answers, way, stream, 609), SOON_S)

    for way in ways:
        wait_for("room for another", partial(answers, way, stream, 200), TIMEOUT_S)


def answers(way: Way, stream: str, status: int) -> bool:
    with opened(way, stream) as answer:
        return answer.status == status


def test_a_browser_that_is_signed_out_at_one_web_node_hears_nothing_more_from_the_other(
    running: Nodes, webs: tuple[Way, Way]
) -> None:
    cookie = sign_in(running, webs[0])
    with ExitStack() as pages:
        streams = [
            pages.enter_context(opened(way, "/printers/events", headers=[cookie])) for way in webs
        ]
        assert [stream.status for stream in streams] == [200, 200]

        assert post(webs[0], "/signout", {}, cookie).status == 303
        signed_out_at = time.monotonic()
        for stream in streams:
            stream.read()

    assert time.monotonic() - signed_out_at < SOON_S


def test_wrong_codes_that_an_account_enters_are_counted_at_all_web_nodes(
    running: Nodes, webs: tuple[Way, Way]
) -> None:
    cookie = sign_in(running, webs[0])
    code = {"code": "ACDEFGHJ", "name": "A printer"}

    statuses = [post(way, "/link", code, cookie).status for way in islice(cycle(webs), 12)]

    assert statuses == [400] * WRONG_TRIES_ALLOWED + [429] * 2


def test_requests_of_an_account_are_counted_at_all_web_nodes(
    running: Nodes, webs: tuple[Way, Way]
) -> None:
    cookie = sign_in(running, webs[0])
    began_at, statuses = time.monotonic(), Counter[int]()
    for way in islice(cycle(webs), 3 * FEW):
        statuses[call(way, "/account", headers=[cookie]).status] += 1
    took_s = time.monotonic() - began_at

    more = took_s * FEW / 60 + 2 * FEW * SHARE
    assert FEW - 1 <= statuses[200] <= FEW + more + 1
    assert statuses[429] == 3 * FEW - statuses[200]


def test_sign_ins_from_one_address_are_counted_at_all_web_nodes(webs: tuple[Way, Way]) -> None:
    """The last one, for nobody signs in from here any more."""
    limit = SIGN_IN_BY_ADDRESS.at_once
    began_at, statuses = time.monotonic(), Counter[int]()
    for number, way in enumerate(islice(cycle(webs), 2 * limit)):
        tried = {"email": f"{number}@example.com", "password": "not the right one"}
        statuses[post(way, "/signin", tried).status] += 1
    took_s = time.monotonic() - began_at

    more = took_s / SIGN_IN_BY_ADDRESS.every.total_seconds() + 2 * limit * SHARE
    assert 2 * limit - statuses[429] <= limit + more + 1
    assert statuses[429] <= limit + 5  # so many as others have used up before
