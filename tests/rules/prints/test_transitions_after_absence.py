"""What the first look tells, of an agent that has just started or was away."""

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.rules.prints import Need, NeedKind
from tests.rules.watch.looks import PrintObserver, restarted, watching_idle, watching_print

E = EventType
ASKS = Need(kind=NeedKind.ATTENTION, text="Close the door.")


class TestBeginningToLook:
    @pytest.mark.parametrize("state", list(State))
    def test_the_first_status_ever_tells_nothing(self, state: State) -> None:
        looker = PrintObserver()

        assert looker.look(state, error="Some words", need=ASKS, progress=50.0, bed_c=60.0) == []

    def test_what_follows_it_is_told(self) -> None:
        looker = PrintObserver()
        looker.look(State.PRINTING, progress=55.0, duration_sec=4000, current_layer=30)

        assert looker.printing(seconds=30, progress=56.0, duration_sec=4100, current_layer=31) == []
        assert looker.look(State.PRINTING, progress=60.0, duration_sec=4200) == [E.PROGRESS]
        assert looker.look(State.COMPLETE) == [E.COMPLETE]

    def test_a_print_found_paused_is_resumed_without_telling_how_far_it_was(self) -> None:
        looker = PrintObserver()
        looker.look(State.PAUSED, progress=55.0, duration_sec=4000, current_layer=30)

        assert looker.look(State.PRINTING, progress=55.0, duration_sec=4000) == [E.RESUMED]

    def test_a_restart_in_mid_print_repeats_nothing(self) -> None:
        looker = watching_print()
        looker.printing(seconds=15, progress=31.0, duration_sec=3700, current_layer=5)
        looker.printing(seconds=15, progress=31.0, duration_sec=3715, current_layer=5)
        print_id = looker.tracked.print_id

        again = restarted(looker)

        assert again.printing(seconds=30, progress=32.0, duration_sec=3750, current_layer=6) == []
        assert again.tracked.print_id == print_id

    @pytest.mark.parametrize(
        ("state", "told"), [(State.COMPLETE, E.COMPLETE), (State.CANCELLED, E.FAILED)]
    )
    def test_a_print_that_ended_meanwhile_is_told_as_what_it_became(
        self, state: State, told: EventType
    ) -> None:
        looker = watching_print()
        again = restarted(looker)

        assert again.look(state, after_s=86_400) == [told]
        assert again.told[0].print_id == looker.tracked.print_id

    def test_a_print_that_was_lost_meanwhile_has_failed_and_nobody_claims_to_know_how(self) -> None:
        again = restarted(watching_print())
        again.lose("The printer has not been reached yet.", after_s=86_400)

        assert again.look(State.IDLE) == []
        assert again.look(State.IDLE, after_s=10) == [E.FAILED]
        assert again.told[0].error == (
            "The print ended while the agent was not running; how is not known."
        )

    def test_a_print_that_was_paused_meanwhile_is_told(self) -> None:
        assert restarted(watching_print()).look(State.PAUSED) == [E.PAUSED]

    def test_one_that_began_a_moment_ago_is_told_and_one_found_in_its_midst_is_not(self) -> None:
        assert restarted(watching_idle()).look(State.PRINTING, duration_sec=100) == [E.STARTED]
        assert restarted(watching_idle()).look(State.PRINTING, duration_sec=5000) == []

    def test_the_same_file_begun_anew_meanwhile_is_another_print(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, progress=80.0, duration_sec=9000)
        again = restarted(looker)

        told = again.look(State.PRINTING, progress=1.0, duration_sec=60)
        assert told == [E.FAILED, E.STARTED]
        assert again.tracked.print_id != looker.tracked.print_id

    def test_a_platform_that_counts_time_from_the_agents_start_goes_on_with_its_print(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, progress=80.0, duration_sec=9000)
        again = restarted(looker)

        assert again.look(State.PRINTING, progress=81.0, duration_sec=0) == []
        assert again.tracked.print_id == looker.tracked.print_id

    def test_the_watch_over_the_bed_goes_on_after_a_restart(self) -> None:
        looker = watching_print()
        looker.look(State.COMPLETE, bed_c=60.0)
        again = restarted(looker)
        again.look(State.COMPLETE, bed_c=35.0, after_s=600)

        assert again.look(State.COMPLETE, bed_c=34.0, after_s=5) == [E.BED_COOLED_DOWN]


class TestClockThatJumps:
    def test_a_clock_set_back_mutes_nothing_for_long(self) -> None:
        looker = watching_print()
        looker.look(State.PRINTING, need=ASKS, error="Fan stands still")
        looker.look(State.PRINTING)
        looker.at -= 1_000_000

        assert looker.look(State.PRINTING, need=ASKS, error="Fan stands still") == [
            E.USER_INTERACTION_REQUIRED,
            E.ERROR,
        ]

    def test_a_clock_set_back_ends_the_watch_over_the_bed(self) -> None:
        looker = watching_print()
        looker.look(State.COMPLETE, bed_c=60.0)
        looker.at -= 1_000_000
        looker.look(State.COMPLETE, bed_c=60.0)

        assert looker.tracked.memory.cooling_until is None
