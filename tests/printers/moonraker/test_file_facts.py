"""The facts from a print's file: filament, layers, time; never of another file."""

from printreach.contract.status import State
from printreach.contract.unset import UNSET
from printreach.printers.moonraker.status import with_changes
from tests.printers.moonraker.test_translate import first, print_of, printing


def test_filament_is_what_the_slicer_counted() -> None:
    now = print_of(first(State.PRINTING))

    assert (now.est_total_fil_used_mm, now.est_total_fil_weight_mg) == (1235, 3680)


def test_filament_follows_from_what_was_used_where_the_slicer_said_nothing() -> None:
    now = print_of(with_changes(printing(), {"print_stats": {"filament_used": 42.7}}))

    assert (now.est_total_fil_used_mm, now.est_total_fil_weight_mg) == (170, UNSET)


def test_what_is_known_of_a_file_is_forgotten_when_another_is_printed() -> None:
    before = first(State.PRINTING)
    after = with_changes(before, {"print_stats": {"filename": "another.gcode"}})
    now = print_of(after)

    assert print_of(before).est_total_fil_used_mm == 1235
    assert (now.file_name, now.total_layers, now.est_total_fil_used_mm) == (
        "another.gcode",
        None,
        0,
    )
    assert now.est_total_fil_weight_mg is UNSET


def test_filament_is_unknown_while_a_print_begins() -> None:
    begun = with_changes(printing(), {"virtual_sdcard": {"progress": 0.02}})
    begun = with_changes(begun, {"print_stats": {"filament_used": 42.7}})

    assert print_of(begun).est_total_fil_used_mm == 0


def test_filament_of_a_complete_print_is_what_it_used() -> None:
    ended = {"print_stats": {"state": "complete", "filament_used": 42.7}}

    assert print_of(with_changes(printing(), ended)).est_total_fil_used_mm == 42
