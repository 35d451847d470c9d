"""The reasons of a warning, and regions on pictures that are turned and flipped."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.detection.scene import ViewCondition
from printreach.rules.printers.cameras import Pose
from printreach.rules.watch.choices import Look, Region, as_shown, as_taken
from printreach.rules.watch.why import VIEW_WORDS, latest_alarm, why

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def look(number: int, quality: int = 9, **of_it: object) -> Look:
    known: dict[str, object] = {
        "at": NOON + timedelta(seconds=20 * number),
        "probability": (10 - quality) / 10,
        "score": 100 - 10 * quality,
        "quality": quality,
        "view": ViewCondition.CLEAR,
    }
    return Look(**(known | of_it))  # type: ignore[arg-type]  # a test names the fields


CALM = [look(number) for number in range(6)]
FALLING = [*CALM, look(6, 5), look(7, 3), look(8, 2), look(9, 1, warned=True), look(10, 1)]


def test_without_a_warning_there_is_nothing_to_explain() -> None:
    assert why(CALM) is None
    assert why([]) is None


def test_the_latest_alarm_is_explained() -> None:
    paused = look(11, 1, paused=True)

    assert latest_alarm([*FALLING, paused]) is paused


def test_quality_was_low_since_it_fell_to_where_a_failure_is_possible() -> None:
    said = why(FALLING)

    assert said is not None
    assert said.alarm == FALLING[9]
    assert said.low_since == FALLING[7].at


def test_an_earlier_bad_look_that_passed_does_not_count() -> None:
    said = why([look(0, 2), *CALM[1:], look(6, 2, warned=True)])

    assert said is not None
    assert said.low_since == look(6).at


def test_a_dark_look_between_bad_ones_does_not_end_them() -> None:
    looks = [*CALM, look(6, 2), look(7, 9, view=ViewCondition.DARK), look(8, 2, warned=True)]
    said = why(looks)

    assert said is not None
    assert said.low_since == look(6).at


def test_the_print_is_compared_with_its_own_first_pictures() -> None:
    said = why(FALLING)

    assert said is not None
    assert said.at_start == pytest.approx(0.1)
    assert said.at_alarm == pytest.approx(0.9)
    assert said.change is None


def test_first_pictures_that_looked_no_better_explain_nothing() -> None:
    doubtful = [look(number, 10, probability=0.99) for number in range(6)]
    said = why([*doubtful, look(6, 1, warned=True)])

    assert said is not None
    assert said.at_start is None
    assert said.at_alarm == pytest.approx(0.9)


def test_after_the_camera_was_moved_only_what_came_since_is_compared() -> None:
    moved = look(5, 5, view=ViewCondition.MOVED)
    later = [look(number, 5) for number in range(6, 12)]
    said = why([*CALM[:5], moved, *later, look(12, 1, warned=True)])

    assert said is not None
    assert said.change is moved
    assert said.at_start == pytest.approx(0.5)


def test_a_print_that_fails_from_its_first_pictures_is_compared_with_nothing() -> None:
    said = why([look(0, 1), look(1, 1), look(2, 1, warned=True)])

    assert said is not None
    assert said.at_start is None


def test_every_view_but_a_clear_one_has_its_words() -> None:
    assert {view for view in ViewCondition if not VIEW_WORDS[view]} == {ViewCondition.CLEAR}


UPPER_LEFT = Region(left=0.0, top=0.0, right=0.2, bottom=0.1)
POSES = st.builds(
    Pose, flip_h=st.booleans(), flip_v=st.booleans(), rotation=st.sampled_from([0, 90, 180, 270])
)
THOUSANDTHS = st.tuples(st.integers(0, 999), st.integers(0, 999)).map(
    lambda two: (min(two) / 1000, (max(two) + 1) / 1000)
)
REGIONS = st.builds(
    lambda x, y: Region(left=x[0], right=x[1], top=y[0], bottom=y[1]), THOUSANDTHS, THOUSANDTHS
)


@pytest.mark.parametrize(
    ("pose", "shown"),
    [
        (Pose(), UPPER_LEFT),
        (Pose(flip_h=True), Region(left=0.8, top=0.0, right=1.0, bottom=0.1)),
        (Pose(flip_v=True), Region(left=0.0, top=0.9, right=0.2, bottom=1.0)),
        (Pose(rotation=90), Region(left=0.9, top=0.0, right=1.0, bottom=0.2)),
        (Pose(rotation=180), Region(left=0.8, top=0.9, right=1.0, bottom=1.0)),
        (Pose(rotation=270), Region(left=0.0, top=0.8, right=0.1, bottom=1.0)),
        (Pose(flip_h=True, rotation=90), Region(left=0.9, top=0.8, right=1.0, bottom=1.0)),
    ],
)
def test_a_region_is_shown_where_the_picture_is_turned_to(pose: Pose, shown: Region) -> None:
    assert as_shown(UPPER_LEFT, pose) == shown


@given(REGIONS, POSES)
def test_what_is_drawn_on_a_picture_is_shown_there_again(region: Region, pose: Pose) -> None:
    assert as_shown(as_taken(region, pose), pose) == region


def test_pictures_are_turned_by_quarters_alone() -> None:
    with pytest.raises(ValueError, match="quarters"):
        Pose(rotation=45)
