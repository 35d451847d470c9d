"""Which pictures of a print become its video."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from printreach.rules.prints.timelapse import (
    MAX_PICTURES,
    MIN_PICTURES,
    SHORTEST_S,
    Timelapse,
    TimelapsePicture,
    dropped,
    is_next,
    is_shown,
    parse_days,
    pictures_a_second,
    shown,
)
from tests.rules.detection.test_jpeg import picture

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
BEGUN = Timelapse(
    timelapse_id="t",
    account_id="a",
    printer_id="p",
    print_id="1",
    gap_s=20,
    pictures=1,
    taken_at=NOON,
    tries=0,
    video_id=None,
    size=0,
    made_at=None,
)


def pictures(count: int, *, is_events: bool = False) -> list[TimelapsePicture]:
    return [
        TimelapsePicture(
            snapshot_id=f"{is_events:d}-{number}",
            taken_at=NOON + number * SECOND,
            is_events=is_events,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(("seconds", "is_wanted"), [(0, False), (19, False), (20, True)])
def test_a_picture_is_wanted_when_the_gap_is_over(seconds: int, is_wanted: bool) -> None:
    assert is_next(BEGUN, NOON + seconds * SECOND) is is_wanted


def test_the_first_picture_is_wanted_at_once() -> None:
    assert is_next(replace(BEGUN, pictures=0, taken_at=None), NOON)


def test_a_clock_that_was_set_back_stops_no_pictures() -> None:
    assert is_next(replace(BEGUN, taken_at=NOON + timedelta(days=365)), NOON)


@pytest.mark.parametrize(("count", "spare"), [(5, ["0-1", "0-3"]), (6, ["0-1", "0-3"])])
def test_every_second_picture_makes_room_and_both_ends_stay(count: int, spare: list[str]) -> None:
    assert [one.snapshot_id for one in dropped(pictures(count))] == spare


def test_pictures_of_events_are_shown_where_the_others_are_too_few() -> None:
    own, of_events = pictures(MIN_PICTURES), pictures(MIN_PICTURES, is_events=True)

    assert shown([*of_events, *reversed(own)]) == own
    assert len(shown([*of_events, *own[1:]])) == 2 * MIN_PICTURES - 1


def test_too_few_pictures_make_no_video() -> None:
    assert shown(pictures(MIN_PICTURES - 1)) == []


@pytest.mark.parametrize("count", [MIN_PICTURES, 50, MAX_PICTURES])
def test_a_video_lasts_some_seconds(count: int) -> None:
    assert SHORTEST_S <= count / pictures_a_second(count) <= 10


@pytest.mark.parametrize(
    ("text", "days"), [("0", 0), ("365", 365), ("", None), ("-7", None), ("8", None)]
)
def test_days_are_one_of_the_choices(text: str, days: int | None) -> None:
    assert parse_days(text) == days


def of_size(width: int, height: int, *, progressive: bool) -> bytes:
    """A picture that says it has this size."""
    drawn, frame = picture(width=32, height=24, progressive=progressive), b"\x08\x00\x18\x00\x20"
    assert drawn.count(frame) == 1
    return drawn.replace(frame, b"\x08" + height.to_bytes(2) + width.to_bytes(2))


@pytest.mark.parametrize(
    ("width", "height", "progressive"),
    [(1280, 720, False), (4656, 3496, False), (3840, 2160, True)],
)
def test_what_a_webcam_makes_is_shown(width: int, height: int, progressive: bool) -> None:
    assert is_shown(of_size(width, height, progressive=progressive))


@pytest.mark.parametrize(
    ("width", "height", "progressive"), [(7680, 5200, False), (4656, 3496, True)]
)
def test_a_picture_that_takes_long_to_draw_is_not_shown(
    width: int, height: int, progressive: bool
) -> None:
    assert not is_shown(of_size(width, height, progressive=progressive))


def test_scans_behind_fill_bytes_count() -> None:
    drawn = of_size(3840, 2160, progressive=True)
    last = drawn.rindex(b"\xff\xda")
    filled = b"\xff\xff" + drawn[last:-2]

    assert not is_shown(drawn[:-2] + filled * 3 + drawn[-2:])
