"""Two agents with one key: a card was copied, or a backup started beside what it was made of."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.attempts import attempt
from tests.faults.homes import Home
from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer, fresh_key
from tests.rigs.service import Agent, Service

pytestmark = pytest.mark.slow

STAYS_AWAY_S = 60


@contextmanager
def a_double_of(relay: Service, home: Home, folder: Path) -> Iterator[tuple[Agent, Home]]:
    """Another agent with the same key, before another printer."""
    # Drafts of files, too, which are gone a moment later.
    what_only_the_running_one_has = shutil.ignore_patterns("status.json", "*.lock", ".*.new")
    shutil.copytree(
        relay.folder / "agent-victim",
        relay.folder / "agent-double",
        ignore=what_only_the_running_one_has,
    )
    with (
        behaviour_printer(folder, name="printer-of-double") as printer,
        relay.agent("double", printer.url) as agent,
    ):
        agent.event("connected")
        yield agent, Home(printer, home.linked, home.way)


def where_it_arrives(home: Home, *printers: BehaviourPrinter) -> list[bool]:
    """Ask once; which of these printers heard it."""
    key = fresh_key()
    assert attempt(home.way, f"/sink?key={key}", method="POST").status == 200
    return [printer.entries(key) != [] for printer in printers]


def test_the_newest_wins_and_the_older_is_told_and_stays_away(
    relay: Service, victim: Home, folder: Path
) -> None:
    marks = victim.agent.program.log_marks()
    with a_double_of(relay, victim, folder) as (agent, double):
        told = victim.agent.event("disconnected")
        connected = victim.connections_so_far

        assert int(told["RetryInSec"]) >= STAYS_AWAY_S
        assert "Another agent with the same key" in victim.agent.program.log_since(marks)
        for _ in range(20):
            assert where_it_arrives(victim, victim.printer, double.printer) == [False, True]
        assert victim.connections_so_far == connected
        assert agent.events("disconnected") == []
