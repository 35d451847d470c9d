"""What the soak test finds fault with."""

import random
from dataclasses import replace

from bench.soak.verdict import Measured, Sample, fitted, held, unexplained

MB = 1_000_000
GOOD = Sample(
    at=0.0,
    memory=300 * MB,
    descriptors=2100,
    tasks=200,
    threads=20,
    agents=2000,
    cpu_s=1.0,
    database=10 * MB,
    wal=4 * MB,
)


def samples(growth: float) -> list[Sample]:
    """An hour's, whose memory grows by so many bytes in all, and is noisy."""
    noise = random.Random(1)
    return [
        replace(GOOD, at=at, memory=int(GOOD.memory + growth * at / 3600 + noise.gauss(0, 5 * MB)))
        for at in range(0, 3601, 5)
    ]


def measured(
    *,
    growth: float = 0.0,
    after: Sample = GOOD,
    wal: int = GOOD.wal,
    log: str = "",
    fault: str = "",
) -> Measured:
    return Measured(
        samples=[replace(one, wal=wal) for one in samples(growth)],
        before=GOOD,
        after=after,
        stored=9 * MB,
        faults={"status": [fault] if fault else []},
        log=log,
    )


def test_a_service_that_keeps_nothing_has_no_problems() -> None:
    assert measured(log="2026-11-22T10:00:00+0000 INFO relay agent serves").problems() == []


def test_growth_of_memory_is_fitted_so_noise_does_not_decide() -> None:
    line = fitted(samples(30 * MB), lambda one: one.memory)

    assert abs(line.growth - 30 * MB) < 2 * MB
    assert measured(growth=12 * MB).problems() == []
    assert "Memory grew by" in measured(growth=19 * MB).problems()[0]


def test_memory_that_is_taken_for_a_moment_is_not_kept() -> None:
    quiet = samples(0)
    spikes = [
        replace(one, memory=one.memory + 70 * MB) if index > 400 and index % 2 else one
        for index, one in enumerate(quiet)
    ]

    assert abs(fitted(held(spikes), lambda one: one.memory).growth) < 5 * MB


def test_descriptors_tasks_and_threads_that_stay_behind_are_told() -> None:
    for count, name in (
        ("descriptors", "file descriptors"),
        ("tasks", "asyncio tasks"),
        ("threads", "threads"),
    ):
        few = replace(GOOD, **{count: getattr(GOOD, count) + 10})
        many = replace(GOOD, **{count: getattr(GOOD, count) + 11})

        assert measured(after=few).problems() == []
        assert [name in one for one in measured(after=many).problems()] == [True]


def test_a_long_log_of_the_database_and_unused_pages_are_told() -> None:
    assert "write-ahead log" in measured(wal=40 * MB).problems()[0]
    assert "unused" in measured(after=replace(GOOD, database=18 * MB)).problems()[0]


def test_a_failed_request_is_told_with_what_was_said() -> None:
    assert measured(fault="answered 500").problems() == ["status: 1 failed, such as: answered 500"]


def test_warnings_that_differ_in_numbers_alone_are_counted_together() -> None:
    log = """\
2026-11-22T10:00:00+0000 INFO relay agent serves
2026-11-22T10:00:01+0000 WARNING worker 3 deliveries are late
2026-11-22T10:00:02+0000 WARNING worker 4 deliveries are late
2026-11-22T10:00:03+0000 ERROR web it broke
    Traceback (most recent call last):
"""
    assert sorted(unexplained(log).values()) == [1, 1, 2]


def test_visits_that_may_fail_are_no_problem_and_one_more_is() -> None:
    result = measured(fault="503")

    assert replace(result, may_fail=1).problems() == []
    assert replace(result, may_fail=0).problems() != []
