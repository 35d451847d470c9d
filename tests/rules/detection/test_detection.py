"""From scores of single pictures to warnings and pauses, and when they come."""

import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.detection import LEVELS, DetectionContext, ImageAssessment, Verdict, observe
from printreach.rules.detection.appearance import FIRST_PICTURES
from printreach.rules.detection.scene import SIDE, Scene, ViewCondition

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GOOD, BAD = 0.02, 0.99
BED = tuple(60 + 6 * (place % SIDE) + 3 * (place // SIDE) for place in range(SIDE * SIDE))


def sights(probabilities: Iterable[float], grey: tuple[int, ...] = BED) -> list[ImageAssessment]:
    """Pictures of one scene, no two the very same."""
    return [
        ImageAssessment(probability=probability, scene=Scene(grey=grey, digest=number))
        for number, probability in enumerate(probabilities)
    ]


def watch(
    seen: Iterable[ImageAssessment],
    *,
    interval_s: float = 20,
    context: DetectionContext | None = None,
) -> list[Verdict]:
    now = DetectionContext() if context is None else context
    verdicts = []
    for number, assessment in enumerate(seen):
        now, verdict = observe(now, assessment, START + timedelta(seconds=number * interval_s))
        verdicts.append(verdict)
    return verdicts


def first(verdicts: list[Verdict], flag: str, *, interval_s: float = 20) -> float:
    """When a flag is first set, in seconds since the quality fell to 3."""
    fell = next(n for n, verdict in enumerate(verdicts) if verdict.print_quality <= 3)
    return (next(n for n, v in enumerate(verdicts) if getattr(v, flag)) - fell) * interval_s


def test_a_good_print_is_left_alone() -> None:
    verdicts = watch(sights([GOOD] * 30))

    assert {verdict.print_quality for verdict in verdicts} == {10}
    assert not any(v.warning_suggested or v.faster_inspection_suggested for v in verdicts)
    assert {(v.minimum_interval_s, v.recommended_interval_s) for v in verdicts} == {(5, 20)}


def test_a_single_alarming_frame_neither_warns_nor_asks_for_faster_inspection() -> None:
    verdicts = watch(sights([*[GOOD] * 10, BAD, *[GOOD] * 5]))

    assert not any(v.warning_suggested or v.faster_inspection_suggested for v in verdicts)


@pytest.mark.parametrize("interval_s", [5, 8, 10, 15, 20])
@pytest.mark.parametrize("good_frames", [0, 1, 3, 12])
@pytest.mark.parametrize("level", LEVELS)
def test_a_failure_is_warned_of_and_paused_in_time(
    interval_s: float, good_frames: int, level: int
) -> None:
    context = DetectionContext(warning_level=level, pause_level=level)
    verdicts = watch(
        sights([*[GOOD] * good_frames, *[BAD] * 40]), interval_s=interval_s, context=context
    )

    assert 30 <= first(verdicts, "warning_suggested", interval_s=interval_s) <= 80
    assert 60 <= first(verdicts, "pause_suggested", interval_s=interval_s) <= 120


@pytest.mark.parametrize("interval_s", [60, 300, 3600])
def test_slow_pictures_need_two_to_warn_and_three_to_pause(interval_s: float) -> None:
    verdicts = watch(sights([GOOD, GOOD, GOOD, BAD, BAD, BAD]), interval_s=interval_s)

    assert [v.warning_suggested for v in verdicts][3:] == [False, True, True]
    assert [v.pause_suggested for v in verdicts][3:] == [False, False, True]


def test_what_nobody_saw_between_two_pictures_counts_a_minute_at_most() -> None:
    context, flags = DetectionContext(warning_level=4, pause_level=4), []
    for second, assessment in zip([0, 3600, 3605, 3640], sights([BAD] * 4), strict=True):
        context, verdict = observe(context, assessment, START + timedelta(seconds=second))
        flags.append((verdict.warning_suggested, verdict.pause_suggested))

    assert flags == [(False, False), (True, False), (True, False), (True, True)]


def test_a_print_that_fails_from_its_first_frame_is_caught() -> None:
    assert watch(sights([0.95] * 8))[-1].pause_suggested


def test_a_print_that_always_looked_odd_is_not_paused_for_it() -> None:
    assert not any(v.warning_suggested for v in watch(sights([0.7] * 40)))


def test_the_same_score_counts_for_more_where_the_print_looked_good_before() -> None:
    fallen = watch(sights([*[GOOD] * 4, *[0.5] * 8]))[-1]
    steady = watch(sights([0.5] * 12))[-1]

    assert fallen.score > steady.score + 20


@pytest.mark.slow
def test_the_worse_a_print_looks_the_sooner_the_next_picture_is_asked_for() -> None:
    asked = {
        (verdict.print_quality, verdict.recommended_interval_s)
        for share in range(101)
        for verdict in watch(sights([GOOD] * 4 + [share / 100] * 12))
    }

    assert sorted(asked) == [
        *((quality, 5) for quality in (1, 2, 3)),
        *((quality, 10) for quality in (4, 5)),
        *((quality, 20) for quality in (6, 7, 8, 9, 10)),
    ]


def test_suspicion_asks_for_pictures_sooner() -> None:
    verdicts = watch(sights([*[GOOD] * 4, *[BAD] * 8]))

    assert verdicts[-1].recommended_interval_s == 5
    assert verdicts[-1].faster_inspection_suggested


def test_a_print_that_recovers_is_no_longer_warned_of() -> None:
    verdicts = watch(sights([*[GOOD] * 4, *[BAD] * 10, *[GOOD] * 12]))

    assert verdicts[13].pause_suggested
    assert not verdicts[-1].warning_suggested
    assert verdicts[-1].print_quality >= 8


@pytest.mark.parametrize(
    ("grey", "view"),
    [
        ((3,) * SIDE * SIDE, ViewCondition.DARK),
        ((128,) * SIDE * SIDE, ViewCondition.BLOCKED),
        (tuple(min(255, place + 80) for place in BED), ViewCondition.LIGHT_SWITCHED),
    ],
)
def test_a_changed_scene_is_recognised_and_no_failure(
    grey: tuple[int, ...], view: ViewCondition
) -> None:
    odd = replace(sights([0.6], grey)[0], scene=Scene(grey=grey, digest=99))
    after = [
        replace(assessment, scene=Scene(grey=grey, digest=100 + n))
        for n, assessment in enumerate(sights([0.6] * 10, grey))
    ]

    verdicts = watch([*sights([GOOD] * 6), odd, *after])

    assert verdicts[6].view is view
    assert not any(verdict.warning_suggested for verdict in verdicts)


ELSEWHERE = tuple(reversed(BED))


def views(*greys: tuple[int, ...], probability: float = GOOD) -> list[ViewCondition]:
    """What is said of such pictures, no two the very same."""
    assessments = [
        ImageAssessment(probability=probability, scene=Scene(grey=grey, digest=number))
        for number, grey in enumerate(greys)
    ]
    return [verdict.view for verdict in watch(assessments)]


def hidden_from(grey: tuple[int, ...], row: int) -> tuple[int, ...]:
    """The same with something dark before its rows from there on."""
    return tuple(grey[: row * SIDE]) + (30,) * (SIDE - row) * SIDE


def test_a_camera_that_was_moved_is_recognised_by_its_third_picture() -> None:
    seen = views(*[BED] * 6, *[ELSEWHERE] * 5)

    assert [n for n, view in enumerate(seen) if view is ViewCondition.MOVED] == [8]


def test_a_moved_camera_is_no_failure() -> None:
    """What it shows now is compared with nothing that it showed before."""
    before = sights([GOOD] * 8)
    after = [
        replace(one, scene=Scene(grey=ELSEWHERE, digest=100 + n))
        for n, one in enumerate(sights([0.6] * 12))
    ]

    assert not any(verdict.warning_suggested for verdict in watch([*before, *after]))


def test_one_picture_that_is_unlike_all_others_is_no_moved_camera() -> None:
    """The reference stays, so that a failure is still worse than how the print began."""
    context = DetectionContext()
    for number in range(16):
        grey = ELSEWHERE if number % 3 == 2 else BED
        assessment = ImageAssessment(probability=GOOD, scene=Scene(grey=grey, digest=number))
        context, verdict = observe(context, assessment, START + timedelta(seconds=20 * number))
        assert verdict.view is ViewCondition.CLEAR

    assert len(context.appearance.first) == FIRST_PICTURES


def test_pictures_that_are_all_different_are_no_moved_camera() -> None:
    """A camera at the hotend, or a bed that fills the picture, shows another view each time."""
    greys = [
        tuple(200 if (place * (number + 3) // 5) % 7 == number % 7 else 40 for place in range(256))
        for number in range(12)
    ]

    assert set(views(*greys)) == {ViewCondition.CLEAR}


@pytest.mark.parametrize("row", [4, 8, 11])
def test_what_stays_before_the_camera_is_no_moved_camera(row: int) -> None:
    """A hotend that is parked in front, or what a failed print has piled up."""
    seen = views(*[BED] * 6, *[hidden_from(BED, SIDE - row)] * 8)

    assert ViewCondition.MOVED not in seen


@pytest.mark.parametrize(("gain", "offset"), [(0.25, 0), (0.5, 20), (1.3, 0), (1, 60), (0.6, -10)])
def test_another_light_is_no_moved_camera(gain: float, offset: int) -> None:
    relit = tuple(min(255, max(0, int(place * gain + offset))) for place in BED)

    assert ViewCondition.MOVED not in views(*[BED] * 6, *[relit] * 6, *[BED] * 6)


def test_a_camera_that_is_moved_again_and_again_is_told_each_time() -> None:
    chequered = tuple(
        200 if (place % SIDE // 4 + place // SIDE // 4) % 2 else 60 for place in range(SIDE * SIDE)
    )
    seen = views(*[BED] * 6, *[ELSEWHERE] * 6, *[chequered] * 6)

    assert [n for n, view in enumerate(seen) if view is ViewCondition.MOVED] == [8, 14]


@pytest.mark.parametrize("grey", [(2,) * SIDE * SIDE, (128,) * SIDE * SIDE])
def test_a_picture_that_shows_nothing_suggests_nothing(grey: tuple[int, ...]) -> None:
    blind = ImageAssessment(probability=BAD, scene=Scene(grey=grey, digest=7))
    *_, before, last = watch([*sights([*[GOOD] * 5, *[BAD] * 20]), blind])

    assert before.warning_suggested
    assert before.pause_suggested
    assert not last.warning_suggested
    assert not last.pause_suggested


def test_the_dark_leaves_what_was_known_as_it_was() -> None:
    dark = Scene(grey=(2,) * SIDE * SIDE, digest=7)
    context = DetectionContext()
    for assessment in sights([GOOD, GOOD]):
        context, _ = observe(context, assessment, START)

    after, verdict = observe(context, ImageAssessment(probability=BAD, scene=dark), START)

    assert after.appearance == context.appearance
    assert verdict.print_quality == 10


def test_a_frozen_camera_is_recognised() -> None:
    still = sights([GOOD])[0]

    verdicts = watch([still] * 6)

    assert verdicts[-1].view is ViewCondition.FROZEN
    assert not verdicts[-1].warning_suggested


def test_a_clock_that_moves_back_neither_warns_nor_forgets() -> None:
    context = DetectionContext()
    seconds = [0, 20, 40, 60, 80, -86400, -86380, -86360, -86340]
    verdicts = []
    for second, assessment in zip(seconds, sights([*[GOOD] * 4, *[BAD] * 5]), strict=True):
        context, verdict = observe(context, assessment, START + timedelta(seconds=second))
        verdicts.append(verdict)

    assert not verdicts[5].warning_suggested
    assert verdicts[-1].warning_suggested


PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@pytest.mark.slow
@given(PROBABILITIES, st.lists(st.floats(0, 600), min_size=40, max_size=40))
def test_a_lower_confidence_level_suggests_whatever_a_higher_one_does(
    probabilities: list[float], steps_s: list[float]
) -> None:
    flags: list[list[tuple[bool, bool]]] = []
    for level in LEVELS:
        context, at = DetectionContext(warning_level=level, pause_level=level), START
        flags.append([])
        for assessment, step_s in zip(sights(probabilities), steps_s, strict=False):
            at += timedelta(seconds=step_s)
            context, verdict = observe(context, assessment, at)
            flags[-1].append((verdict.warning_suggested, verdict.pause_suggested))

    for lower, higher in pairwise(flags):
        for (warns, pauses), (warns_too, pauses_too) in zip(lower, higher, strict=True):
            assert warns >= warns_too
            assert pauses >= pauses_too


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=True, allow_infinity=True),
            st.lists(st.integers(0, 255), min_size=SIDE * SIDE, max_size=SIDE * SIDE),
            st.integers(-(10**6), 10**6),
        ),
        max_size=12,
    )
)
def test_whatever_comes_gives_a_verdict_within_bounds(
    frames: list[tuple[float, list[int], int]],
) -> None:
    context = DetectionContext()
    for number, (probability, grey, second) in enumerate(frames):
        assessment = ImageAssessment(
            probability=probability, scene=Scene(grey=tuple(grey), digest=number)
        )
        context, verdict = observe(context, assessment, START + timedelta(seconds=second))

        assert 0 <= verdict.score <= 100
        assert 1 <= verdict.print_quality <= 10
        assert verdict.minimum_interval_s == 5
        assert 5 <= verdict.recommended_interval_s <= 20
        assert context.appearance.mean is None or math.isfinite(context.appearance.mean)
