"""Regions on pictures that are turned and flipped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.watch_pose import Pose, as_shown, as_taken
from printreach.rules.watching import Region

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
