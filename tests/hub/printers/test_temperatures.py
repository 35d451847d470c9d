"""How warm a printer was of late."""

from datetime import timedelta

from printreach.contract.status import Temps
from printreach.hub.printers.readings import APART, MAX_PRINTERS, Temperatures
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import NOON

ONE = OwnedPrinter("1", "ada")


def test_readings_are_kept_some_seconds_apart_and_come_oldest_first() -> None:
    kept = Temperatures()
    for second in range(11):
        kept.note(ONE, NOON + timedelta(seconds=second), Temps(hotend_actual=second))

    assert [one.hotend_c for one in kept.readings_since(ONE, NOON)] == [0, 5, 10]
    assert [one.hotend_c for one in kept.readings_since(ONE, NOON + APART)] == [5, 10]
    assert kept.readings_since(OwnedPrinter("two", "ada"), NOON) == []


def test_printers_that_nobody_watched_for_long_are_forgotten_first() -> None:
    kept = Temperatures()
    for number in range(MAX_PRINTERS + 1):
        kept.note(OwnedPrinter(str(number), "ada"), NOON, Temps())

    assert kept.readings_since(OwnedPrinter("0", "ada"), NOON) == []
    assert len(kept.readings_since(ONE, NOON)) == 1


def test_a_new_owner_sees_no_temperatures_of_the_former_one() -> None:
    kept = Temperatures()
    kept.note(ONE, NOON, Temps(hotend_actual=200))

    assert kept.readings_since(OwnedPrinter(ONE.printer_id, "bob"), NOON) == []
