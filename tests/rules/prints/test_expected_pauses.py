"""Pauses that were ordered: events of them, and popups."""

import pytest

from printreach.contract.commands import Pause
from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.rules.prints import expect_pause, forget_pause
from tests.rules.watch.looks import watching_print

E = EventType
SILENTLY = Pause(suppress_notification=True)
SMARTLY = Pause(smart_pause=True)


class TestSilentPauses:
    def test_a_pause_that_was_ordered_silently_is_not_told_and_the_next_one_is(self) -> None:
        looker = watching_print()
        looker.tracked = expect_pause(looker.tracked, SILENTLY, looker.at)

        assert looker.look(State.PAUSED) == []
        assert looker.look(State.PRINTING) == [E.RESUMED]
        assert looker.look(State.PAUSED) == [E.PAUSED]

    def test_silence_that_no_pause_followed_ends_after_a_minute(self) -> None:
        looker = watching_print()
        looker.tracked = expect_pause(looker.tracked, SILENTLY, looker.at)

        assert looker.look(State.PAUSED, after_s=61.0) == [E.PAUSED]

    def test_a_pause_that_the_printer_refused_silences_no_other_one(self) -> None:
        looker = watching_print()
        before = looker.tracked
        expected = looker.tracked = expect_pause(before, SMARTLY, looker.at)
        looker.printing()
        looker.tracked = forget_pause(looker.tracked, expected, before)

        assert looker.look(State.PAUSED) == [E.PAUSED]
        assert not looker.tracked.memory.shows_popup

    def test_a_refused_pause_leaves_the_silence_of_the_one_that_was_ordered_after_it(self) -> None:
        looker = watching_print()
        before = looker.tracked
        expected = looker.tracked = expect_pause(before, SILENTLY, looker.at)
        looker.at += 1
        looker.tracked = expect_pause(looker.tracked, SILENTLY, looker.at)
        looker.tracked = forget_pause(looker.tracked, expected, before)

        assert looker.look(State.PAUSED) == []


class TestSmartPausePopup:
    @pytest.mark.parametrize(
        ("order", "shows"),
        [
            (Pause(smart_pause=True), True),
            (Pause(smart_pause=True, suppress_notification=False), True),
            (Pause(smart_pause=True, show_smart_pause_popup=False), False),
            (Pause(), False),
        ],
    )
    def test_it_is_shown_while_a_smart_pause_holds_that_asked_for_it(
        self, order: Pause, shows: bool
    ) -> None:
        looker = watching_print()
        looker.tracked = expect_pause(looker.tracked, order, looker.at)
        seen = []
        for state in (State.PRINTING, State.PAUSED, State.PAUSED, State.RESUMING, State.PRINTING):
            looker.look(state)
            seen.append(looker.tracked.memory.shows_popup)

        assert seen == [False, shows, shows, False, False]

    @pytest.mark.parametrize("end", [State.CANCELLED, State.ERROR, State.COMPLETE])
    def test_it_goes_with_the_print(self, end: State) -> None:
        looker = watching_print()
        looker.tracked = expect_pause(looker.tracked, SMARTLY, looker.at)
        looker.look(State.PAUSED)
        looker.look(end)

        assert not looker.tracked.memory.shows_popup

    def test_a_later_pause_by_somebody_else_shows_none(self) -> None:
        looker = watching_print()
        looker.tracked = expect_pause(looker.tracked, SMARTLY, looker.at)
        looker.look(State.PAUSED, after_s=61)

        assert not looker.tracked.memory.shows_popup
