"""Pictures that show nothing of the print: no verdict is made of them."""

import pytest

from printreach.contract.app_answers import WatchColour
from printreach.contract.status import State
from printreach.rules.detection.detector import newest_quality, unseen_words, watch_status
from printreach.rules.detection.scene import SIDE
from printreach.rules.watch import status_of
from tests.rules.watch.test_watch import BAD, DARK, GOOD, Print


@pytest.mark.parametrize("probability", [GOOD, BAD])
@pytest.mark.parametrize("grey", [DARK, (128,) * SIDE * SIDE])
def test_a_picture_that_shows_nothing_gives_no_verdict(
    probability: float, grey: tuple[int, ...]
) -> None:
    print_ = Print()
    print_.looks(probability, 40)
    before = status_of(print_.memory, print_.at)
    assert newest_quality(before) is not None

    decision = print_.look(0.5, grey)

    after = status_of(print_.memory, print_.at)
    assert newest_quality(after) is None
    assert after.score_history == before.score_history
    assert unseen_words(after)
    line = watch_status(after, State.PRINTING)
    assert (line.status, line.status_color) == (unseen_words(after), WatchColour.WHITE)
    assert decision.is_kept  # so that pages know of it at once
    assert not decision.look.warned

    print_.look(probability)

    assert newest_quality(status_of(print_.memory, print_.at)) is not None
    assert print_.made[-1].is_kept


def test_a_print_that_was_never_seen_is_not_called_perfect() -> None:
    print_ = Print()
    print_.looks(GOOD, 120, DARK)

    assert newest_quality(status_of(print_.memory, print_.at)) is None
    assert print_.memory.history == ()
