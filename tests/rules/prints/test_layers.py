"""First and third layers, by number and by height."""

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.rules.prints.layers import LayerMemory, estimate_layer
from tests.rules.watch.looks import watching_idle, watching_print

FIRST, THIRD = EventType.FIRST_LAYER_COMPLETE, EventType.THIRD_LAYER_COMPLETE
HOT_C = 210.0


def test_a_layer_is_done_once_the_next_has_lasted_ten_seconds() -> None:
    looker = watching_print()

    assert looker.printing(seconds=30, current_layer=1) == []
    assert looker.printing(seconds=10, current_layer=2) == []
    assert looker.printing(seconds=1, current_layer=2) == [FIRST]
    assert looker.printing(seconds=60, current_layer=3) == []
    assert looker.printing(seconds=11, current_layer=4) == [THIRD]
    assert looker.printing(seconds=60, current_layer=5) == []


def test_a_number_that_flickers_is_no_layer() -> None:
    looker = watching_print()
    told = [
        kind
        for _ in range(5)
        for layer in (2, 1)
        for kind in looker.printing(seconds=6, current_layer=layer)
    ]

    assert told == []


def test_heights_tell_layers_where_the_platform_counts_none() -> None:
    looker = watching_print()
    told = []
    for height_mm in (0.2, 0.4, 0.6, 0.8, 1.0):
        for _ in range(15):
            told += looker.look(State.PRINTING, height_mm=height_mm, hotend_c=HOT_C)

    assert told == [FIRST, THIRD]
    assert looker.tracked.memory.layers.step_mm is not None


def test_thick_layers_are_counted_by_their_own_height() -> None:
    looker = watching_print()
    told = []
    for height_mm in (0.3, 0.7):
        for _ in range(30):
            told += looker.look(State.PRINTING, height_mm=height_mm, hotend_c=HOT_C)
    assert told == [FIRST]

    for _ in range(30):
        told += looker.look(State.PRINTING, height_mm=1.1, hotend_c=HOT_C)
    assert told == [FIRST]
    for _ in range(30):
        told += looker.look(State.PRINTING, height_mm=1.5, hotend_c=HOT_C)
    assert told == [FIRST, THIRD]


def test_a_height_that_no_printer_has_tells_nothing() -> None:
    memory = LayerMemory(is_first_done=True, is_third_done=True, lowest_mm=0.2, step_mm=0.05)

    assert estimate_layer(memory, 1.7e308) == (memory, None)
    assert estimate_layer(memory, -1.7e308) == (memory, None)


def test_a_nozzle_that_hops_has_not_finished_its_layer() -> None:
    looker = watching_print()
    told = []
    for _ in range(20):
        told += looker.look(State.PRINTING, height_mm=0.2, hotend_c=HOT_C)
        told += looker.look(State.PRINTING, height_mm=0.6, hotend_c=HOT_C)

    assert told == []


def test_a_nozzle_parked_high_after_homing_prints_no_layers() -> None:
    looker = watching_print()
    told = looker.look(State.PRINTING, height_mm=0.0, hotend_c=HOT_C)
    told += looker.look(State.PRINTING, height_mm=0.3, hotend_c=HOT_C)
    for _ in range(60):
        told += looker.look(State.PRINTING, height_mm=15.0, hotend_c=HOT_C)

    assert told == []


def test_a_cold_nozzle_prints_no_layers() -> None:
    looker = watching_idle()
    looker.look(State.PRINTING, height_mm=0.2, hotend_c=30.0)
    told = []
    for _ in range(30):
        told += looker.look(State.PRINTING, height_mm=0.6, hotend_c=30.0)

    assert told == []


def test_pausing_in_the_second_layer_does_not_finish_the_first() -> None:
    looker = watching_print()
    looker.printing(seconds=2, current_layer=2)

    assert looker.look(State.PAUSED, current_layer=2, after_s=300) == [EventType.PAUSED]
    assert looker.look(State.PRINTING, current_layer=2, after_s=300) == [EventType.RESUMED]
    assert looker.printing(seconds=10, current_layer=2) == [FIRST]
