"""The optional controls of a printer."""

from enum import IntFlag


class Feature(IntFlag):
    """Bits of `Features`. They describe one printer, not its platform."""

    LIGHT_CONTROL = 1
    AXIS_MOVEMENT = 2
    HOMING = 4
    EXTRUSION = 8
    TEMPERATURE_CONTROL = 16
    PRINT_START = 32


NO_FEATURES = Feature(0)
