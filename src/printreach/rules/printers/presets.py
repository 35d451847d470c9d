"""Temperatures to heat to before a print, by the name of a material."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """Degrees Celsius."""

    name: str
    hotend_c: float
    bed_c: float


USUAL_PRESETS: Final = (
    Preset(name="PLA", hotend_c=210.0, bed_c=60.0),
    Preset(name="PETG", hotend_c=235.0, bed_c=75.0),
    Preset(name="TPU", hotend_c=225.0, bed_c=50.0),
)
"""Those of materials whose bed is no hotter than an order may ask."""


def preset_named(name: str) -> Preset | None:
    return next((preset for preset in USUAL_PRESETS if preset.name == name), None)
