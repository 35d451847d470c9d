"""A camera learns how its good prints look, and never that a failure is normal."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printreach.rules.detection import LEVELS, ImageAssessment
from printreach.rules.detection.appearance import Appearance, EvidenceMap, logit
from printreach.rules.detection.scene import SIDE as SCENE_SIDE
from printreach.rules.detection.scene import Scene
from printreach.rules.watch import decide
from printreach.rules.watch.background import (
    FEWEST_PRINTS,
    MAX_LEARNT_LOGIT,
    CameraBackground,
    begun,
    ended_well,
    learnt,
    still_counting,
)
from printreach.rules.watch.choices import Judgement, WatchPause, WatchSettings
from printreach.rules.watch.memory import WatchMemory
from tests.fakes.clock import NOON

SIDE = 4
BED = tuple(60 + 6 * (place % SCENE_SIDE) for place in range(SCENE_SIDE**2))
SEEN = 0.96
"""A probability with which a failure is clearly seen."""


def a_map(place: float) -> EvidenceMap:
    return ((place,) * SIDE,) * SIDE


def probability_of(places: EvidenceMap) -> float:
    """Return what the model makes of a picture: the mean of its four strongest places."""
    strongest = sorted((logit(place, 9.0) for row in places for place in row), reverse=True)[:4]
    return 1 / (1 + math.exp(-sum(strongest) / 4))


def watched(
    pictures: Sequence[float | EvidenceMap],
    background: CameraBackground,
    level: int = 3,
) -> tuple[WatchMemory, bool]:
    """A print without anybody's answer; whether it was warned of.

    pictures: how odd all places look, or each.
    """
    chosen = WatchSettings(warning_level=level, pause_level=level, pauses=WatchPause())
    memory, is_warned = begun(WatchMemory(), background), False
    for number, shown in enumerate(pictures):
        places = a_map(shown) if isinstance(shown, float) else shown
        assessment = ImageAssessment(
            probability=probability_of(places),
            scene=Scene(grey=BED, digest=number),
            evidence=places,
        )
        decision = decide(memory, assessment, chosen, NOON + timedelta(seconds=20 * number))
        memory = decision.memory
        is_warned |= decision.look.warned
    return memory, is_warned


def answered(*, was_failure: bool) -> Judgement:
    return Judgement(printer_id="p1", print_id="a", camera=None, at=NOON, was_failure=was_failure)


PROBABILITIES = st.lists(st.sampled_from([0.01, 0.2, 0.5, 0.8, 0.9, SEEN, 1.0]), max_size=14)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(PROBABILITIES, min_size=1, max_size=6),
    st.integers(0, 9),
    st.sampled_from(list(LEVELS)),
)
def test_a_failing_print_that_is_seen_is_warned_of_whatever_unanswered_prints_taught(
    earlier: list[list[float]], good_pictures: int, level: int
) -> None:
    background = CameraBackground()
    for probabilities in earlier * 3:  # everything that could teach does, however it ended
        memory, _ = watched(probabilities, background)
        background = learnt(background, memory, NOON)

    _, is_warned = watched([0.02] * good_pictures + [SEEN] * 12, background, level)

    assert is_warned


ODDNESS = st.sampled_from([0.01, 0.2, 0.5, 0.8, 0.9, SEEN, 1.0])
MAPS = st.lists(ODDNESS, min_size=SIDE**2, max_size=SIDE**2).map(
    lambda places: tuple(tuple(places[at : at + SIDE]) for at in range(0, SIDE**2, SIDE))
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(MAPS, min_size=6, max_size=9), min_size=1, max_size=5),
    st.sets(st.integers(0, SIDE**2 - 1), min_size=4, max_size=4),
    st.integers(0, 9),
)
def test_a_failure_in_a_few_places_is_warned_of_whatever_the_places_of_other_prints_taught(
    earlier: list[list[EvidenceMap]], failing: set[int], good_pictures: int
) -> None:
    background = CameraBackground()
    for maps in earlier * 3:
        memory, _ = watched(maps, background)
        background = learnt(background, memory, NOON)
    places = [SEEN if place in failing else 0.02 for place in range(SIDE**2)]
    shown = tuple(tuple(places[at : at + SIDE]) for at in range(0, SIDE**2, SIDE))

    _, is_warned = watched([0.02] * good_pictures + [shown] * 12, background)

    assert is_warned


@given(st.lists(st.floats(-7, 7), min_size=1, max_size=30))
def test_no_place_is_learnt_beyond_its_bound(logits: list[float]) -> None:
    background = CameraBackground()
    for place in logits:
        appearance = Appearance(first=(0.0,) * 6, oddest=a_map(place))
        memory = WatchMemory()
        memory = replace(memory, context=replace(memory.context, appearance=appearance))
        background = learnt(background, memory, NOON)

    assert max(map(max, background.places)) <= MAX_LEARNT_LOGIT


def test_places_that_could_hide_a_failure_are_refused() -> None:
    with pytest.raises(ValueError, match="a place is learnt"):
        CameraBackground(prints=3, places=a_map(2.0))


def test_what_always_appears_later_in_good_prints_is_no_failure_any_more() -> None:
    odd_later = [0.02] * 8 + [0.45] * 20
    background = CameraBackground()
    memory, _ = watched(odd_later, background)
    for _ in range(FEWEST_PRINTS):
        background = learnt(background, memory, NOON)

    unknown, _ = watched(odd_later[:10], CameraBackground())
    known, _ = watched(odd_later[:10], background)

    assert known.history[-1] < unknown.history[-1]


def test_a_camera_with_few_good_prints_is_one_that_nothing_is_known_of() -> None:
    memory, _ = watched([0.02] * 8, CameraBackground())
    background = CameraBackground()
    for _ in range(FEWEST_PRINTS - 1):
        background = learnt(background, memory, NOON)

    assert begun(WatchMemory(), background) == WatchMemory()
    assert begun(WatchMemory(), learnt(background, memory, NOON)) != WatchMemory()


def test_a_print_in_progress_keeps_its_own_reference() -> None:
    memory, _ = watched([0.02] * 3, CameraBackground())

    assert begun(memory, CameraBackground(prints=5, places=a_map(-1.0))) == memory


def test_only_a_print_that_was_never_warned_of_or_answered_for_ended_well() -> None:
    good, _ = watched([0.02] * 8, CameraBackground())
    failing, is_warned = watched([0.02] * 8 + [SEEN] * 12, CameraBackground())

    assert is_warned
    assert ended_well(good, None)
    assert not ended_well(good, answered(was_failure=True))
    assert not ended_well(failing, None)
    assert ended_well(failing, answered(was_failure=False))
    assert not ended_well(WatchMemory(), None)


def test_answers_before_the_owner_had_it_forgotten_do_not_count() -> None:
    forgotten = CameraBackground(forgotten_at=NOON)
    later = replace(answered(was_failure=False), at=NOON + timedelta(seconds=1))

    assert still_counting([answered(was_failure=False), later], forgotten) == [later]
    assert still_counting([later], CameraBackground()) == [later]
