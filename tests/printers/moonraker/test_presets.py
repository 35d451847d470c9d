"""The presets of Mainsail and Fluidd in Moonraker's database."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.temperatures import Preset
from printreach.printers.moonraker.adapter import presets_of_fluidd, presets_of_mainsail
from printreach.printers.moonraker.machine import Machine
from tests.printers.damage import damaged
from tests.printers.moonraker.peers import bench_with, on_moonraker
from tests.printers.moonraker.rig import MoonrakerRig

MACHINE = Machine(
    extruders=("extruder",), has_bed=True, chamber="heater_generic chamber", has_chamber_heater=True
)
MAINSAILS: dict[str, Any] = {
    "1d9f": {
        "name": "PETG",
        "gcode": "M112",
        "values": {
            "extruder": {"bool": True, "type": "heater", "value": 240},
            "heater_bed": {"bool": True, "type": "heater", "value": 70.5},
            "heater_generic chamber": {"bool": False, "type": "heater", "value": 40},
        },
    },
    "77aa": {
        "name": "Chamber",
        "values": {"heater_generic chamber": {"bool": True, "type": "heater", "value": 40}},
    },
}
FLUIDDS: list[Any] = [
    {
        "id": 1,
        "name": "PLA",
        "gcode": "",
        "values": {
            "extruder": {"value": "205", "type": "heater", "active": True},
            "heater_bed": {"value": 60, "type": "heater", "active": False},
        },
    },
    {"id": 2, "name": "ABS", "values": {"heater_bed": {"value": 110, "active": True}}},
]


def test_mainsails_presets_have_the_heaters_that_are_ticked() -> None:
    assert presets_of_mainsail({"value": MAINSAILS}, MACHINE) == [
        Preset(name="PETG", tool_c=240.0, bed_c=70.5),
        Preset(name="Chamber", chamber_c=40.0),
    ]


def test_fluidds_presets_have_the_heaters_that_are_active() -> None:
    assert presets_of_fluidd({"value": FLUIDDS}, MACHINE) == [
        Preset(name="PLA", tool_c=205.0),
        Preset(name="ABS", bed_c=110.0),
    ]


@given(st.data())
def test_damaged_presets_never_raise(data: st.DataObject) -> None:
    presets_of_mainsail(data.draw(damaged({"value": MAINSAILS})), MACHINE)
    presets_of_fluidd(data.draw(damaged({"value": FLUIDDS})), MACHINE)


@pytest.mark.peer
@pytest.mark.slow
@on_moonraker
async def test_presets_in_a_real_moonraker_are_told_as_far_as_they_may_be_ordered(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        none = (await bench.calls.get("presets")).result
        rig.store("mainsail", "presets.presets", MAINSAILS)
        rig.store("fluidd", "uiSettings.dashboard.tempPresets", FLUIDDS)
        told = (await bench.calls.get("presets")).result

    assert none == {"Presets": []}
    assert told == {
        "Presets": [
            {"Name": "PETG", "ToolC": 240.0, "BedC": 70.5},
            {"Name": "Chamber", "ChamberC": 40.0},
            {"Name": "PLA", "ToolC": 205.0},
        ]
    }
