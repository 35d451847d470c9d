"""How many images are scored at once, for one account and for all."""

from contextlib import ExitStack

import pytest

from printreach.detector.image_queue import MAX_QUEUED
from printreach.hub.detection.scoring_slots import MAX_AT_ONCE, MAX_OF_ACCOUNT, ScoringSlots
from printreach.ports.scoring import ScorerBusy


def test_an_account_that_takes_all_its_places_leaves_some_to_others() -> None:
    room = ScoringSlots()
    with ExitStack() as places:
        for _ in range(MAX_OF_ACCOUNT):
            places.enter_context(room.slot("eve"))
        with pytest.raises(ScorerBusy, match="8 images of this account"), room.slot("eve"):
            pass
        with room.slot("ada"):
            pass
    with room.slot("eve"):
        pass


def test_all_accounts_together_leave_the_watch_some_of_the_queue() -> None:
    room = ScoringSlots()
    with ExitStack() as places:
        for number in range(MAX_AT_ONCE):
            places.enter_context(room.slot(f"account {number}"))
        with pytest.raises(ScorerBusy, match="too many images"), room.slot("ada"):
            pass
    assert MAX_AT_ONCE < MAX_QUEUED


def test_an_image_that_fails_gives_its_place_back() -> None:
    room = ScoringSlots()
    for _ in range(MAX_AT_ONCE + 1):
        with pytest.raises(ValueError, match="no image"), room.slot("ada"):
            raise ValueError("no image")
