"""The owner's answer about an alarm, in mid-print."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from printreach.rules.watch import WARNED_FOR, after_answer, is_silenced, status_of
from printreach.rules.watch.choices import Judgement, WatchSettings
from tests.rules.watch.test_watch import BAD, GOOD, PAUSES, Print


def answer(at: datetime, *, was_failure: bool = False) -> Judgement:
    return Judgement(
        printer_id="printer", print_id="print", camera=None, at=at, was_failure=was_failure
    )


def warned_print(settings: WatchSettings = PAUSES) -> Print:
    """Good for a while, then bad until it is warned of."""
    print_ = Print(settings)
    print_.looks(GOOD, 100)
    while not print_.warned:
        print_.looks(BAD, 1)
    return print_


def since_warning(print_: Print) -> float | None:
    return status_of(print_.memory, print_.at).time_since_last_warn_sec


def test_a_no_ends_the_alarm() -> None:
    print_ = warned_print()
    assert since_warning(print_) is not None

    print_.memory = after_answer(print_.memory, answer(print_.at))

    assert since_warning(print_) is None


def test_a_no_ends_the_alarm_of_a_pause() -> None:
    print_ = warned_print()
    print_.memory = replace(print_.memory, paused_at=print_.at)
    assert status_of(print_.memory, print_.at).time_since_last_pause_sec == 0.0

    print_.memory = after_answer(print_.memory, answer(print_.at))

    assert status_of(print_.memory, print_.at).time_since_last_pause_sec is None


def test_after_a_no_the_print_is_not_paused_for_looking_the_same() -> None:
    print_ = warned_print()
    print_.memory = after_answer(print_.memory, answer(print_.at))
    until = print_.warned[0] + WARNED_FOR - timedelta(minutes=1)
    print_.looks(BAD, (until - print_.at).total_seconds())

    assert not any(decision.pauses for decision in print_.made)
    assert len(print_.warned) == 1


def test_an_ended_alarm_does_not_return_once_the_print_looks_good() -> None:
    print_ = warned_print()
    print_.memory = after_answer(print_.memory, answer(print_.at))
    print_.looks(GOOD, 300)

    assert since_warning(print_) is None


def test_after_a_no_a_print_that_goes_wrong_again_is_warned_of_and_paused() -> None:
    print_ = warned_print()
    said = answer(print_.at)
    print_.memory = after_answer(print_.memory, said)
    print_.looks(GOOD, 300)
    print_.looks(BAD, 300)

    assert len(print_.warned) == 2
    assert print_.made[-1].pauses
    assert after_answer(print_.memory, said) == print_.memory  # the answer was about the first one


@pytest.mark.parametrize("was_failure", [True, False])
def test_an_answer_before_the_alarm_is_not_about_it(was_failure: bool) -> None:
    print_ = warned_print()
    early = answer(print_.warned[0] - timedelta(seconds=1), was_failure=was_failure)

    assert after_answer(print_.memory, early) == print_.memory


def test_a_yes_keeps_the_alarm_and_takes_a_no_back() -> None:
    print_ = warned_print()
    yes = answer(print_.at, was_failure=True)
    assert after_answer(print_.memory, yes) == print_.memory

    print_.memory = after_answer(after_answer(print_.memory, answer(print_.at)), yes)

    assert since_warning(print_) is not None


def test_the_same_answer_counts_once() -> None:
    print_ = warned_print()
    said = answer(print_.at)
    once = after_answer(print_.memory, said)

    assert after_answer(once, said) == once


def test_a_print_without_an_alarm_has_nothing_to_answer() -> None:
    print_ = Print()
    print_.looks(GOOD, 60)

    assert after_answer(print_.memory, answer(print_.at)) == print_.memory
    assert after_answer(print_.memory, None) == print_.memory


def test_an_answer_that_is_undone_has_the_alarm_stand_again() -> None:
    print_ = warned_print()
    print_.memory = after_answer(print_.memory, answer(print_.at))

    print_.memory = after_answer(print_.memory, None)

    assert since_warning(print_) is not None


@pytest.mark.parametrize(
    ("look", "for_minutes", "is_silent"),
    [(BAD, 0, True), (BAD, 28, True), (GOOD, 1, True), (GOOD, 4, False)],
)
def test_a_no_keeps_a_print_from_being_warned_of_for_a_while(
    look: float, for_minutes: int, is_silent: bool
) -> None:
    print_ = warned_print()
    print_.memory = after_answer(print_.memory, answer(print_.at))
    print_.looks(look, 60.0 * for_minutes)

    kept = [decision.look for decision in print_.made if decision.is_kept]

    assert is_silenced(kept, print_.at) == is_silent
