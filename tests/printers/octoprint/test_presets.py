"""OctoPrint's temperature profiles."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.temperatures import Preset
from printreach.printers.octoprint.profile import presets_in
from tests.printers.damage import damaged
from tests.printers.octoprint.rig import OctoPrintRig
from tests.printers.octoprint.test_octoprint import adapter, on_octoprint

PROFILES: list[dict[str, object]] = [
    {"name": "ABS", "extruder": 210, "bed": 100, "chamber": None},
    {"name": " PLA ", "extruder": "180", "bed": 60},
]
SETTINGS: dict[str, object] = {"temperature": {"profiles": PROFILES}}


def test_a_heater_without_a_number_is_left_and_one_that_is_not_named_is_switched_off() -> None:
    assert presets_in(SETTINGS) == [
        Preset(name="ABS", tool_c=210.0, bed_c=100.0),
        Preset(name="PLA", tool_c=180.0, bed_c=60.0, chamber_c=0.0),
    ]


@given(st.data())
def test_damaged_profiles_never_raise(data: st.DataObject) -> None:
    presets_in(data.draw(damaged(SETTINGS)))


@pytest.mark.peer
@pytest.mark.slow
@on_octoprint
async def test_a_real_octoprints_profiles_are_told_as_far_as_they_may_be_ordered(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    hostile: dict[str, object] = {"name": "<b>\u202e", "extruder": 200, "bed": 50}
    async with rig.open(), adapter(rig, tmp_path) as bench:
        before = (await bench.calls.get("presets")).result["Presets"]
        rig.set_profiles([*PROFILES, hostile])
        after = await bench.calls.get("presets")

    assert [preset["Name"] for preset in before] == ["PLA"]
    assert after.result["Presets"] == [
        {"Name": "PLA", "ToolC": 180.0, "BedC": 60.0, "ChamberC": 0.0}
    ]
