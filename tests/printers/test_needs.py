"""The needs of printers for a person, as each platform reports them."""

import pytest

from printreach.contract.status import State
from printreach.printers.bambu.states import code_of, need_of, state_of
from printreach.printers.duet.known_state import KnownState as KnownDuet
from printreach.printers.duet.known_state import with_model
from printreach.printers.duet.translate import view_of as view_of_duet
from printreach.printers.octoprint.profile import Profile
from printreach.printers.octoprint.translate import (
    NEED_SHOWS,
    features_of,
    view_of,
    with_current,
    with_event,
)
from printreach.printers.octoprint.translate import KnownState as KnownOctoPrint
from printreach.printers.prusalink.translate import KnownState as KnownPrusaLink
from printreach.printers.prusalink.translate import Machine, with_status
from printreach.printers.prusalink.translate import view_of as view_of_prusalink
from printreach.rules.prints import Need, NeedKind

FILAMENT, ATTENTION = NeedKind.FILAMENT, NeedKind.ATTENTION


def kind_of(need: Need | None) -> NeedKind | None:
    return None if need is None else need.kind


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        ({"gcode_state": "PAUSE", "stg_cur": 6}, FILAMENT),
        ({"gcode_state": "PAUSE", "print_error": 0x07008011}, FILAMENT),
        ({"gcode_state": "PAUSE", "print_error": 134184967}, FILAMENT),
        ({"gcode_state": "PAUSE", "stg_cur": 17}, ATTENTION),
        ({"gcode_state": "PAUSE", "print_error": 0x03008003}, ATTENTION),
        ({"gcode_state": "PAUSE", "stg_cur": 16}, None),
        ({"gcode_state": "PAUSE", "print_error": 0x03008001, "stg_cur": 30}, None),
        ({"gcode_state": "PAUSE"}, None),
        ({"gcode_state": "PAUSE", "print_error": 0x03008000}, None),
        ({"gcode_state": "RUNNING", "stg_cur": 4}, None),
        ({"gcode_state": "PAUSE", "stg_cur": "nonsense"}, None),
    ],
)
def test_a_bambu_says_why_it_rests(report: dict[str, object], kind: NeedKind | None) -> None:
    assert kind_of(need_of(report, state_of(report))) is kind


def test_a_bambus_fault_has_its_number() -> None:
    assert code_of({"print_error": 0x03004000}) == "0300-4000"
    assert code_of({"print_error": 0}) == ""
    assert code_of({"print_error": 0x07008011}) == ""


@pytest.mark.parametrize(
    ("box", "kind"),
    [
        ({"mode": 2, "title": "Filament change", "message": "Press OK"}, FILAMENT),
        ({"mode": 3, "message": "Remove the plate?"}, ATTENTION),
        ({"mode": 1, "message": "All is well"}, None),
        ({"mode": "nonsense"}, None),
        (None, None),
    ],
)
def test_a_duets_box_wants_an_answer_where_it_waits_for_one(
    box: object, kind: NeedKind | None
) -> None:
    model = {"state": {"status": "processing", "messageBox": box}}

    assert kind_of(view_of_duet(with_model(KnownDuet(), model), "here").need) is kind


@pytest.mark.parametrize(
    ("word", "message", "kind"),
    [
        ("ATTENTION", "Filament runout", FILAMENT),
        ("ATTENTION", "OK", ATTENTION),
        ("PRINTING", "OK", None),
        ("ERROR", "Thermal runaway", None),
    ],
)
def test_prusalink_wants_attention_as_it_says(
    word: str, message: str, kind: NeedKind | None
) -> None:
    printer = {"state": word, "status_printer": {"message": message}, "axis_z": 0.4}
    known = with_status(KnownPrusaLink(), {"printer": printer}, {}, 0.0)
    view = view_of_prusalink(known, Machine(), "here")

    assert kind_of(view.need) is kind
    assert view.height_mm == 0.4


@pytest.mark.parametrize(("event", "kind"), [("FilamentChange", FILAMENT), ("Waiting", ATTENTION)])
def test_octoprint_says_once_that_a_print_waits_and_it_shows_for_a_while(
    event: str, kind: NeedKind
) -> None:
    now = {"state": {"flags": {"operational": True, "printing": True}}, "currentZ": 0.2}
    known = with_event(with_current(KnownOctoPrint(), now), event, {})
    views = []
    for _ in range(NEED_SHOWS + 1):
        views.append(view_of(known, Profile(), "1", features_of(frozenset()), "here"))
        known = with_current(known, now)

    assert [kind_of(view.need) for view in views] == [*[kind] * NEED_SHOWS, None]
    assert views[0].height_mm == 0.2
    assert views[0].job.state is State.WARMING_UP
