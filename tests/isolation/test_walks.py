"""A random walk over the whole service finds no leak, and finds each fault that is planted.

`make isolation` walks much farther.
"""

from collections.abc import Iterator

import pytest

from tests.isolation.walk.episodes import WalkFailed, Walks, planned, quick_folder, shrunk
from tests.isolation.walk.faults import FAULTS
from tests.isolation.walk.walk import STEPS, Step

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SEED = 7
EARLY = {
    "blocking_spares_connections": 1,
    "connections_are_ended_by_anybody": 2,
    "leases_are_not_looked_at": 9,
    "live_links_ignore_their_owner": 2,
    "members_have_every_role": 12,
    "members_stay_after_their_end": 3,
    "pages_ignore_whose_a_printer_is": 1,
    "sessions_do_not_end": 1,
    "tickets_outlive_their_session": 6,
}
"""Seeds of walks that meet a fault within two hundred steps; from others it takes many more."""
SHORT = 400
LONGEST_FOR_A_FAULT = 2_000


@pytest.fixture(scope="module")
def walks() -> Iterator[Walks]:
    with quick_folder() as folder:
        walks = Walks(folder)
        yield walks
        walks.close()


def test_nothing_of_an_account_reaches_another_whatever_happens(walks: Walks) -> None:
    walks.walk(SEED, SHORT)

    assert walks.report.steps == SHORT
    assert walks.report.checks > SHORT


@pytest.mark.parametrize("fault", FAULTS)
def test_a_walk_finds_what_would_let_one_account_reach_another(
    walks: Walks, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[fault](monkeypatch)

    with pytest.raises(WalkFailed):
        walks.walk(EARLY.get(fault, SEED), LONGEST_FOR_A_FAULT)


def test_a_walk_that_fails_is_shrunk_to_the_few_steps_that_matter(
    walks: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS["sessions_do_not_end"](monkeypatch)
    with pytest.raises(WalkFailed) as failed:
        walks.walk(EARLY["sessions_do_not_end"], LONGEST_FOR_A_FAULT)

    shortest = shrunk(walks, failed.value)

    assert len(shortest.steps) <= 3
    with pytest.raises(WalkFailed):
        walks.episode(shortest.seed, shortest.steps)


def test_a_seed_gives_the_same_walk_again() -> None:
    assert planned(SEED, SHORT) == planned(SEED, SHORT)
    assert planned(SEED, SHORT)[:10] == planned(SEED, 10)
    assert planned(SEED, SHORT) != planned(SEED + 1, SHORT)


def test_every_kind_of_step_may_come_first(walks: Walks) -> None:
    for name in STEPS:
        walks.episode(0, [Step(name, 1)])
