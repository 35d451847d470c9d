"""The service loses its power under load, and is started again."""

import time
from collections.abc import Iterator

import pytest

from tests.faults.load import Load, load_on
from tests.rigs.fleet.rig import Fleet, busiest_instant, fleet
from tests.rigs.service import Service
from tests.rigs.standstills import standstills
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.fault]

AGENTS = 200
WITH_CONNECTIONS = 20
BACK_WITHIN_S = 10.0
"""From when it serves again until an agent dials, where it was away for a few seconds: agents wait
twice as long each time. How long a start takes, and two hundred sign-ins, is the machine's matter.
"""
TRIES = 3
"""Whoever was due while the machine stood still for a moment dials at its end."""
EXPECTED = {None, 601, 602, 612}  # None: the connection ended with the service


@pytest.fixture(scope="module")
def agents(relay: Service) -> Iterator[Fleet]:
    """Two hundred agents, all connected."""
    with fleet(relay, AGENTS, connections=WITH_CONNECTIONS) as running:
        yield running


def succeed_again(load: Load, count: int) -> bool:
    """Whether the latest requests all went well."""
    return len(load.judged) > count and all(one.is_accepted for one in load.judged[-count:])


@pytest.mark.timeout(300)
def test_all_agents_come_back_within_ten_seconds_and_not_at_once(
    relay: Service, agents: Fleet
) -> None:
    assert any(_come_back_spread_out(relay, agents) for _ in range(TRIES))


def _come_back_spread_out(relay: Service, agents: Fleet) -> bool:
    """Kill the service, and have all of them back in time; whether they dialled one by one."""
    with load_on(agents) as load, standstills() as still:
        wait_for("the load to run", lambda: len(load.accepted) > 20, TIMEOUT_S)
        killed_at = time.monotonic()
        relay.program.kill()
        relay.program.start()
        relay.wait_ready()
        ready_at = time.monotonic()
        agents.wait_all_arrived(since=killed_at)
        dials = agents.dials(since=ready_at)  # a few were quicker than the ready line
        wait_for("requests to succeed again", lambda: succeed_again(load, 20), TIMEOUT_S)
        within_s = max(BACK_WITHIN_S, 2 * (ready_at - killed_at))
        last_at = max((dial.at for dial in dials), default=ready_at)
        assert still.running_s(ready_at, last_at) < within_s

    assert load.lies == []
    assert agents.strays() == []
    assert {one.status for one in load.failures if one.status != 200} <= EXPECTED
    return busiest_instant(dials) < AGENTS / 2
