"""The service loses its power under load, and is started again."""

import time
from collections.abc import Iterator

import pytest

from tests.faults.load import Load, load_on
from tests.rigs.fleet.rig import Fleet, busiest_instant, fleet
from tests.rigs.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.fault]

AGENTS = 200
WITH_CONNECTIONS = 20
BACK_WITHIN_S = 10.0
EXPECTED = {None, 601, 602, 612}  # None: the connection ended with the service


@pytest.fixture(scope="module")
def agents(relay: Service) -> Iterator[Fleet]:
    """Two hundred agents, all connected."""
    with fleet(relay, AGENTS, connections=WITH_CONNECTIONS) as running:
        yield running


def succeed_again(load: Load, count: int) -> bool:
    """Whether the latest requests all went well."""
    return len(load.judged) > count and all(one.is_accepted for one in load.judged[-count:])


def test_all_agents_are_back_within_ten_seconds_and_not_at_once(
    relay: Service, agents: Fleet
) -> None:
    with load_on(agents) as load:
        time.sleep(3)
        killed_at = time.monotonic()
        relay.program.kill()
        relay.program.start()
        arrivals = agents.wait_all_arrived(since=killed_at, seconds=BACK_WITHIN_S)
        time.sleep(2)

    assert max(arrival.at for arrival in arrivals) < killed_at + BACK_WITHIN_S
    assert busiest_instant(arrivals) < AGENTS / 2
    assert load.lies == []
    assert agents.strays() == []
    assert {one.status for one in load.failures if one.status != 200} <= EXPECTED
    assert len(load.accepted) > 50
    assert succeed_again(load, 20)
