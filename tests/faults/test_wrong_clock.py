"""An agent whose clock is wrong, as that of a Raspberry Pi without a battery."""

import json
import re
import subprocess
from collections.abc import Iterator
from functools import partial

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, EchoedRequest, behaviour_printer
from tests.rigs.calls import call
from tests.rigs.service import OWNER, LinkedPrinter, Service, printreach
from tests.rigs.shifted_clock import shifted

pytestmark = pytest.mark.slow

HOUR_S = 3600
LATE_S = 60
"""A time that was under way while the machine stood still says this much less at most."""


@pytest.fixture(scope="module")
def printer(relay: Service) -> Iterator[BehaviourPrinter]:
    """A printer without an agent."""
    with behaviour_printer(relay.folder) as running:
        yield running


@pytest.mark.parametrize("ahead_s", [HOUR_S, -HOUR_S], ids=["ahead", "behind"])
def test_an_agent_an_hour_off_is_linked_and_serves_and_says_so(
    relay: Service, printer: BehaviourPrinter, ahead_s: int
) -> None:
    name = f"off-by-{ahead_s}"
    with relay.agent(name, printer.url, command=partial(shifted, ahead_s)) as agent:
        code = agent.event("link-code")["LinkCode"]
        linked = relay.admin("printer", "link", code, "--account", OWNER, "--name", name)
        agent.event("connected")
        way = relay.way(relay.connect(LinkedPrinter(linked["PrinterId"], agent)))

        assert EchoedRequest.by(call(way, "/any")).target == "/any"
        said = re.search(r"clock is (-?\d+) s off", agent.program.log_tail())
        assert said is not None
        assert abs(int(said[1]) - ahead_s) < LATE_S
        assert abs(clock_offset_of(relay, name) + ahead_s) < LATE_S


def clock_offset_of(relay: Service, name: str) -> float:
    """How far the service's clock is ahead, as `agent status` has it."""
    words = ("agent", "status", "--json", "--data-dir", relay.folder / f"agent-{name}")
    told = subprocess.run(printreach(*words), capture_output=True, check=True)
    offset: float = json.loads(told.stdout)["ClockOffsetSec"]
    return offset
