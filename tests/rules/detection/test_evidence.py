"""Evidence maps: new evidence in a place, and comparison with a growing print."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printreach.rules.detection import DetectionContext, ImageAssessment, Verdict, observe
from printreach.rules.detection.appearance import (
    FARTHEST,
    Appearance,
    EvidenceMap,
    have_same_shape,
    is_rectangular,
    logits,
    moved_towards,
    oddest,
    rise,
)
from printreach.rules.detection.scene import SIDE, Scene

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BED = tuple(60 + 6 * (place % SIDE) for place in range(SIDE * SIDE))
CALM, ODD = 0.02, 0.9
UNSURE = 0.6
SIX: EvidenceMap = ((-3.0,) * 6,) * 6


def a_map(*odd: tuple[int, int], side: int = 8) -> EvidenceMap:
    """Calm but for some places, by row and column, and the one to the right of each."""
    marked = {*odd, *((row, column + 1) for row, column in odd)}
    return tuple(
        tuple(ODD if (row, column) in marked else CALM for column in range(side))
        for row in range(side)
    )


def watch(maps: list[EvidenceMap], probability: float = UNSURE) -> list[Verdict]:
    """Pictures that are as likely failures as wholes; only where differs."""
    context, verdicts = DetectionContext(), []
    for number, evidence in enumerate(maps):
        scene = Scene(grey=BED, digest=number)
        assessment = ImageAssessment(probability=probability, scene=scene, evidence=evidence)
        context, verdict = observe(context, assessment, START + timedelta(seconds=20 * number))
        verdicts.append(verdict)
    return verdicts


def test_what_appears_in_a_calm_place_is_worse_than_what_was_always_there() -> None:
    before, beside = a_map((1, 1), (2, 1)), a_map((5, 5), (6, 5))

    always = watch([before] * 20)
    new = watch([before] * 8 + [beside] * 12)

    assert not any(verdict.warning_suggested for verdict in always)
    assert not any(verdict.warning_suggested for verdict in new[:8])
    assert new[-1].pause_suggested


def test_an_odd_thing_on_a_bed_that_moves_by_a_place_is_no_new_one() -> None:
    here, there = a_map((3, 3), (4, 3)), a_map((4, 4), (5, 4))

    assert not any(v.warning_suggested for v in watch([here] * 8 + [there, here] * 6))


def test_a_print_that_grows_odder_slowly_is_followed() -> None:
    def grown(share: float) -> EvidenceMap:
        return ((1 / (1 + math.exp(4 - 4 * share)),) * 8,) * 8

    suddenly = watch([grown(0)] * 8 + [grown(1)] * 12)
    slowly = watch([grown(0)] * 8 + [grown(n / 160) for n in range(161)])

    assert suddenly[-1].warning_suggested
    assert not any(verdict.warning_suggested for verdict in slowly)


def test_a_print_that_looks_worse_within_a_quarter_of_an_hour_of_growth_is_followed_too() -> None:
    def grown(share: float) -> float:
        return 1 / (1 + math.exp(2.5 - 3.5 * share))

    def verdicts(pictures: int) -> list[Verdict]:
        context, seen = DetectionContext(), []
        shares = [*[0.0] * 8, *(min(1.0, number / pictures) for number in range(80))]
        for number, share in enumerate(shares):
            assessment = ImageAssessment(
                probability=grown(share),
                scene=Scene(grey=BED, digest=number),
                evidence=((grown(share),) * 3,) * 3,
            )
            context, verdict = observe(context, assessment, START + timedelta(seconds=20 * number))
            seen.append(verdict)
        return seen

    assert any(verdict.warning_suggested for verdict in verdicts(2))
    assert not any(verdict.warning_suggested for verdict in verdicts(50))


@pytest.mark.slow
@settings(max_examples=20)
@given(st.floats(0.92, 1.0), st.integers(1, 30))
def test_a_failure_that_is_seen_never_becomes_what_the_print_looks_like(
    probability: float, spreads_over: int
) -> None:
    def pictures() -> Iterator[float]:
        yield from [CALM] * 8
        for number in range(80):
            yield CALM + (probability - CALM) * min(1.0, number / spreads_over)

    context, verdicts = DetectionContext(), []
    for number, odd in enumerate(pictures()):
        assessment = ImageAssessment(
            probability=odd, scene=Scene(grey=BED, digest=number), evidence=((odd,) * 3,) * 3
        )
        context, verdict = observe(context, assessment, START + timedelta(seconds=20 * number))
        verdicts.append(verdict)

    assert verdicts[-1].warning_suggested
    assert verdicts[-1].pause_suggested


def test_a_map_of_another_size_begins_anew() -> None:
    small, large = a_map(), a_map((1, 1), (2, 1), side=10)
    seen = Appearance().then(UNSURE, small, 0).then(UNSURE, large, 20)

    assert seen == Appearance().then(UNSURE, large, 20)


def test_without_maps_the_wholes_are_compared() -> None:
    seen = Appearance().then(CALM, (), 0).then(ODD, (), 20)

    assert seen.risen > 1
    assert seen.oddest == ()


def test_a_memory_without_a_map_is_compared_as_a_whole() -> None:
    full = Appearance()
    for _ in range(6):
        full = full.then(CALM, (), 20)

    assert full.then(ODD, a_map((1, 1)), 20).risen > 0


def test_the_oddest_of_a_place_is_that_of_its_neighbours_too() -> None:
    one = tuple(tuple(4.0 if (r, c) == (2, 5) else -3.0 for c in range(6)) for r in range(6))
    around = oddest((), one)

    odd = {(r, c) for r, row in enumerate(around) for c, place in enumerate(row) if place == 4.0}
    assert odd == {(r, c) for r in (1, 2, 3) for c in (4, 5)}


def test_a_place_follows_upwards_faster_than_downwards() -> None:
    ((up, *_), *_) = moved_towards(SIX, ((1.0,) * 6,) * 6, 0.5)
    ((down, *_), *_) = moved_towards(SIX, ((-7.0,) * 6,) * 6, 0.5)

    assert up == -1.0
    assert -4.0 < down < -3.0


@pytest.mark.parametrize("ragged", [((0.1,), (0.1, 0.2)), ((),), ((0.1,), ())])
def test_rows_of_different_lengths_are_no_map(ragged: EvidenceMap) -> None:
    assert not is_rectangular(ragged)
    with pytest.raises(ValueError, match="rows"):
        ImageAssessment(probability=0.5, scene=Scene(grey=BED, digest=1), evidence=ragged)


@pytest.mark.parametrize(
    "known",
    [
        {"mean": 99.0},
        {"first": (-99.0,)},
        {"oddest": ((99.0,),)},
        {"oddest": ((0.0,), ())},
        {"risen": 99.0},
        {"risen": math.nan},
    ],
)
def test_what_no_print_can_look_like_is_refused(known: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Appearance(**known)  # type: ignore[arg-type]  # each has the field's own type


@st.composite
def maps(draw: st.DrawFn) -> EvidenceMap:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    place = st.floats(allow_nan=True, allow_infinity=True)
    return tuple(tuple(draw(place) for _ in range(columns)) for _ in range(rows))


@given(st.lists(st.tuples(maps(), st.floats(0, 600)), min_size=1, max_size=12))
def test_whatever_the_maps_hold_the_memory_is_one(
    pictures: list[tuple[EvidenceMap, float]],
) -> None:
    seen = Appearance()
    for evidence, step_s in pictures:
        seen = seen.then(UNSURE, evidence, step_s)

        assert 0 <= seen.score <= 100
        assert have_same_shape(seen.oddest, evidence)
        assert all(abs(place) <= FARTHEST for row in seen.oddest for place in row)


@given(maps(), maps())
def test_nothing_has_risen_from_what_was_seen(one: EvidenceMap, other: EvidenceMap) -> None:
    first, second = logits(one), logits(other)
    if not have_same_shape(first, second):
        return
    both = oddest(oddest((), first), second)

    assert rise(both, first) <= 0
    assert rise(both, second) <= 0
