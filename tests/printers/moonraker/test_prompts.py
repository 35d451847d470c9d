"""Questions that Klipper's macros ask, and filament that is missing."""

import pytest

from printreach.printers.moonraker.machine import machine_of, subscription
from printreach.printers.moonraker.status import KnownState, with_changes
from printreach.printers.moonraker.translate import NO_PROMPT, Prompt, need_of, view_of, with_line
from printreach.rules.prints import NeedKind

QUESTION = [
    "// action:prompt_begin Filament change",
    "// action:prompt_text Load the new one",
    "// action:prompt_button Done|RESUME",
    "// action:prompt_show",
]


def heard(lines: list[str]) -> Prompt:
    prompt = NO_PROMPT
    for line in lines:
        prompt = with_line(prompt, line)
    return prompt


def known(state: str, **sensor: object) -> KnownState:
    name = "filament_switch_sensor runout"
    fresh = KnownState(machine=machine_of(["print_stats", name]))
    return with_changes(fresh, {"print_stats": {"state": state}, name: sensor})


def test_a_question_stands_from_its_showing_to_its_end() -> None:
    prompt = heard(QUESTION[:3])
    assert need_of(known("printing"), prompt) is None

    need = need_of(known("printing"), heard(QUESTION))
    assert need is not None
    assert (need.kind, need.text) == (NeedKind.FILAMENT, "Filament change: Load the new one")
    assert need_of(known("printing"), with_line(heard(QUESTION), "// action:prompt_end")) is None


def test_a_question_that_speaks_of_no_filament_wants_attention() -> None:
    need = need_of(known("paused"), heard(["// action:prompt_begin Door", "// action:prompt_show"]))

    assert need is not None
    assert need.kind is NeedKind.ATTENTION


@pytest.mark.parametrize(
    "line", ["", "ok", "// action:paused", "// action:prompt_", "// action:prompt_nonsense x"]
)
def test_other_lines_are_no_questions(line: str) -> None:
    assert with_line(NO_PROMPT, line) == NO_PROMPT


def test_a_question_without_end_stays_short() -> None:
    lines = ["// action:prompt_begin x"] + ["// action:prompt_text " + "y" * 5000] * 50

    assert len(heard(lines).words) <= 300


@pytest.mark.parametrize(
    ("state", "sensor", "is_wanted"),
    [
        ("paused", {"enabled": True, "filament_detected": False}, True),
        ("paused", {"enabled": True, "filament_detected": True}, False),
        ("paused", {"enabled": False, "filament_detected": False}, False),
        ("paused", {"filament_detected": None}, False),
        ("printing", {"enabled": True, "filament_detected": False}, False),
    ],
)
def test_filament_is_wanted_where_a_paused_print_has_none(
    state: str, sensor: dict[str, object], is_wanted: bool
) -> None:
    assert (need_of(known(state, **sensor), NO_PROMPT) is not None) == is_wanted


def test_sensors_of_filament_are_subscribed_to() -> None:
    machine = machine_of(["filament_switch_sensor a", "filament_motion_sensor b", "fan"])

    assert machine.filament_sensors == ("filament_switch_sensor a", "filament_motion_sensor b")
    assert subscription(machine)["filament_motion_sensor b"] == ["enabled", "filament_detected"]


@pytest.mark.parametrize(
    ("origin", "offset_mm"), [([0, 0, -0.05], -0.05), ([], None), ("nonsense", None), (None, None)]
)
def test_the_offset_of_a_print_is_known(origin: object, offset_mm: float | None) -> None:
    reported = with_changes(known("printing"), {"gcode_move": {"homing_origin": origin}})

    assert view_of(reported, "1").z_offset_mm == offset_mm
