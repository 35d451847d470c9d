"""Pages of the presets of an account."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.contract.presets import MAX_PRESET_NAME, MAX_PRESETS, Preset
from printreach.hub.denied import Denied
from printreach.rules.printers.presets import HEATERS, parse_preset, preset_named, targets_of
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.printers.presets import words_of
from printreach.web.signed_in import SignedIn

PAGE: Final = "/account/presets"
_LONGEST_TYPING: Final = 100
"""Longer input is not a typing mistake, and is not shown again."""


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
