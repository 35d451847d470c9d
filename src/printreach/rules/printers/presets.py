"""Presets: which temperatures they may have, how an account's list changes, and what a printer
takes of one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from printreach.contract.commands import SetTemp
from printreach.contract.temperatures import MAX_PRESET_NAME, MAX_PRESETS, Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.languages import N_
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits, set_temp_problem
from printreach.rules.safe_text import is_printable_name

USUAL_PRESETS: Final = (
    Preset(name="PLA", tool_c=210.0, bed_c=60.0),
    Preset(name="PETG", tool_c=235.0, bed_c=75.0),
    Preset(name="TPU", tool_c=225.0, bed_c=50.0),
)
"""Those of an account that has not changed its presets: materials whose bed is no hotter than an
order may ask."""
HEATERS: Final[Mapping[str, float]] = {
    "hotend": DEFAULT_LIMITS.hotend_c,
    "bed": DEFAULT_LIMITS.bed_c,
    "chamber": DEFAULT_LIMITS.chamber_c,
}
"""The hottest target of each, by the name of its field."""
_NAME_TAKEN: Final = N_("You have another preset of this name.")
_TOO_MANY: Final = N_("You can have up to %(max_presets)s presets.", max_presets=MAX_PRESETS)


def order_of(preset: Preset) -> SetTemp:
    """Return what sets the preset's temperatures."""
    return SetTemp(tool_c=preset.tool_c, bed_c=preset.bed_c, chamber_c=preset.chamber_c)


def usable_presets(presets: Iterable[Preset], limits: CommandLimits) -> list[Preset]:
    """Return those that can be ordered, the first of each name: others are left out."""
    usable: dict[str, Preset] = {}
    for preset in presets:
        is_usable = _is_name(preset.name) and set_temp_problem(order_of(preset), limits) is None
        if is_usable and len(usable) < MAX_PRESETS:
            usable.setdefault(preset.name, preset)
    return list(usable.values())


def preset_for(preset: Preset, heaters: Collection[str]) -> Preset | None:
    """Return the preset with the targets of these heaters alone; None where none is left."""
    targets = targets_of(preset)
    kept = {name: targets.get(name, UNSET) if name in heaters else UNSET for name in HEATERS}
    if all(isinstance(target, UnsetType) for target in kept.values()):
        return None
    return _preset(preset.name, kept)


def targets_of(preset: Preset) -> Mapping[str, float]:
    """Return the targets that it has, by the names of heaters."""
    targets = {"hotend": preset.tool_c, "bed": preset.bed_c, "chamber": preset.chamber_c}
    return {name: c for name, c in targets.items() if not isinstance(c, UnsetType)}


def parse_preset(typed: Mapping[str, str]) -> Preset | Mapping[str, str]:
    """Parse the fields of a form: name, and those of HEATERS, of which some may be empty.

    Returns the sentences about what is wrong, by the field.
    """
    errors: dict[str, str] = {}
    name = typed["name"].strip()
    if not _is_name(name):
        errors["name"] = N_(
            "Enter a name of up to %(max_preset_name)s letters or digits.",
            max_preset_name=MAX_PRESET_NAME,
        )
    targets: dict[str, float | UnsetType] = {}
    for heater, most in HEATERS.items():
        target = _parse_target(typed[heater], most)
        if target is None:
            errors[heater] = N_(
                "Enter a temperature in °C, 0 to %(most)s, or leave it empty. For safety, more can"
                " only be set at the printer itself.",
                most=f"{most:g}",
            )
        else:
            targets[heater] = target
    if not errors and all(isinstance(target, UnsetType) for target in targets.values()):
        errors["hotend"] = N_("Enter at least one temperature.")
    return errors or _preset(name, targets)


def put_preset(
    presets: Sequence[Preset], preset: Preset, replaced: str = ""
) -> tuple[Preset, ...] | str:
    """Return the list with a preset in the place of the one of that name, or else at its end.

    Returns a sentence where there is no place for it.
    """
    others = [other for other in presets if other.name != replaced]
    if any(other.name.casefold() == preset.name.casefold() for other in others):
        return _NAME_TAKEN
    if len(others) < len(presets):
        return tuple(preset if other.name == replaced else other for other in presets)
    return _TOO_MANY if len(presets) >= MAX_PRESETS else (*presets, preset)


def without_preset(presets: Sequence[Preset], name: str) -> tuple[Preset, ...]:
    return tuple(preset for preset in presets if preset.name != name)


def moved_up(presets: Sequence[Preset], name: str) -> tuple[Preset, ...]:
    """Return the list with the preset of that name one place further up."""
    moved = list(presets)
    for at in range(1, len(moved)):
        if moved[at].name == name:
            moved[at - 1], moved[at] = moved[at], moved[at - 1]
            break
    return tuple(moved)


def preset_named(presets: Iterable[Preset], name: str) -> Preset | None:
    return next((preset for preset in presets if preset.name == name), None)


# --- helpers --------------------------------------------------------------------------------------


def _is_name(name: str) -> bool:
    is_short = 1 <= len(name) <= MAX_PRESET_NAME
    return is_short and name == name.strip() and is_printable_name(name)


def _preset(name: str, targets: Mapping[str, float | UnsetType]) -> Preset:
    return Preset(
        name=name, tool_c=targets["hotend"], bed_c=targets["bed"], chamber_c=targets["chamber"]
    )


def _parse_target(typed: str, most: float) -> float | UnsetType | None:
    """Parse degrees; None where they are none within the bounds."""
    text = typed.strip().removesuffix("°C").removesuffix("°").strip()
    if not text:
        return UNSET
    is_number = text.isascii() and text.isdigit() and len(text) <= len(f"{most:g}")
    return float(text) if is_number and float(text) <= most else None
