"""What successive looks at a printer tell of its print."""

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.contract.unset import UNSET
from printreach.rules.prints import Need, NeedKind
from tests.rules.watch.looks import NOON_S, watching_idle, watching_print

E = EventType
OUT_OF_FILAMENT = Need(kind=NeedKind.FILAMENT, text="Filament has run out.")
ASKS = Need(kind=NeedKind.ATTENTION, text="Close the door.")


class TestFromStartToEnd:
    def test_a_print_starts_once_whether_it_warms_up_first_or_not(self) -> None:
        looker = watching_idle()

        assert looker.look(State.WARMING_UP) == [E.STARTED]
        assert looker.look(State.PRINTING) == []

    @pytest.mark.parametrize(
        ("state", "error", "told", "says"),
        [
            (State.COMPLETE, None, E.COMPLETE, UNSET),
            (State.CANCELLED, None, E.FAILED, "cancelled"),
            (State.ERROR, "Heater too hot", E.FAILED, "Heater too hot"),
            (State.ERROR, None, E.FAILED, "The print failed."),
        ],
    )
    def test_it_ends_as_what_the_printer_says(
        self, state: State, error: str | None, told: EventType, says: object
    ) -> None:
        looker = watching_print()

        assert looker.look(state, error=error) == [told]
        assert looker.told[0].error == says
        assert looker.look(state, error=error) == []

    @pytest.mark.parametrize("before", [State.WARMING_UP, State.PAUSED, State.RESUMING])
    def test_it_may_end_from_any_state_of_a_print(self, before: State) -> None:
        looker = watching_print()
        looker.look(before)

        assert looker.look(State.CANCELLED) == [E.FAILED]

    def test_one_id_lives_from_start_to_end_and_the_next_print_has_another(self) -> None:
        looker = watching_idle()
        for state in (State.PRINTING, State.PAUSED, State.PRINTING, State.COMPLETE):
            looker.look(state)
        looker.look(State.PRINTING)

        ids = [one.print_id for one in looker.told]
        assert len(set(ids[:4])) == 1
        assert ids[4] != ids[0]
        assert "" not in ids

    def test_another_file_under_way_is_another_print_and_the_first_one_has_ended(self) -> None:
        looker = watching_print()

        assert looker.look(State.PRINTING, file_name="b.gcode") == [E.FAILED, E.STARTED]
        assert [one.file_name for one in looker.told] == ["a.gcode", "b.gcode"]
        assert looker.told[0].print_id != looker.told[1].print_id

    def test_a_file_named_a_moment_later_is_the_same_print(self) -> None:
        looker = watching_idle()

        assert looker.look(State.WARMING_UP, file_name="") == [E.STARTED]
        assert looker.look(State.PRINTING, file_name="a.gcode") == []

    def test_an_event_tells_what_is_known_of_the_print_and_leaves_out_the_rest(self) -> None:
        looker = watching_idle()
        looker.look(State.PRINTING)
        looker.look(
            State.COMPLETE,
            progress=99.7,
            duration_sec=3700,
            time_left_sec=0,
            current_layer=80,
            total_layers=80,
            est_total_fil_used_mm=1200,
        )

        done = looker.told[-1]
        assert (done.progress, done.duration_sec, done.time_remaining_sec) == (100, 3700, 0)
        assert (done.current_layer, done.total_layers) == (80, 80)
        assert (done.filament_used_mm, done.filament_used_mg) == (1200, UNSET)
        assert (done.file_name, done.z_offset_mm) == ("a.gcode", UNSET)
        assert done.print_started_at_sec == NOON_S + 1002


class TestPausing:
    def test_a_pause_and_a_resume_are_told_once_each(self) -> None:
        looker = watching_print()

        assert looker.look(State.PAUSED) == [E.PAUSED]
        assert looker.look(State.PAUSED) == []
        assert looker.look(State.RESUMING) == []
        assert looker.look(State.PRINTING) == [E.RESUMED]

    def test_a_resume_that_comes_to_nothing_is_none(self) -> None:
        looker = watching_print()
        looker.look(State.PAUSED)

        assert looker.look(State.RESUMING) == []
        assert looker.look(State.PAUSED) == []

    def test_a_print_that_is_paused_when_first_seen_after_idle_has_started_and_paused(self) -> None:
        assert watching_idle().look(State.PAUSED) == [E.STARTED, E.PAUSED]


class TestProgress:
    def test_each_tenth_is_told_once_and_the_end_is_no_tenth(self) -> None:
        looker = watching_print()
        for percent in range(101):
            looker.look(State.PRINTING, progress=float(percent))

        assert [one.progress for one in looker.told] == [10, 20, 30, 40, 50, 60, 70, 80, 90]

    def test_several_tenths_at_once_are_one_event(self) -> None:
        looker = watching_print()

        assert looker.look(State.PRINTING, progress=47.0) == [E.PROGRESS]

    def test_progress_that_falls_back_is_not_told_again(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, progress=30.0)

        assert looker.look(State.PRINTING, progress=19.0) == []
        assert looker.look(State.PRINTING, progress=30.0) == []

    def test_each_hour_is_told_once(self) -> None:
        looker = watching_print()

        assert looker.look(State.PRINTING, duration_sec=3599) == []
        assert looker.look(State.PRINTING, duration_sec=3600) == [E.PROGRESS]
        assert looker.look(State.PRINTING, duration_sec=7199) == []
        assert looker.look(State.PRINTING, duration_sec=7200) == [E.PROGRESS]

    def test_an_hour_and_a_tenth_at_once_are_one_event(self) -> None:
        looker = watching_print()

        assert looker.look(State.PRINTING, duration_sec=3600, progress=10.0) == [E.PROGRESS]

    def test_numbers_left_over_from_the_print_before_are_not_told(self) -> None:
        looker = watching_idle()

        assert looker.look(State.WARMING_UP, progress=80.0, duration_sec=9000) == [E.STARTED]
        assert looker.look(State.PRINTING, progress=0.0, duration_sec=0) == []


class TestNeeds:
    def test_a_filament_change_and_a_question_have_events_of_their_own(self) -> None:
        looker = watching_print()

        assert looker.look(State.PAUSED, need=OUT_OF_FILAMENT) == [
            E.PAUSED,
            E.FILAMENT_CHANGE_REQUIRED,
        ]
        assert looker.told[-1].error == "Filament has run out."
        looker.look(State.PRINTING, after_s=300)
        assert looker.look(State.PRINTING, need=ASKS) == [E.USER_INTERACTION_REQUIRED]

    def test_what_stands_is_told_once(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, need=ASKS)

        assert looker.look(State.PRINTING, need=ASKS, after_s=3600) == []

    def test_both_kinds_are_told_at_most_once_in_five_minutes(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, need=ASKS)
        looker.look(State.PRINTING)

        assert looker.look(State.PRINTING, need=OUT_OF_FILAMENT, after_s=297) == []
        looker.look(State.PRINTING)
        assert looker.look(State.PRINTING, need=ASKS) == [E.USER_INTERACTION_REQUIRED]

    def test_a_print_that_waits_for_a_person_is_paused_until_it_goes_on(self) -> None:
        looker = watching_print()

        assert looker.look(State.PAUSED, need=ASKS) == [E.PAUSED, E.USER_INTERACTION_REQUIRED]
        assert looker.look(State.PRINTING) == [E.RESUMED]
        assert looker.look(State.COMPLETE) == [E.COMPLETE]

    def test_without_a_print_nobody_is_called(self) -> None:
        assert watching_idle().look(State.IDLE, need=ASKS) == []


class TestErrors:
    def test_words_of_a_fault_outside_a_print_are_an_error(self) -> None:
        looker = watching_idle()

        assert looker.look(State.ERROR, error="No thermistor") == [E.ERROR]
        assert looker.look(State.ERROR, error="No thermistor") == []

    def test_the_same_words_are_told_at_most_once_in_half_an_hour(self) -> None:
        looker = watching_idle()
        looker.look(State.ERROR, error="No thermistor")
        looker.look(State.IDLE)

        assert looker.look(State.ERROR, error="No thermistor", after_s=1798) == []
        looker.look(State.IDLE)
        assert looker.look(State.ERROR, error="No thermistor") == [E.ERROR]

    def test_other_words_are_another_error(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, error="Fan 1 stands still")

        assert looker.look(State.PRINTING, error="Fan 2 stands still") == [E.ERROR]

    def test_a_fault_that_ended_a_print_is_not_told_twice(self) -> None:
        looker = watching_print()
        looker.look(State.ERROR, error="Heater too hot")

        assert looker.look(State.ERROR, error="Heater too hot", after_s=60) == []

    def test_words_are_cut_and_made_readable(self) -> None:
        looker = watching_idle()
        looker.look(State.ERROR, error="\ud800\x1b[31m" + "x" * 10_000)

        text = looker.told[0].error
        assert isinstance(text, str)
        assert len(text) <= 500
        assert text.isprintable()


class TestLosing:
    def test_a_printer_out_of_reach_for_a_minute_of_a_print_is_an_error_once(self) -> None:
        looker = watching_print()

        assert [looker.lose(), looker.lose(after_s=59)] == [[], []]
        assert looker.lose() == [E.ERROR]
        assert looker.lose(after_s=7200) == []
        assert looker.told[0].error == "It is gone."

    def test_a_short_loss_is_no_news(self) -> None:
        looker = watching_print()
        looker.lose()
        looker.lose(after_s=50)
        looker.look(State.PRINTING)

        assert looker.lose(after_s=50) == []

    def test_without_a_print_it_is_no_news(self) -> None:
        looker = watching_idle()
        looker.lose()

        assert looker.lose(after_s=3600) == []

    def test_what_became_of_the_print_meanwhile_is_told(self) -> None:
        looker = watching_print()
        looker.lose()

        assert looker.look(State.COMPLETE, after_s=600) == [E.COMPLETE]


class TestBreakingDown:
    def test_a_print_whose_printer_breaks_down_has_failed_with_its_words(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, progress=42.0, duration_sec=60)
        looker.told.clear()

        assert looker.break_down() == [E.FAILED]
        assert (looker.told[0].error, looker.told[0].progress) == ("It has shut down.", 42)
        assert looker.break_down() == []

    def test_after_it_was_restarted_nothing_more_is_said_of_that_print(self) -> None:
        looker = watching_print()
        looker.break_down()

        assert looker.look(State.IDLE) == []
        assert looker.look(State.PRINTING) == [E.STARTED]

    def test_without_a_print_it_is_an_error(self) -> None:
        assert watching_idle().break_down() == [E.ERROR]


class TestCooling:
    def test_the_bed_is_cool_under_40_degrees_after_the_end(self) -> None:
        looker = watching_print()
        looker.look(State.COMPLETE, bed_c=60.0)
        told = [
            looker.look(State.COMPLETE, bed_c=bed_c, after_s=5.0)
            for bed_c in (55.0, 40.0, 39.9, 39.0, 38.0)
        ]

        assert told == [[], [], [], [E.BED_COOLED_DOWN], []]
        assert looker.told[-1].print_id == looker.told[0].print_id

    def test_it_is_watched_for_an_hour_and_no_longer(self) -> None:
        looker = watching_print()
        looker.look(State.COMPLETE, bed_c=60.0)
        looker.look(State.COMPLETE, bed_c=50.0, after_s=3601)

        assert looker.look(State.COMPLETE, bed_c=30.0) == []
        assert looker.look(State.COMPLETE, bed_c=30.0, after_s=10) == []

    def test_a_new_print_ends_the_watch(self) -> None:
        looker = watching_print()
        looker.look(State.COMPLETE, bed_c=60.0)
        looker.look(State.WARMING_UP, bed_c=50.0)
        looker.look(State.PRINTING, bed_c=30.0, after_s=10)

        assert looker.look(State.PRINTING, bed_c=30.0, after_s=10) == []

    @pytest.mark.parametrize("bed_c", [0.0, 25.0])
    def test_a_bed_that_was_not_hot_does_not_cool_down(self, bed_c: float) -> None:
        looker = watching_print()
        looker.look(State.COMPLETE, bed_c=bed_c)

        assert looker.look(State.COMPLETE, bed_c=bed_c, after_s=10) == []

    def test_a_bed_that_is_unknown_for_a_while_is_not_cool(self) -> None:
        looker = watching_print()
        looker.look(State.CANCELLED, bed_c=60.0)
        looker.look(State.IDLE, bed_c=0.0, after_s=5)

        assert looker.look(State.IDLE, bed_c=0.0, after_s=10) == []
