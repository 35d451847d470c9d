"""How many images are scored at once, for one account and for all."""

from contextlib import ExitStack

import pytest

from printreach.detector.image_queue import MAX_QUEUED
from printreach.hub.detection import MAX_AT_ONCE, MAX_OF_ACCOUNT, scoring_slot
from printreach.limiters.slots import Slots
from printreach.ports.scoring import ScorerBusy


def test_an_account_that_takes_all_its_places_leaves_some_to_others() -> None:
    slots = Slots(MAX_AT_ONCE)
    with ExitStack() as places:
        for _ in range(MAX_OF_ACCOUNT):
            places.enter_context(scoring_slot(slots, "eve"))
        with (
            pytest.raises(ScorerBusy, match="8 images of this account"),
            scoring_slot(slots, "eve"),
        ):
            pass
        with scoring_slot(slots, "ada"):
            pass
    with scoring_slot(slots, "eve"):
        pass


def test_all_accounts_together_leave_the_watch_some_of_the_queue() -> None:
    slots = Slots(MAX_AT_ONCE)
    with ExitStack() as places:
        for number in range(MAX_AT_ONCE):
            places.enter_context(scoring_slot(slots, f"account {number}"))
        with pytest.raises(ScorerBusy, match="too many images"), scoring_slot(slots, "ada"):
            pass
    assert MAX_AT_ONCE < MAX_QUEUED


def test_an_image_that_fails_gives_its_place_back() -> None:
    slots = Slots(MAX_AT_ONCE)
    for _ in range(MAX_AT_ONCE + 1):
        with pytest.raises(ValueError, match="no image"), scoring_slot(slots, "ada"):
            raise ValueError("no image")
