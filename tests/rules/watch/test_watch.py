"""Decisions of the watch: warn, pause, keep a look, look again, and be less sensitive."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.detection import LEVELS, ImageAssessment
from printreach.rules.detection.appearance import Appearance
from printreach.rules.detection.scene import SIDE, Scene, ViewCondition
from printreach.rules.watch import (
    GIVEN_UP_AFTER,
    HISTORY,
    MAX_PAUSES,
    MAX_TRIES,
    WARNED_FOR,
    Decision,
    NoLook,
    after_none,
    after_pause,
    after_refusal,
    after_resume,
    decide,
    is_given_up,
    status_of,
)
from printreach.rules.watch.choices import Judgement, WatchPause, WatchSettings, levels_after
from printreach.rules.watch.memory import WatchMemory

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GOOD, BAD = 0.02, 0.99
BED = tuple(60 + 6 * (place % SIDE) + 3 * (place // SIDE) for place in range(SIDE * SIDE))
DARK = (0,) * SIDE * SIDE
PAUSES = WatchSettings(pauses=WatchPause())


@dataclass
class Print:
    """A print that is looked at. Pauses are carried out by whoever tests them."""

    settings: WatchSettings = PAUSES
    at: datetime = START
    memory: WatchMemory = field(default_factory=WatchMemory)
    made: list[Decision] = field(default_factory=list)

    def look(
        self, probability: float, grey: tuple[int, ...] = BED, digest: int | None = None
    ) -> Decision:
        """digest: of the very picture; None for another one at each look."""
        scene = Scene(grey=grey, digest=len(self.made) if digest is None else digest)
        assessment = ImageAssessment(probability=probability, scene=scene)
        decision = decide(self.memory, assessment, self.settings, self.at)
        self.memory = decision.memory
        self.made.append(decision)
        return decision

    def looks(self, probability: float, seconds: float, grey: tuple[int, ...] = BED) -> None:
        """For so long, or until a pause, each time after the interval that was planned."""
        until = self.at + timedelta(seconds=seconds)
        while self.at < until:
            decision = self.look(probability, grey)
            self.at += timedelta(seconds=self.memory.interval_s)
            if decision.pauses:
                break

    @property
    def warned(self) -> list[datetime]:
        return [one.look.at for one in self.made if one.look.warned]


def failing(settings: WatchSettings = PAUSES) -> Print:
    """Good for 100 s, then bad until it would be paused."""
    print_ = Print(settings)
    print_.looks(GOOD, 100)
    print_.looks(BAD, 200)
    return print_


def test_a_failing_print_is_warned_of_and_then_to_be_paused() -> None:
    print_ = failing()

    [warned_at] = print_.warned
    assert print_.made[-1].pauses
    assert print_.memory.ordering_at == print_.made[-1].look.at
    assert timedelta(seconds=20) <= print_.made[-1].look.at - warned_at <= timedelta(seconds=60)


@pytest.mark.slow
@given(
    interval_s=st.integers(5, 3600),
    good=st.integers(0, 6),
    warning_level=st.sampled_from(LEVELS),
    pause_level=st.sampled_from(LEVELS),
)
def test_nothing_is_paused_that_was_not_warned_of_before(
    interval_s: int, good: int, warning_level: int, pause_level: int
) -> None:
    """However slow the looks come, and however the levels were chosen."""
    settings = replace(PAUSES, warning_level=warning_level, pause_level=pause_level)
    print_ = Print(settings)
    for number in range(good + 30):
        if print_.look(GOOD if number < good else BAD).pauses:
            break
        print_.at += timedelta(seconds=interval_s)

    assert print_.made[-1].pauses
    assert len(print_.warned) >= 1
    assert print_.warned[-1] < print_.made[-1].look.at


def test_without_leave_nothing_is_paused() -> None:
    print_ = failing(WatchSettings())

    assert not any(decision.pauses for decision in print_.made)
    assert len(print_.warned) == 1


def test_in_the_dark_nothing_is_told_or_done() -> None:
    print_ = Print()
    print_.looks(GOOD, 60)
    print_.looks(BAD, 30)
    print_.looks(BAD, 600, DARK)

    assert print_.warned == []
    assert {decision.look.view for decision in print_.made[-5:]} == {ViewCondition.DARK}


def test_a_camera_that_freezes_on_a_bad_picture_tells_nothing() -> None:
    print_ = Print()
    print_.looks(GOOD, 60)
    for _ in range(60):
        print_.look(BAD, digest=99)
        print_.at += timedelta(seconds=5)

    assert {decision.look.view for decision in print_.made[-5:]} == {ViewCondition.FROZEN}
    assert print_.warned == []
    assert not any(decision.pauses for decision in print_.made)


def test_the_limits_are_those_that_owners_are_told() -> None:
    assert MAX_PAUSES == 2
    assert MAX_TRIES == 4
    assert timedelta(minutes=30) == WARNED_FOR


def test_where_all_is_told_there_is_no_hurry() -> None:
    told = failing(WatchSettings())
    print_ = failing()

    assert told.memory.interval_s == 20
    assert print_.made[-2].memory.interval_s == 5


def test_a_warning_stands_while_it_looks_good_for_a_moment_only() -> None:
    print_ = failing(WatchSettings())
    print_.looks(GOOD, 60)
    print_.looks(BAD, 100)
    assert len(print_.warned) == 1

    print_.looks(GOOD, 200)
    print_.looks(BAD, 100)
    assert len(print_.warned) == 2


def test_a_warning_that_nobody_minds_is_given_again_in_time() -> None:
    print_ = failing(WatchSettings())
    print_.looks(BAD, WARNED_FOR.total_seconds() + 60)

    first, second = print_.warned
    assert second - first >= WARNED_FOR


def test_each_resume_takes_the_whole_time_again_and_two_are_the_most() -> None:
    print_ = failing()
    for number in range(1, MAX_PAUSES + 1):
        assert print_.made[-1].pauses
        print_.memory = after_pause(print_.memory, print_.at)
        assert print_.memory.pauses == number
        print_.memory = after_resume(print_.memory, print_.at)
        resumed_at = print_.at
        print_.looks(BAD, 400)
        assert print_.at - resumed_at >= timedelta(seconds=60)

    assert not print_.made[-1].pauses


def test_a_printer_that_refuses_is_not_asked_for_ever() -> None:
    print_ = failing()
    tries = 0
    while print_.made[-1].pauses:
        tries += 1
        print_.memory = after_refusal(print_.memory, print_.at)
        print_.looks(BAD, 600)

    assert tries == MAX_TRIES


def test_who_resumes_says_that_it_is_good_as_it_looks_now() -> None:
    """A print that the watch was wrong about is compared with its pictures after the resume."""
    print_ = failing()
    own = after_resume(after_pause(print_.memory, print_.at), print_.at)
    others = after_resume(replace(print_.memory, is_paused=True), print_.at)

    assert own.context.appearance == Appearance()
    assert others.context.appearance.first == print_.memory.context.appearance.first
    assert others.context.appearance.mean is None


def test_looks_that_show_nothing_new_are_kept_once_a_minute() -> None:
    print_ = Print()
    print_.looks(GOOD, 600)

    kept = [decision.look.at for decision in print_.made if decision.is_kept]
    assert len(kept) == 10


def test_what_tells_something_is_always_kept() -> None:
    print_ = failing()

    assert all(one.is_kept for one in print_.made if one.look.warned or one.pauses)


def test_the_history_has_a_bound() -> None:
    print_ = Print()
    print_.looks(GOOD, 20 * (HISTORY + 5))

    status = status_of(print_.memory, print_.at)
    assert len(status.score_history) == HISTORY
    assert status.interval_sec == 20
    assert status.time_since_last_warn_sec is None


@pytest.mark.parametrize("back", [timedelta(seconds=30), timedelta(days=400)])
def test_a_clock_that_is_moved_back_harms_nothing(back: timedelta) -> None:
    print_ = failing(WatchSettings())
    print_.at -= back
    print_.looks(BAD, 300)
    assert len(print_.warned) == 1
    assert print_.memory.warned_at is not None
    assert print_.memory.warned_at <= print_.at

    status = status_of(print_.memory, START - back)
    assert status.time_since_last_warn_sec == 0
    assert status.time_since_last_score_sec == 0


@pytest.mark.parametrize("why", NoLook)
def test_what_could_not_be_looked_at_is_tried_again_ever_later(why: NoLook) -> None:
    memory, waits = WatchMemory(), []
    for _ in range(8):
        memory, due_at = after_none(memory, why, START)
        waits.append(due_at - START)

    assert waits == sorted(waits)
    assert timedelta(seconds=10) <= waits[0]
    assert waits[-1] <= timedelta(hours=1)


def test_a_printer_that_is_away_for_long_is_given_up() -> None:
    away, _ = after_none(WatchMemory(), NoLook.AWAY, START)
    unreached, _ = after_none(away, NoLook.UNREACHED, START + timedelta(hours=1))
    back, _ = after_none(unreached, NoLook.PAUSED, START + timedelta(hours=2))

    assert not is_given_up(unreached, START + GIVEN_UP_AFTER - timedelta(seconds=1))
    assert is_given_up(unreached, START + GIVEN_UP_AFTER)
    assert not is_given_up(back, START + GIVEN_UP_AFTER)


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
