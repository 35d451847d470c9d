"""The temperatures of the last two hours, as `/temperatures` of the command API reports them."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from printreach.contract.sizes import Number

INTERVAL_S: Final = 10.0
"""Between readings; more where the printer couldn't be reached."""
KEPT_S: Final = 2 * 60 * 60
MAX_READINGS: Final = 1000

Numbers = Annotated[list[Number], Meta(max_length=MAX_READINGS)]
KnownNumbers = Annotated[list[Number | None], Meta(max_length=MAX_READINGS)]


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
