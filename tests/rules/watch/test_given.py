"""A picture is given away only where its owner agreed, before it was taken, and never unmasked."""

from dataclasses import replace
from datetime import timedelta

from printreach.rules.watch.choices import (
    Judgement,
    Region,
    WatchSettings,
    given_picture,
    with_consent,
)
from tests.fakes.clock import NOON

HOUR = timedelta(hours=1)
MASK = Region(0.0, 0.0, 0.5, 0.5)
AGREED = WatchSettings(gives_pictures=True, given_since=NOON, masked=(MASK,))
ANSWER = Judgement(
    printer_id="p1", print_id="a", camera=None, at=NOON + HOUR, was_failure=True, picture="one"
)


def test_nothing_is_given_unless_the_owner_agreed() -> None:
    assert given_picture(WatchSettings(keeps_frames=True), ANSWER) is None


def test_what_is_given_has_the_masks_of_its_camera() -> None:
    given = given_picture(AGREED, ANSWER)

    assert given is not None
    assert given.masked == (MASK,)
    assert given_picture(AGREED, replace(ANSWER, camera=1)) is None


def test_what_was_answered_before_the_owner_agreed_is_not_given() -> None:
    assert given_picture(AGREED, replace(ANSWER, at=NOON - HOUR)) is None


def test_an_answer_without_a_picture_gives_none() -> None:
    assert given_picture(AGREED, replace(ANSWER, picture=None)) is None


def test_taking_it_back_ends_it_and_agreeing_again_begins_anew() -> None:
    agreed = with_consent(WatchSettings(gives_pictures=True), WatchSettings(), NOON)
    changed = with_consent(replace(agreed, given_since=None, warning_level=1), agreed, NOON + HOUR)
    taken_back = with_consent(WatchSettings(), changed, NOON + HOUR)
    again = with_consent(WatchSettings(gives_pictures=True), taken_back, NOON + 2 * HOUR)

    assert (agreed.given_since, changed.given_since) == (NOON, NOON)
    assert taken_back.given_since is None
    assert again.given_since == NOON + 2 * HOUR
