"""Counts that nodes add up: what each says of its own, and what it takes of the others'."""

import asyncio

import pytest

from printreach.limiters import shared_counts
from printreach.limiters.shared_counts import LEASE_S, SharedCounts, Spent
from printreach.limiters.slots import Slots
from tests.fakes.loop import on_a_loop


def shared() -> SharedCounts:
    counts = SharedCounts()
    counts.share()
    return counts


def exchange(here: SharedCounts, there: SharedCounts) -> None:
    spent, held = here.take_news()
    there.hear("here", spent, held)


def test_a_node_alone_keeps_nothing_for_others() -> None:
    counts = SharedCounts()

    counts.spend("sign-in", "ada", 10.0, 10.0)
    counts.hold("webcams of ada", 8, 8)

    assert not counts.has_news.is_set()
    assert counts.take_news() == ([], {})


@on_a_loop
async def test_attempts_are_told_once_they_are_an_eighth_of_the_limit() -> None:
    counts = shared()
    for _ in range(7):
        counts.spend("request", "ada", 0.25, 16.0)
    assert not counts.has_news.is_set()

    counts.spend("request", "ada", 0.25, 16.0)

    assert counts.has_news.is_set()
    assert counts.take_news() == ([Spent("request", "ada", 2.0, 16.0)], {})
    assert counts.take_news() == ([], {})


@on_a_loop
async def test_attempts_of_callers_who_seldom_come_are_told_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts, now = shared(), 0.0
    monkeypatch.setattr(shared_counts, "_now", lambda: now)

    for _ in range(100):
        counts.spend("request", "ada", 0.1, 6.0)
        now += 4.0

    assert not counts.has_news.is_set()


@on_a_loop
async def test_however_many_callers_come_a_bounded_number_is_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_counts, "MAX_KEYS", 10)
    counts = shared()

    for number in range(100):
        counts.spend("request", str(number), 0.1, 6.0)
        counts.hear("there", [], {str(number): 1})

    assert len(counts._unsaid) <= 10
    assert sum(counts.held_by_others(str(number)) for number in range(100)) <= 10


@on_a_loop
async def test_slots_of_a_key_are_shared_by_all_nodes() -> None:
    counts = [shared(), shared()]
    here, there = (Slots(name="webcams", counts=each) for each in counts)
    assert [here.take({"ada": 3}) for _ in range(2)] == [True, True]
    exchange(*counts)

    assert [there.take({"ada": 3}) for _ in range(2)] == [True, False]
    assert there.take({"bob": 3})

    here.release(["ada"])
    here.release(["ada"])
    exchange(*counts)
    assert [there.take({"ada": 3}) for _ in range(3)] == [True, True, False]


@on_a_loop
async def test_what_is_counted_by_another_name_is_counted_apart() -> None:
    counts = [shared(), shared()]
    Slots(name="webcams", counts=counts[0]).take({"ada": 1})
    exchange(*counts)

    assert Slots(name="streams", counts=counts[1]).take({"ada": 1})


@on_a_loop
async def test_of_large_limits_only_changes_of_an_eighth_are_told() -> None:
    counts = shared()
    told = []
    for count in [*range(1, 81), *range(79, -1, -1)]:
        counts.hold("streams", count, 256)
        told += list(counts.take_news()[1].values())

    assert told == [32, 64, 32, 0]


@on_a_loop
async def test_what_ended_before_it_was_told_is_not_told_as_under_way() -> None:
    here, there = shared(), shared()

    here.hold("webcams", 1, 8)
    here.hold("webcams", 0, 8)
    exchange(here, there)

    assert there.held_by_others("webcams") == 0


@on_a_loop
async def test_what_a_node_that_died_had_under_way_stops_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there, now = shared(), shared(), 0.0
    monkeypatch.setattr(shared_counts, "_now", lambda: now)
    here.hold("webcams", 5, 8)
    exchange(here, there)

    now = LEASE_S - 1.0
    there.hear("here", [], here.repeat())
    now = LEASE_S + 1.0
    assert there.held_by_others("webcams") == 5
    now = 2 * LEASE_S
    assert there.held_by_others("webcams") == 0


@on_a_loop
async def test_who_waits_for_news_is_woken() -> None:
    counts = shared()
    waiting = asyncio.create_task(counts.has_news.wait())
    await asyncio.sleep(0)

    counts.hold("webcams", 1, 8)

    assert await asyncio.wait_for(waiting, 1.0)
