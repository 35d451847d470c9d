"""How "was this right?" makes the watch less sensitive for one camera."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.watching import Judgement, WatchSettings, levels_after

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
CHOSEN = WatchSettings(warning_level=2, pause_level=3)


def judged(
    *, was_failure: bool, days_ago: float = 0.0, camera: int | None = None, print_id: str = "p"
) -> Judgement:
    return Judgement(
        printer_id="workbench",
        print_id=print_id,
        camera=camera,
        at=AT - timedelta(days=days_ago),
        was_failure=was_failure,
    )


ANY_JUDGEMENT = st.builds(
    judged,
    was_failure=st.booleans(),
    days_ago=st.floats(-3, 400),
    camera=st.sampled_from([None, 0, 1]),
)
ANY_SETTINGS = st.builds(
    WatchSettings,
    warning_level=st.integers(1, 5),
    pause_level=st.integers(1, 5),
    camera=st.sampled_from([None, 0, 1]),
)


def test_without_a_judgement_the_levels_are_those_that_were_chosen() -> None:
    assert levels_after(CHOSEN, [], AT) == (2, 3)


def test_a_false_alarm_makes_both_one_step_less_sensitive() -> None:
    assert levels_after(CHOSEN, [judged(was_failure=False)], AT) == (3, 4)


def test_many_false_alarms_make_two_steps_and_no_more() -> None:
    assert levels_after(CHOSEN, [judged(was_failure=False)] * 30, AT) == (4, 5)


def test_the_least_sensitive_level_is_the_last() -> None:
    least = WatchSettings(warning_level=5, pause_level=4)

    assert levels_after(least, [judged(was_failure=False)] * 3, AT) == (5, 5)


def test_a_real_failure_takes_a_false_alarm_back() -> None:
    both = [judged(was_failure=False), judged(was_failure=True)]

    assert levels_after(CHOSEN, both, AT) == (2, 3)


def test_real_failures_make_nothing_more_sensitive_than_was_chosen() -> None:
    assert levels_after(CHOSEN, [judged(was_failure=True)] * 5, AT) == (2, 3)


def test_a_false_alarm_is_felt_for_two_weeks() -> None:
    just_within, just_after = (
        judged(was_failure=False, days_ago=14),
        judged(was_failure=False, days_ago=14.01),
    )

    assert levels_after(CHOSEN, [just_within], AT) == (3, 4)
    assert levels_after(CHOSEN, [just_after], AT) == (2, 3)


def test_what_was_said_of_another_camera_does_not_count() -> None:
    of_another = judged(was_failure=False, camera=1)

    assert levels_after(CHOSEN, [of_another], AT) == (2, 3)
    assert levels_after(replace(CHOSEN, camera=1), [of_another], AT) == (3, 4)


@pytest.mark.parametrize(("said_of", "chosen"), [(None, 0), (0, None)])
def test_the_default_camera_is_the_first_one(said_of: int | None, chosen: int | None) -> None:
    settings = replace(CHOSEN, camera=chosen)

    assert levels_after(settings, [judged(was_failure=False, camera=said_of)], AT) == (3, 4)


def test_a_judgement_from_the_future_counts_as_one_of_now() -> None:
    assert levels_after(CHOSEN, [judged(was_failure=False, days_ago=-900)], AT) == (3, 4)


@given(ANY_SETTINGS, st.lists(ANY_JUDGEMENT, max_size=40))
def test_levels_stay_between_the_chosen_ones_and_two_steps_above(
    settings: WatchSettings, judgements: list[Judgement]
) -> None:
    warning, pause = levels_after(settings, judgements, AT)

    assert settings.warning_level <= warning <= min(5, settings.warning_level + 2)
    assert settings.pause_level <= pause <= min(5, settings.pause_level + 2)


@given(ANY_SETTINGS, st.lists(ANY_JUDGEMENT, max_size=40), ANY_JUDGEMENT)
def test_one_false_alarm_more_makes_nothing_more_sensitive(
    settings: WatchSettings, judgements: list[Judgement], more: Judgement
) -> None:
    before = levels_after(settings, judgements, AT)
    after = levels_after(settings, [*judgements, replace(more, was_failure=False)], AT)

    assert after[0] >= before[0]
    assert after[1] >= before[1]


@given(ANY_SETTINGS, st.lists(ANY_JUDGEMENT, max_size=40))
def test_after_a_year_nothing_is_left_of_it(
    settings: WatchSettings, judgements: list[Judgement]
) -> None:
    a_year_on = AT + timedelta(days=365)

    assert levels_after(settings, judgements, a_year_on) == (
        settings.warning_level,
        settings.pause_level,
    )
