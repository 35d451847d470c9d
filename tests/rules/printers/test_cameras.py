"""The owner's choices for cameras, and what the platform tells of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.cameras import (
    MAX_CAMERA_CHOICES,
    MAX_CAMERA_NAME,
    CameraChoice,
    format_choices_field,
    parse_choices_field,
)
from printreach.contract.status import ReportedWebcam, WebcamEntry, WebcamList
from printreach.contract.unset import UNSET
from printreach.rules.printers.cameras import (
    ROTATIONS,
    Pose,
    choice_for,
    parse_camera_name,
    pose_at,
    pose_of,
    put_choices,
    with_choices,
)

OVER = WebcamEntry(name="Over", rotation=90, snapshot_url="http://camera/snap")
NOZZLE = WebcamEntry(name="Nozzle", flip_h=True, enabled=False)
LISTED = WebcamList(webcams=[OVER, NOZZLE])

NAMES = st.text("abc ☀", max_size=3)
POSES = st.builds(Pose, st.booleans(), st.booleans(), st.sampled_from(ROTATIONS))
CAMERAS = st.builds(
    WebcamEntry,
    name=NAMES,
    flip_h=st.booleans(),
    flip_v=st.booleans(),
    rotation=st.sampled_from([0, 45, 90, 180, 270]),
)
CHOICES = st.builds(
    CameraChoice,
    camera=NAMES,
    name=st.none() | NAMES,
    flip_h=st.none() | st.booleans(),
    flip_v=st.none() | st.booleans(),
    rotation=st.none() | st.sampled_from(ROTATIONS),
)


def test_what_the_owner_chose_stands_in_place_of_what_the_platform_tells() -> None:
    chosen = CameraChoice(camera="Over", name="Plate", rotation=180)

    [over, nozzle] = with_choices(LISTED, [chosen]).webcams

    assert (over.name, over.rotation, over.flip_h) == ("Plate", 180, False)
    assert over.reported == ReportedWebcam(name="Over", rotation=90)
    assert over.snapshot_url == OVER.snapshot_url
    assert nozzle == NOZZLE
    assert nozzle.reported is UNSET


@given(st.lists(CAMERAS, max_size=3), st.lists(CHOICES, max_size=3), st.lists(CHOICES, max_size=3))
def test_a_list_that_follows_earlier_choices_follows_the_new_ones_alone(
    cameras: list[WebcamEntry], earlier: list[CameraChoice], new: list[CameraChoice]
) -> None:
    listed = WebcamList(webcams=cameras)

    assert with_choices(with_choices(listed, earlier), new) == with_choices(listed, new)
    assert with_choices(with_choices(listed, earlier), ()) == listed


@given(CAMERAS, NAMES.filter(bool), POSES)
def test_a_choice_makes_the_camera_as_it_was_chosen(
    camera: WebcamEntry, name: str, pose: Pose
) -> None:
    choice = choice_for(camera, name, pose)

    [made] = with_choices(WebcamList(webcams=[camera]), [choice]).webcams

    assert (made.name, pose_of(made)) == (name, pose)


def test_what_the_platform_tells_anyway_is_not_chosen() -> None:
    assert choice_for(OVER, "Over", pose_of(OVER)) == CameraChoice(camera="Over")
    assert choice_for(OVER, "", pose_of(OVER)) == CameraChoice(camera="Over")
    assert (
        put_choices([CameraChoice(camera="Over", rotation=0)], [CameraChoice(camera="Over")]) == ()
    )


def test_a_choice_replaces_the_one_before_for_the_same_camera_alone() -> None:
    before = [CameraChoice(camera="Over", name="Plate"), CameraChoice(camera="Nozzle", flip_v=True)]

    assert put_choices(before, [CameraChoice(camera="Over", rotation=180)]) == (
        CameraChoice(camera="Over", rotation=180),
        before[1],
    )


def test_more_choices_than_fit_into_a_request_are_refused() -> None:
    many = [CameraChoice(camera=str(n), rotation=90) for n in range(MAX_CAMERA_CHOICES)]

    assert put_choices(many, [CameraChoice(camera="0", rotation=180)]) is not None
    assert put_choices(many, [CameraChoice(camera="one more", rotation=180)]) is None


def test_the_longest_choices_fit_beside_the_longest_head_of_a_caller() -> None:
    name = "\N{CAMERA}" * MAX_CAMERA_NAME
    longest = [
        CameraChoice(camera=name, name=name, flip_h=False, flip_v=False, rotation=270)
        for _ in range(MAX_CAMERA_CHOICES)
    ]

    assert len(format_choices_field(longest)) < 7 * 1024  # 8 KiB are left beside 32 of the caller


@given(st.lists(CHOICES, max_size=4))
def test_choices_travel_in_a_header_field(choices: list[CameraChoice]) -> None:
    field = format_choices_field(choices)

    assert field.isascii()
    assert parse_choices_field(field) == tuple(choices)


@pytest.mark.parametrize("field", [None, b"", b"?", b"bm9uZQ==", b"W3t9XQ==", b"/w=="])
def test_a_field_that_says_nothing_useful_chooses_nothing(field: bytes | None) -> None:
    assert parse_choices_field(field) == ()


@pytest.mark.parametrize(
    ("typed", "name"),
    [("  Plate ", "Plate"), ("", ""), ("x" * 60, "x" * 60), ("x" * 61, None), ("a\nb", None)],
)
def test_a_cameras_name_is_short_and_printable(typed: str, name: str | None) -> None:
    assert parse_camera_name(typed) == name


def test_an_angle_between_the_quarters_is_ignored() -> None:
    assert pose_of(WebcamEntry(name="Odd", rotation=45)) == Pose()
    assert pose_at([OVER], 0) == Pose(rotation=90)
    assert pose_at([OVER], 1) == Pose()
