"""The presets that a printer's controls offer, and the questions before they heat."""

from collections.abc import Collection, Sequence
from typing import Final

from printreach.contract.presets import Preset
from printreach.contract.status import Feature
from printreach.contract.unset import UNSET, UnsetType
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _, translate
from printreach.rules.printers.members import Role
from printreach.rules.printers.presets import preset_for, targets_of
from printreach.web.forms import Fields
from printreach.web.printers.view import (
    NO_PRESETS,
    OfferedPresets,
    PresetRow,
    PrinterView,
    view_of,
)
from printreach.web.services import Services
from printreach.web.wording import degrees

OF_ACCOUNT: Final = "preset"
OF_PRINTER: Final = "printer_preset"
_HEATERS: Final = {"hotend": N_("hotend"), "bed": N_("bed"), "chamber": N_("chamber")}
ASKED_WITHIN_S: Final = 1.5
"""For which a page waits for a printer's own presets; later ones come by its event stream."""


async def control_view(seen: SeenPrinter, services: Services, camera: str = "") -> PrinterView:
    """Return the data of the controls, with the presets that they offer."""
    presets = await offered_presets(seen, services)
    return view_of(seen, services.clock.now(), camera, presets=presets)


async def offered_presets(seen: SeenPrinter, services: Services) -> OfferedPresets:
    """Return what a person who may control the printer can choose; it is asked if it is there."""
    status = seen.reading.status
    if status is None or not seen.role.includes(Role.CONTROL):
        return NO_PRESETS
    heats = Feature.TEMPERATURE_CONTROL in Feature(status.features)
    if not (heats and seen.is_online and seen.reading.refusal is None):
        return NO_PRESETS
    of_account = await services.presets.of_account(seen.printer.account_id)
    of_printer = await services.presets.of_printer(seen.printer.owned, ASKED_WITHIN_S)
    temps = status.job_status.current_print.temps
    has_chamber = not isinstance(temps.chamber_target, UnsetType)
    heaters = {"hotend", "bed", *(("chamber",) if has_chamber else ())}
    return OfferedPresets(
        of_account=_rows(OF_ACCOUNT, of_account, heaters),
        of_printer=_rows(OF_PRINTER, of_printer, heaters),
    )


def chosen_preset(offered: OfferedPresets, fields: Fields) -> PresetRow | None:
    """Return the preset that a button names."""
    rows = (*offered.of_account, *offered.of_printer)
    return next((row for row in rows if fields[row.field] == row.preset.name), None)


def question_of(preset: Preset) -> str:
    """Return what is asked before it heats: "Set these temperatures: hotend 210°, bed 60°?"."""
    return _("Set these temperatures: %(temperatures)s?", temperatures=words_of(preset))


def words_of(preset: Preset) -> str:
    """Return its temperatures with their heaters: "hotend 210°, bed 60°, chamber off"."""
    return ", ".join(
        f"{translate(_HEATERS[name])} {_target(c)}" for name, c in targets_of(preset).items()
    )


# --- helpers --------------------------------------------------------------------------------------


def _rows(field: str, presets: Sequence[Preset], heaters: Collection[str]) -> Sequence[PresetRow]:
    kept = [preset_for(preset, heaters) for preset in presets]
    return [
        PresetRow(field=field, preset=preset, short=_short(preset), targets=words_of(preset))
        for preset in kept
        if preset is not None
    ]


def _short(preset: Preset) -> str:
    """Return the temperatures alone where hotend and bed are both there."""
    if UNSET in (preset.tool_c, preset.bed_c):
        return words_of(preset)
    return ", ".join(_target(c) for c in targets_of(preset).values())


def _target(celsius: float) -> str:
    return degrees(celsius) if celsius > 0 else _("off")
