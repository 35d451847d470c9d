"""The temperatures of the last two hours, and those to heat to before a print, by material.

The first are as `/temperatures` of the command API reports them.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from printreach.contract.sizes import Number

INTERVAL_S: Final = 10.0
"""Between readings; more where the printer couldn't be reached."""
KEPT_S: Final = 2 * 60 * 60
MAX_READINGS: Final = 1000

Numbers = Annotated[list[Number], Meta(max_length=MAX_READINGS)]
KnownNumbers = Annotated[list[Number | None], Meta(max_length=MAX_READINGS)]

MAX_PRESETS: Final = 20
"""Of an account, and of a printer."""
MAX_PRESET_NAME: Final = 40

PresetName = Annotated[str, Meta(max_length=MAX_PRESET_NAME)]


class TemperatureHistory(Struct, frozen=True, kw_only=True, rename="pascal"):
    """Lists of equal length with an item for each reading, oldest first. Degrees Celsius.

    age_sec: the seconds since the reading. chamber_actual, chamber_target: None where the chamber
    is unknown.
    """

    age_sec: Numbers
    bed_actual: Numbers
    bed_target: Numbers
    hotend_actual: Numbers
    hotend_target: Numbers
    chamber_actual: KnownNumbers
    chamber_target: KnownNumbers


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
