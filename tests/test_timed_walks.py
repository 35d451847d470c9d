"""A timed walk tells what it took, and fails the test where that is too long."""

import pytest

from tests.rigs.timed_walks import Walk


def test_a_walk_is_told_with_its_limit() -> None:
    told = list[object]()
    Walk("from here to there", 60, lambda _, value: told.append(value)).end()

    assert told == ["from here to there: 0.0 s, at most 60 s"]


def test_a_walk_over_its_limit_fails_and_is_told_all_the_same() -> None:
    told = list[object]()
    walk = Walk("from here to there", 0, lambda _, value: told.append(value))

    with pytest.raises(AssertionError, match="from here to there took"):
        walk.end()
    assert len(told) == 1
