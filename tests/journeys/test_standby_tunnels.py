"""An agent with tunnels to two of three relays: the end of one costs no request by the others.

Small requests come all the time by the relay with the standby tunnel, which loses none of them, and
by the third, which loses those that are under way by its link to the one that ends. What a request
took is what its caller had to wait.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest

from tests.faults.attempts import Outcome, attempt
from tests.rigs.behaviour.rig import BehaviourPrinter
from tests.rigs.nodes import Node
from tests.rigs.service import Connection, LinkedPrinter
from tests.rigs.standstills import standstills
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Way
from tests.rigs.whole_fleet import WholeFleet, whole_fleet

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(300)]

CALLERS: Final = 2
"""At each relay."""
BEFORE_S: Final = 1.0
AFTER_S: Final = 4.0
SILENT_S: Final = 15.0
"""Longer than a relay that hangs stays unnoticed."""
AT_ONCE_S: Final = 2.0
"""On a machine that does other work; a tenth of it on a quiet one."""
AGAIN_WITHIN_S: Final = 10.0
"""What is promised of a relay that hangs: its printers answer again."""
STANDBY_S: Final = 60.0
COUNTS: Final = {"relay": 3, "web": 1, "worker": 1, "detector": 0}


@dataclass
class Asked:
    """Requests of callers that never stop asking, and how they ended."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def failures(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.status != 200 or not one.is_whole]

    @property
    def longest_s(self) -> float:
        return max(one.seconds for one in self.outcomes)

    def __str__(self) -> str:
        failed = [(one.status, round(one.seconds, 2)) for one in self.failures]
        return f"{len(self.outcomes)} requests, the longest took {self.longest_s:.2f} s, {failed=}"


@contextmanager
def asking(way: Way) -> Iterator[Asked]:
    asked, is_over = Asked(), threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            asked.outcomes.append(attempt(way, "/file?size=1000"))

    callers = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    try:
        yield asked
    finally:
        is_over.set()
        for caller in callers:
            caller.join()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeFleet]:
    env = {"PRINTREACH_DETECTOR_WATCH": "false"}
    folder = tmp_path_factory.mktemp("whole-fleet")
    with whole_fleet(folder, env=env, counts=COUNTS) as running:
        running.add_owner()
        yield running


@pytest.fixture(scope="module")
def linked(fleet: WholeFleet, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    with fleet.printer("behaving", behaviour.url) as printer:
        yield printer


@pytest.fixture(scope="module")
def connection(fleet: WholeFleet, linked: LinkedPrinter) -> Connection:
    return fleet.connect(linked)


@dataclass(frozen=True)
class Tunnels:
    """Where the agent's tunnels end. third: the relay that has neither."""

    primary: Node
    standby: Node
    third: Node


def tunnels_of(fleet: WholeFleet) -> Tunnels:
    """Where the only agent has its tunnels, once it has both."""

    def look() -> Tunnels | None:
        relays = list(fleet.nodes["relay"])
        primary = [one for one in relays if one.figure("printers_online") == 1]
        standby = [one for one in relays if one.figure("standby_tunnels") == 1]
        if len(primary) != 1 or len(standby) != 1:
            return None
        [third] = [one for one in relays if one not in primary + standby]
        return Tunnels(primary[0], standby[0], third)

    return wait_for("a primary tunnel and a standby", look, STANDBY_S)


def test_the_tunnels_end_at_two_relays_and_the_store_knows_of_the_primary(
    fleet: WholeFleet, linked: LinkedPrinter
) -> None:
    tunnels = tunnels_of(fleet)

    assert tunnels.primary is not tunnels.standby
    assert linked.agent.events("disconnected") == []
    [shown] = json.loads(json.dumps(fleet.admin("printer", "list")))["Printers"]
    assert shown["IsOnline"]


def test_no_request_fails_when_the_relay_of_the_primary_is_killed(
    fleet: WholeFleet, linked: LinkedPrinter, connection: Connection
) -> None:
    tunnels = tunnels_of(fleet)
    with (
        standstills() as machine,
        asking(tunnels.standby.way(connection)) as asked,
        asking(tunnels.third.way(connection)) as asked_elsewhere,
    ):
        time.sleep(BEFORE_S)
        killed_at = time.monotonic()
        tunnels.primary.program.kill()
        time.sleep(AFTER_S)
        stood_still_s = machine.between(killed_at, time.monotonic())
    tunnels.primary.start()

    print(f"\nkilled, by the standby's relay: {asked}\n        by the third: {asked_elsewhere}")
    assert asked.failures == []
    assert asked.longest_s < AT_ONCE_S + stood_still_s
    assert len(asked_elsewhere.failures) <= CALLERS
    assert {one.status for one in asked_elsewhere.failures} <= {601}
    assert asked_elsewhere.longest_s < AT_ONCE_S + stood_still_s
    assert tunnels_of(fleet).primary is tunnels.standby
    assert linked.agent.events("disconnected") == []


def test_no_request_fails_while_each_relay_is_restarted_in_turn(
    fleet: WholeFleet, connection: Connection
) -> None:
    for _ in range(2):
        tunnels = tunnels_of(fleet)
        with (
            standstills() as machine,
            asking(tunnels.standby.way(connection)) as asked,
            asking(tunnels.third.way(connection)) as asked_elsewhere,
        ):
            time.sleep(BEFORE_S)
            began_at = time.monotonic()
            tunnels.primary.program.stop()
            tunnels.primary.start()
            stood_still_s = machine.between(began_at, time.monotonic())

        print(f"\nrestart, by the standby's relay: {asked}\n         third: {asked_elsewhere}")
        assert asked.failures == asked_elsewhere.failures == []
        assert max(asked.longest_s, asked_elsewhere.longest_s) < AT_ONCE_S + stood_still_s


def test_no_request_fails_while_the_relay_of_the_primary_hangs(
    fleet: WholeFleet, connection: Connection
) -> None:
    tunnels = tunnels_of(fleet)
    with (
        standstills() as machine,
        asking(tunnels.standby.way(connection)) as asked,
        asking(tunnels.third.way(connection)) as asked_elsewhere,
    ):
        time.sleep(BEFORE_S)
        began_at = time.monotonic()
        tunnels.primary.program.pause()
        try:
            time.sleep(SILENT_S)
            stood_still_s = machine.between(began_at, time.monotonic())
        finally:
            tunnels.primary.program.resume()

    print(f"\nhangs, by the standby's relay: {asked}\n       by the third: {asked_elsewhere}")
    assert asked.failures == []
    assert asked.longest_s < AT_ONCE_S + stood_still_s
    assert len(asked_elsewhere.failures) <= CALLERS
    assert asked_elsewhere.longest_s < AGAIN_WITHIN_S + stood_still_s
    # It goes on without the tunnel that the agent has left.
    assert tunnels_of(fleet).primary is tunnels.standby
    assert attempt(tunnels.primary.way(connection), "/file?size=1000").status == 200


def test_a_standby_that_ends_is_replaced_and_costs_nothing(
    fleet: WholeFleet, linked: LinkedPrinter, connection: Connection
) -> None:
    tunnels = tunnels_of(fleet)
    with (
        asking(tunnels.primary.way(connection)) as asked,
        asking(tunnels.third.way(connection)) as asked_elsewhere,
    ):
        time.sleep(BEFORE_S)
        tunnels.standby.program.kill()
        tunnels.standby.start()
        assert tunnels_of(fleet).primary is tunnels.primary

    assert asked.failures == asked_elsewhere.failures == []
    assert linked.agent.events("disconnected") == []
