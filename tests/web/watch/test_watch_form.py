"""The form of failure detection's settings, with valid and invalid fields."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.printers.cameras import Pose
from printreach.rules.watch.choices import MAX_REGIONS, Region, WatchPause, WatchSettings
from printreach.web.forms import Fields
from printreach.web.watch.form import (
    EDGES,
    WatchForm,
    form_of,
    form_sent,
    format_pose,
    parse_pose,
    parse_settings,
)

POSES = st.builds(
    Pose, flip_h=st.booleans(), flip_v=st.booleans(), rotation=st.sampled_from([0, 90, 180, 270])
)
EDGE_PAIRS = st.tuples(st.integers(0, 995), st.integers(0, 995)).map(
    lambda two: (min(two) / 1000, (max(two) + 5) / 1000)
)
SETTINGS = st.builds(
    WatchSettings,
    enabled=st.booleans(),
    warning_level=st.integers(1, 5),
    pause_level=st.integers(1, 5),
    pauses=st.none()
    | st.builds(
        WatchPause,
        disable_hotend=st.booleans(),
        disable_bed=st.booleans(),
        z_lift_mm=st.integers(0, 50),
        retract_filament_mm=st.integers(0, 20),
    ),
    camera=st.none() | st.integers(0, 3),
    masked=st.lists(
        st.builds(
            lambda x, y: Region(left=x[0], right=x[1], top=y[0], bottom=y[1]),
            EDGE_PAIRS,
            EDGE_PAIRS,
        ),
        max_size=MAX_REGIONS,
    ).map(tuple),
    keeps_frames=st.booleans(),
    gives_pictures=st.booleans(),
)
NAMES = [
    *("enabled", "camera", "warning_level", "pauses", "pause_level", "disable_hotend", "pose"),
    *("z_lift", "retract", "keeps_frames", "gives_pictures"),
    *(f"region-{number}-{edge}" for number in (1, 8, 9) for edge in EDGES),
]
NUMBERS = st.sampled_from(
    ["nan", "inf", "-inf", "1e308", "-0", "100", "100.05", "99.95", "0.1", "\u0663", "1_0", "0x1"]
)


def fields_of(form: WatchForm) -> Fields:
    """What a browser sends of it."""
    ticks = {
        "enabled": form.enabled,
        "disable_hotend": form.disable_hotend,
        "disable_bed": form.disable_bed,
        "keeps_frames": form.keeps_frames,
        "gives_pictures": form.gives_pictures,
    }
    texts = {
        "camera": form.camera,
        "warning_level": form.warning_level,
        "pause_level": form.pause_level,
        "pauses": "yes" if form.pauses else "no",
        "z_lift": form.z_lift,
        "retract": form.retract,
        "pose": format_pose(form.pose),
    }
    for number, row in enumerate(form.regions, 1):
        for edge, text in zip(EDGES, row, strict=True):
            texts[f"region-{number}-{edge}"] = text
    return Fields(texts | {name: "yes" for name, is_set in ticks.items() if is_set})


@given(SETTINGS, POSES)
def test_a_form_that_is_sent_as_it_stands_changes_nothing(
    settings: WatchSettings, pose: Pose
) -> None:
    read = parse_settings(fields_of(form_of(settings, pose)), cameras=4)

    assert isinstance(read, WatchSettings)
    assert replace(read, masked=()) == replace(settings, masked=())
    for one, other in zip(read.masked, settings.masked, strict=True):
        assert (one.left, one.top) == pytest.approx((other.left, other.top), abs=0.001)
        assert (one.right, one.bottom) == pytest.approx((other.right, other.bottom), abs=0.001)


@given(st.dictionaries(st.sampled_from(NAMES), NUMBERS | st.text(max_size=20)))
def test_whatever_is_sent_is_read_or_told_to_be_wrong(values: dict[str, str]) -> None:
    read = parse_settings(Fields(values), cameras=2)

    assert isinstance(read, WatchSettings) or read
    form_sent(Fields(values))


@given(POSES)
def test_how_a_picture_was_shown_is_read_as_it_was_written(pose: Pose) -> None:
    assert parse_pose(format_pose(pose)) == pose


@pytest.mark.parametrize("text", ["", "45", "vh90", "h", "90\n", "-90", "\u0669\u0660"])
def test_a_way_to_show_pictures_that_is_none_is_that_of_the_camera(text: str) -> None:
    assert parse_pose(text) == Pose()
