"""A printer's state, built up from its messages."""

from printreach.printers.bambu.known_state import KnownState, model_of, with_message
from printreach.printers.loose import merged
from tests.printers.bambu.reports import known_from, product, whole


def test_changes_are_merged_into_what_is_known() -> None:
    known = known_from(bed_temper=61.5)

    assert known.report["bed_temper"] == 61.5
    assert known.report["nozzle_diameter"] == "0.4"


def test_objects_are_merged_and_lists_replaced() -> None:
    old = {"ipcam": {"record": "on", "dev": "1"}, "hms": [1, 2], "kept": 0}

    assert merged(old, {"ipcam": {"record": "off"}, "hms": [3]}) == {
        "ipcam": {"record": "off", "dev": "1"},
        "hms": [3],
        "kept": 0,
    }
    assert old["hms"] == [1, 2]


def test_a_whole_report_forgets_what_was_known() -> None:
    known = with_message(known_from(of_old=1), whole())

    assert "of_old" not in known.report


def test_a_short_message_that_calls_itself_whole_forgets_nothing() -> None:
    message = {"print": {"command": "push_status", "msg": 0, "mc_percent": 5}}

    assert with_message(known_from(), message).report["nozzle_diameter"] == "0.4"


def test_the_answer_to_an_order_is_no_state() -> None:
    known = known_from()

    assert with_message(known, {"print": {"command": "pause", "gcode_state": "x"}}) is known


def test_there_is_nothing_to_be_told_before_the_first_state() -> None:
    assert not with_message(KnownState(), product("Bambu Lab P1S")).is_enough
    assert known_from().is_enough


def test_keys_without_end_are_not_all_kept() -> None:
    known = known_from()
    for start in range(0, 5000, 500):
        changes = {f"key{number}": 0 for number in range(start, start + 500)}
        known = with_message(known, {"print": {"command": "push_status", "msg": 1, **changes}})

    assert len(known.report) <= 1000


def test_a_part_names_the_printer_where_no_product_is_named() -> None:
    known = with_message(
        KnownState(),
        {"info": {"command": "get_version", "module": [{"name": "ap", "hw_ver": "AP05"}]}},
    )

    assert model_of(known.modules).name == "Bambu Lab X1 Carbon"
    assert model_of(known.modules).tells_all
