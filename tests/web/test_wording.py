"""Readings as a person says them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from printreach.languages.values import duration
from printreach.web import wording
from printreach.web.wording import typeset

AFTERNOON = datetime(2026, 12, 20, 16, 2, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-3, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (4320, "1 h 12 min"),
        (86_400, "1 day"),
        (2 * 86_400 + 3 * 3600, "2 days 3 h"),
    ],
)
def test_a_length_of_time_is_said_by_its_two_greatest_units(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("byte_count", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (9_960, "10 kB"),
        (999_600, "1.0 MB"),
        (1_440_000, "1.4 MB"),
        (2_000_000_000_000, "2.0 TB"),
    ],
)
def test_a_size_is_said_as_file_lists_do(byte_count: int, said: str) -> None:
    assert wording.size(byte_count) == said


def test_what_is_not_done_is_never_a_hundred_percent() -> None:
    assert wording.percent(99.99) == "99%"


def test_a_time_of_day_is_utc_until_the_readers_zone_is_known() -> None:
    assert wording.clock(AFTERNOON) == (
        '<time datetime="2026-12-20T14:02:00+00:00" data-time="clock">14:02 UTC</time>'
    )


def test_a_time_around_now_has_its_date_until_the_readers_zone_is_known() -> None:
    assert wording.near(AFTERNOON) == (
        '<time datetime="2026-12-20T14:02:00+00:00" data-time="near">20 December, 14:02 UTC</time>'
    )


def test_a_date_carries_its_moment() -> None:
    at = datetime(2026, 12, 3, 18, tzinfo=UTC)

    assert ">3 December 2026<" in wording.day(at)
    assert ">3 December 2026, 18:00 UTC<" in wording.moment(at)


@pytest.mark.parametrize(
    ("plain", "typeset_text"),
    [
        ("It can't be done.", "It can\u2019t be done."),
        ("'javascript:alert(1)' is no address.", "\u2018javascript:alert(1)\u2019 is no address."),
        (
            "Not ('gcode'), the agents'.",
            "Not (\u2018gcode\u2019), the agents\u2019.",
        ),
    ],
)
def test_quotation_marks_open_and_close(plain: str, typeset_text: str) -> None:
    assert typeset(plain) == typeset_text
