"""The spool that Spoolman says is in use, and colours as vendors write them. Pure.

Source: Spoolman's API v1, `GET /v1/spool/{id}`, which Moonraker passes on.
"""

import re
from dataclasses import dataclass

from printreach.contract.materials import Material
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose

_HEX = re.compile(r"#?([0-9A-Fa-f]{6})([0-9A-Fa-f]{2})?")
_NO_MATERIAL = frozenset({"none", "unknown", "?", "n/a"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spool:
    id: int
    material: Material


def spool_of(answer: object) -> Spool | None:
    """answer: Spoolman's, as it is or in Moonraker's envelope."""
    spool = loose.obj(answer, "response") or loose.obj(answer)
    number = loose.count(spool, "id")
    if number is None:
        return None
    filament = loose.obj(spool, "filament")
    material = Material(
        type=material_word(loose.text(filament, "material")),
        name=loose.text(filament, "name") or UNSET,
        color_hex=color_hex(loose.text(filament, "color_hex")),
        remaining_percent=_remaining(spool, filament),
        manufacturer=loose.text(loose.obj(filament, "vendor"), "name") or UNSET,
    )
    return Spool(id=number, material=material)


def color_hex(text: str | None) -> str | UnsetType:
    """RRGGBB of `#rrggbb` or `RRGGBBAA`."""
    digits = _HEX.fullmatch(text or "")
    return digits[1].upper() if digits else UNSET


def material_word(text: str | None) -> str | UnsetType:
    """Platforms write `NONE` or `unknown` where they don't know."""
    return UNSET if text is None or text.strip().lower() in _NO_MATERIAL else text


def _remaining(spool: object, filament: object) -> float | UnsetType:
    left_g = loose.number(spool, "remaining_weight")
    whole_g = loose.number(spool, "initial_weight") or loose.number(filament, "weight")
    if left_g is None or not whole_g or not 0 <= left_g <= whole_g:
        return UNSET
    return round(left_g / whole_g * 100, 1)
