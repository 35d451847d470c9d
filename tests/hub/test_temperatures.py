"""How warm a printer was of late."""

from datetime import timedelta

from printreach.contract.status import Temps
from printreach.hub.temperatures import APART, MOST_PRINTERS, Temperatures
from tests.fakes.clock import NOON


def test_readings_are_kept_some_seconds_apart_and_come_oldest_first() -> None:
    kept = Temperatures()
    for second in range(11):
        kept.note("one", NOON + timedelta(seconds=second), Temps(hotend_actual=second))

    assert [one.hotend_c for one in kept.of_late("one", NOON)] == [0, 5, 10]
    assert [one.hotend_c for one in kept.of_late("one", NOON + APART)] == [5, 10]
    assert kept.of_late("two", NOON) == []


def test_printers_that_nobody_watched_for_long_are_forgotten_first() -> None:
    kept = Temperatures()
    for number in range(MOST_PRINTERS + 1):
        kept.note(str(number), NOON, Temps())

    assert kept.of_late("0", NOON) == []
    assert len(kept.of_late("1", NOON)) == 1
