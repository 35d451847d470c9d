"""Prints that disappear without a usual end."""

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.rules.prints.transitions import GONE_AFTER_S
from tests.rules.watch.looks import watching_print

E = EventType


class TestPrintsThatAreLost:
    def test_a_print_that_is_gone_without_an_end_has_failed_and_is_told_once(self) -> None:
        looker = watching_print()
        looker.printing(progress=42.0, duration_sec=600)
        looker.told.clear()
        print_id = looker.tracked.print_id

        assert looker.look(State.IDLE) == []
        assert looker.look(State.IDLE, after_s=GONE_AFTER_S) == [E.FAILED]
        assert looker.look(State.IDLE, after_s=3600) == []

        failed = looker.told[0]
        assert failed.error == "The printer ended the print and reported no reason."
        assert (failed.print_id, failed.progress, failed.duration_sec) == (print_id, 42, 600)
        assert looker.look(State.PRINTING) == [E.STARTED]

    @pytest.mark.parametrize("lost_for_s", [1, 12, 59])
    def test_a_print_lost_in_a_short_absence_has_failed_with_what_is_known(
        self, lost_for_s: int
    ) -> None:
        looker = watching_print()
        looker.lose("Klipper is starting.")
        looker.lose("Klipper is ready soon.", after_s=lost_for_s)
        looker.look(State.IDLE)

        assert looker.look(State.IDLE, after_s=GONE_AFTER_S) == [E.FAILED]
        assert looker.told[0].error == "The print was lost. Klipper is starting."

    def test_a_print_whose_firmware_stays_away_has_failed_after_a_minute(self) -> None:
        looker = watching_print()
        looker.lose("No connection to Klipper.", ends_prints=True)

        assert looker.lose("No connection to Klipper.", after_s=59, ends_prints=True) == []
        assert looker.lose("No connection to Klipper.", after_s=1, ends_prints=True) == [E.FAILED]
        assert looker.lose("No connection to Klipper.", after_s=75, ends_prints=True) == []
        assert looker.look(State.IDLE) == looker.look(State.IDLE, after_s=GONE_AFTER_S) == []
        assert looker.told[0].error == "No connection to Klipper."

    def test_a_print_out_of_reach_for_long_has_failed_once_its_printer_is_back_without_it(
        self,
    ) -> None:
        looker = watching_print()
        looker.lose()
        assert looker.lose(after_s=60) == [E.ERROR]
        looker.look(State.IDLE)

        assert looker.look(State.IDLE, after_s=GONE_AFTER_S) == [E.FAILED]

    def test_a_print_that_was_as_good_as_done_is_complete(self) -> None:
        looker = watching_print()
        looker.printing(progress=99.9, duration_sec=600)
        looker.look(State.IDLE)

        assert looker.look(State.IDLE, after_s=GONE_AFTER_S) == [E.COMPLETE]

    def test_a_printer_that_reports_nothing_for_a_moment_goes_on_with_its_print(self) -> None:
        looker = watching_print()
        looker.printing(progress=25.0, duration_sec=600)
        looker.told.clear()
        print_id = looker.tracked.print_id
        looker.look(State.IDLE, after_s=GONE_AFTER_S / 2)

        assert looker.printing(progress=25.1, duration_sec=603) == []
        assert looker.tracked.print_id == print_id
        assert looker.look(State.IDLE, after_s=GONE_AFTER_S) == []

    def test_an_end_that_is_reported_a_moment_late_is_the_end(self) -> None:
        looker = watching_print()
        looker.look(State.IDLE)

        assert looker.look(State.CANCELLED) == [E.FAILED]
        assert looker.told[0].error == "cancelled"

    def test_a_file_begun_anew_at_once_is_another_print(self) -> None:
        looker = watching_print()
        looker.printing(progress=25.0, duration_sec=600)
        looker.told.clear()
        looker.look(State.IDLE)

        assert looker.look(State.PRINTING, progress=0.0, duration_sec=1) == [E.FAILED, E.STARTED]
        assert looker.told[0].print_id != looker.told[1].print_id

    def test_the_bed_of_a_print_that_was_lost_is_watched_until_it_is_cool(self) -> None:
        looker = watching_print()
        looker.look(State.IDLE, bed_c=60.0)
        looker.look(State.IDLE, bed_c=58.0, after_s=GONE_AFTER_S)
        looker.look(State.IDLE, bed_c=39.0, after_s=600)

        assert looker.look(State.IDLE, bed_c=38.0, after_s=5) == [E.BED_COOLED_DOWN]
