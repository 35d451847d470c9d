"""Notifications of a person: which events, when, and how many a day."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from printreach.contract.events import EventType
from printreach.rules.notifications import (
    CHOOSABLE,
    DEFAULT_EVENTS,
    RETRY,
    Allowance,
    NotifySettings,
    QuietHours,
    count,
    next_try,
    parse_event_types,
    parse_local_time,
    quiet_until,
    time_to_tell,
    wants,
)

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = QuietHours(begins=time(22), ends=time(7), trouble_passes=True)
AFTERNOON = QuietHours(begins=time(13), ends=time(15), trouble_passes=False)


def utc(month: int, day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("quiet", "at", "until"),
    [
        (NIGHT, utc(6, 1, 19, 59), None),
        (NIGHT, utc(6, 1, 20), utc(6, 2, 5)),  # 22:00 in Berlin
        (NIGHT, utc(6, 2, 4, 59), utc(6, 2, 5)),
        (NIGHT, utc(6, 2, 5), None),
        (AFTERNOON, utc(6, 1, 10, 59), None),
        (AFTERNOON, utc(6, 1, 11), utc(6, 1, 13)),
        (AFTERNOON, utc(6, 1, 13), None),
    ],
)
def test_quiet_hours_follow_the_persons_clock(
    quiet: QuietHours, at: datetime, until: datetime | None
) -> None:
    assert quiet_until(quiet, at, BERLIN) == until


def test_a_night_in_which_the_clocks_go_forward_is_an_hour_shorter() -> None:
    begins, ends = utc(3, 28, 21), utc(3, 29, 5)  # 22:00 and, an hour nearer, 07:00

    assert quiet_until(NIGHT, begins, BERLIN) == ends
    assert quiet_until(NIGHT, ends, BERLIN) is None


def test_a_night_in_which_the_clocks_go_back_is_an_hour_longer() -> None:
    assert quiet_until(NIGHT, utc(10, 24, 20), BERLIN) == utc(10, 25, 6)
    assert quiet_until(NIGHT, utc(10, 25, 5, 59), BERLIN) == utc(10, 25, 6)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Pacific/Apia", "UTC"])
def test_quiet_hours_end_at_some_time_on_every_hour_of_a_year(zone: str) -> None:
    where = ZoneInfo(zone)
    for month in range(1, 13):
        for day in range(1, 29):
            for hour in range(24):
                at = utc(month, day, hour)
                until = quiet_until(NIGHT, at, where)
                local = at.astimezone(where).time()
                assert (until is not None) == (local >= NIGHT.begins or local < NIGHT.ends), at
                assert until is None or until.astimezone(where).time() == NIGHT.ends


def test_news_waits_for_the_end_of_quiet_hours_and_progress_is_left_out() -> None:
    settings = NotifySettings(quiet=NIGHT)
    at, morning = utc(6, 1, 23), utc(6, 2, 5)

    assert time_to_tell(settings, EventType.COMPLETE, at, BERLIN) == morning
    assert time_to_tell(settings, EventType.PROGRESS, at, BERLIN) is None


def test_trouble_is_told_in_quiet_hours_where_the_person_wants_it() -> None:
    at = utc(6, 1, 12)

    assert time_to_tell(NotifySettings(quiet=NIGHT), EventType.ERROR, utc(6, 1, 23), BERLIN) == utc(
        6, 1, 23
    )
    assert time_to_tell(NotifySettings(quiet=AFTERNOON), EventType.ERROR, at, BERLIN) == utc(
        6, 1, 13
    )


def test_outside_quiet_hours_everything_is_told_at_once() -> None:
    at = utc(6, 1, 12)
    for settings in (NotifySettings(), NotifySettings(quiet=NIGHT)):
        assert time_to_tell(settings, EventType.PROGRESS, at, BERLIN) == at


def test_a_printer_with_a_choice_of_its_own_follows_that_alone() -> None:
    settings = NotifySettings(of_printers={"quiet": frozenset(), "own": frozenset({6})})

    assert wants(settings, "other", EventType.COMPLETE)
    assert not wants(settings, "own", EventType.COMPLETE)
    assert wants(settings, "own", EventType.PROGRESS)
    assert not wants(settings, "quiet", EventType.ERROR)


def test_everybody_hears_of_a_reached_limit() -> None:
    settings = NotifySettings(events=frozenset())

    assert wants(settings, "p", EventType.NOTIFICATION_LIMIT_REACHED)


def test_the_limit_is_told_once_and_ends_with_the_day() -> None:
    today, tomorrow = date(2026, 6, 1), date(2026, 6, 2)
    counted, first = count(None, today, 3, limit=4)
    counted, second = count(counted, today, 2, limit=4)
    counted, third = count(counted, today, 2, limit=4)
    _, next_day = count(counted, tomorrow, 4, limit=4)

    assert [first, second, third] == [Allowance.SEND, Allowance.SAY_LIMIT, Allowance.NOTHING]
    assert next_day is Allowance.SEND


def test_a_place_that_fails_is_tried_less_and_less_often() -> None:
    at = utc(6, 1, 12)

    waits = [next_try(failures, at) - at for failures in range(1, 9)]

    assert waits == [*RETRY.pauses, RETRY.pauses[-1], RETRY.pauses[-1]]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("22:30", time(22, 30)),
        ("7:05", time(7, 5)),
        ("07:00:00", time(7)),
        *((wrong, None) for wrong in ("", "22", "24:00", "12:60", "-1:00", "a:b", "²:00", ":")),
    ],
)
def test_a_time_is_read_as_forms_send_it(typed: str, read: time | None) -> None:
    assert parse_local_time(typed) == read


def test_only_what_is_on_the_list_can_be_chosen() -> None:
    assert parse_event_types(["1", "2"]) == frozenset({1, 2})
    assert parse_event_types([]) == frozenset()
    for wrong in (["13"], ["16"], ["99"], ["x"], ["1", "9" * 5000], ["-1"], ["²"]):
        assert parse_event_types(wrong) is None


def test_what_is_told_by_default_can_be_chosen() -> None:
    assert DEFAULT_EVENTS <= CHOOSABLE


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        (timedelta(seconds=5), timedelta(seconds=30)),
        (timedelta(minutes=20), timedelta(minutes=20)),
        (timedelta(days=30), timedelta(hours=3)),
    ],
)
def test_what_a_receiver_asks_to_wait_counts_within_bounds(
    asked: timedelta, waits: timedelta
) -> None:
    at = utc(6, 1, 12)

    assert next_try(1, at, asked) - at == waits
