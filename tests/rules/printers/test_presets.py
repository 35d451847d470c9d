"""Presets: bounds, names, the order of a list, and what a printer takes of one."""

from collections.abc import Mapping

import pytest

from printreach.contract.temperatures import MAX_PRESETS, Preset, format_presets, parse_presets
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits
from printreach.rules.printers.presets import (
    USUAL_PRESETS,
    moved_up,
    parse_preset,
    preset_for,
    put_preset,
    usable_presets,
    without_preset,
)

PLA, PETG, TPU = USUAL_PRESETS
ASA = Preset(name="ASA", tool_c=250.0, bed_c=75.0, chamber_c=50.0)


def typed(
    name: str = "ASA", hotend: str = "250", bed: str = "", chamber: str = ""
) -> Mapping[str, str]:
    return {"name": name, "hotend": hotend, "bed": bed, "chamber": chamber}


def names(presets: object) -> list[str]:
    assert isinstance(presets, tuple)
    return [preset.name for preset in presets]


def test_an_empty_temperature_changes_nothing_and_zero_switches_off() -> None:
    assert parse_preset(typed(bed="0")) == Preset(name="ASA", tool_c=250.0, bed_c=0.0)


def test_a_typed_degree_sign_is_no_mistake() -> None:
    assert parse_preset(typed(hotend=" 250 °C ")) == Preset(name="ASA", tool_c=250.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("name", name) for name in ("", " ", "x" * 41, "a\nb", "\u202eALP", "a\x00", "\ud800")],
        *[("hotend", c) for c in ("261", "-1", "1e2", "hot", "٢٠٠", "9" * 5000, "nan")],
        ("bed", "76"),
        ("chamber", "76"),
    ],
)
def test_what_no_order_may_say_is_told_at_its_field(field: str, value: str) -> None:
    errors = parse_preset({**typed(), field: value})

    assert isinstance(errors, Mapping)
    assert list(errors) == [field]


def test_a_preset_sets_at_least_one_temperature() -> None:
    assert parse_preset(typed(hotend="")) == {"hotend": "Enter at least one temperature."}


def test_a_changed_preset_keeps_its_place_and_a_new_one_comes_last() -> None:
    changed = put_preset(USUAL_PRESETS, Preset(name="PETG+", tool_c=240.0), "PETG")

    assert names(changed) == ["PLA", "PETG+", "TPU"]
    assert names(put_preset(USUAL_PRESETS, ASA)) == ["PLA", "PETG", "TPU", "ASA"]


def test_two_presets_never_have_the_same_name() -> None:
    for name in ("PLA", "pla"):
        refused = put_preset(USUAL_PRESETS, Preset(name=name, tool_c=1.0), "PETG")
        assert refused == "You have another preset of this name."


def test_there_are_twenty_at_most() -> None:
    full = tuple(Preset(name=str(n), tool_c=200.0) for n in range(MAX_PRESETS))

    assert put_preset(full, ASA) == "You can have up to 20 presets."
    assert isinstance(put_preset(full, ASA, "3"), tuple)


def test_presets_move_up_one_place_and_are_removed_by_name() -> None:
    assert names(moved_up(USUAL_PRESETS, "TPU")) == ["PLA", "TPU", "PETG"]
    assert moved_up(USUAL_PRESETS, "PLA") == USUAL_PRESETS
    assert moved_up(USUAL_PRESETS, "unknown") == USUAL_PRESETS
    assert names(without_preset(USUAL_PRESETS, "PLA")) == ["PETG", "TPU"]


def test_of_foreign_presets_only_those_that_may_be_ordered_are_used() -> None:
    hot = Preset(name="ABS", tool_c=210.0, bed_c=100.0)
    nothing = Preset(name="nothing")
    hostile = Preset(name="\u202efeed\x00", tool_c=200.0)
    broken = Preset(name="broken", tool_c=float("nan"))
    told = [PLA, hot, nothing, hostile, broken, Preset(name="PLA", tool_c=1.0), ASA]

    assert usable_presets(told, DEFAULT_LIMITS) == [PLA, ASA]


def test_the_limits_of_an_agents_owner_hold_for_presets() -> None:
    assert usable_presets([PLA, PETG], CommandLimits(hotend_c=220.0)) == [PLA]


def test_many_foreign_presets_are_cut() -> None:
    told = [Preset(name=str(n), tool_c=200.0) for n in range(1000)]

    assert len(usable_presets(told, DEFAULT_LIMITS)) == MAX_PRESETS


def test_a_heater_that_the_printer_lacks_is_left_out() -> None:
    assert preset_for(ASA, {"hotend", "bed"}) == Preset(name="ASA", tool_c=250.0, bed_c=75.0)
    assert preset_for(Preset(name="box", chamber_c=40.0), {"hotend", "bed"}) is None


def test_presets_are_stored_as_they_are() -> None:
    presets = (ASA, Preset(name="<b>&", bed_c=0.0))

    assert parse_presets(format_presets(presets)) == presets
