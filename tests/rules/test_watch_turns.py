"""Turns go by account: everybody's first comes before anybody's second."""

from printreach.rules.watch_turns import by_turns, slots_of, slots_per_account_of


def test_everybodys_first_comes_before_anybodys_second() -> None:
    waiting = ["a1", "a2", "a3", "b1", "c1", "b2"]

    assert by_turns(waiting, lambda one: one[0]) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_no_account_fills_the_room() -> None:
    assert slots_per_account_of(degraded=True) < slots_of(degraded=True)
    assert slots_per_account_of(degraded=False) < slots_of(degraded=False)
