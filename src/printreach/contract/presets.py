"""Temperatures to heat to before a print, by the name of a material."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from printreach.contract.sizes import Number

MAX_PRESETS: Final = 20
"""Of an account, and of a printer."""
MAX_PRESET_NAME: Final = 40

PresetName = Annotated[str, Meta(max_length=MAX_PRESET_NAME)]


class Preset(Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """Degrees Celsius; a heater that is left out stays as it is, and 0 switches it off."""

    name: PresetName
    tool_c: Number | UnsetType = UNSET
    bed_c: Number | UnsetType = UNSET
    chamber_c: Number | UnsetType = UNSET


Presets = Annotated[list[Preset], Meta(max_length=MAX_PRESETS)]


class PresetList(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The presets that a printer's own software keeps, as `/presets` reports them."""

    presets: Presets


_decoder: Final = msgspec.json.Decoder(Presets)


def format_presets(presets: Sequence[Preset]) -> str:
    """Format them for the store."""
    return msgspec.json.encode(presets).decode()


def parse_presets(text: str) -> tuple[Preset, ...]:
    """Parse what `format_presets` made. Raises msgspec.MsgspecError."""
    return tuple(_decoder.decode(text))
