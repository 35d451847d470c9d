"""The presets of an account: pages, a printer's controls, and the questions before they heat."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.contract.status import Feature
from printreach.contract.temperatures import MAX_PRESET_NAME, MAX_PRESETS, Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.hub.denied import Denied
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _, translate
from printreach.rules.printers.members import Role
from printreach.rules.printers.presets import (
    HEATERS,
    parse_preset,
    preset_for,
    preset_named,
    targets_of,
)
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.printers.view import NO_PRESETS, OfferedPresets, PresetRow, PrinterView, view_of
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn
from printreach.web.wording import degrees

OF_ACCOUNT: Final = "preset"
OF_PRINTER: Final = "printer_preset"
_HEATERS: Final = {"hotend": N_("hotend"), "bed": N_("bed"), "chamber": N_("chamber")}
ASKED_WITHIN_S: Final = 1.5
"""For which a page waits for a printer's own presets; later ones come by its event stream."""

PAGE: Final = "/account/presets"
_LONGEST_TYPING: Final = 100
"""Longer input is not a typing mistake, and is not shown again."""


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


@get(PAGE, media_type=MediaType.HTML)
async def show_presets(signed_in: NamedDependency[SignedIn]) -> Template:
    """List the presets in their order."""
    presets = await signed_in.services.presets.of_account(signed_in.account_id)
    shown = [(preset, words_of(preset)) for preset in presets]
    context = {"presets": shown, "is_full": len(presets) >= MAX_PRESETS, "most": MAX_PRESETS}
    return Template("account/presets.html", context=context)


@get(f"{PAGE}/change", media_type=MediaType.HTML)
async def preset_form(
    signed_in: NamedDependency[SignedIn], name: FromQuery[str] = ""
) -> Response[Any]:
    """Show the form of a preset, or of another one where none of that name is there."""
    presets = await signed_in.services.presets.of_account(signed_in.account_id)
    preset = preset_named(presets, name)
    return _form({} if preset is None else _typed(preset), "" if preset is None else name, {})


@post(f"{PAGE}/change", media_type=MediaType.HTML)
async def put_preset(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Add a preset, or change the one that the field `replaced` names."""
    typed = {field: fields[field][:_LONGEST_TYPING] for field in ("name", *HEATERS)}
    preset, replaced = parse_preset(typed), fields["replaced"]
    if not isinstance(preset, Preset):
        return _form(typed, replaced, dict(preset))
    refused = await signed_in.services.presets.put(signed_in.account_id, preset, replaced)
    if isinstance(refused, Denied):
        return _form(typed, replaced, {"name": refused.sentence})
    return redirect_with_flash(PAGE, "preset")


@post(f"{PAGE}/remove", media_type=MediaType.HTML)
async def remove_preset(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Redirect:
    """Remove a preset. It is not asked before: one is easily added again."""
    await signed_in.services.presets.remove(signed_in.account_id, fields["name"])
    return redirect_with_flash(PAGE, "preset-removed")


@post(f"{PAGE}/up", media_type=MediaType.HTML)
async def move_preset_up(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Redirect:
    """Move a preset one place further up."""
    await signed_in.services.presets.move_up(signed_in.account_id, fields["name"])
    return redirect_with_flash(PAGE, "preset-moved")


def _form(typed: dict[str, str], replaced: str, errors: dict[str, str]) -> Template:
    context = {
        "typed": typed,
        "replaced": replaced,
        "errors": errors,
        "heaters": [(name, f"{most:g}") for name, most in HEATERS.items()],
        "longest": MAX_PRESET_NAME,
    }
    status = ERROR_STATUS if errors else 200
    return Template("account/preset.html", context=context, status_code=status)


def _typed(preset: Preset) -> dict[str, str]:
    return {"name": preset.name} | {name: f"{c:g}" for name, c in targets_of(preset).items()}


PRESET_PAGES: Final = [show_presets, preset_form, put_preset, remove_preset, move_preset_up]
