"""Duet boards: RepRapFirmware 3 by itself, or beside a computer that runs DSF.

Written from the sources of both and of their web page, 3.3 to 3.6; no board was at hand.
"""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

_NO_CAMERA = "The board has none; its owner names one in the agent's settings."

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["duet"].title,
        cannot={
            Operation.SET_SPEED_LEVEL: "Its speed is a percentage, without levels.",
            Operation.SET_LIGHT: "Firmware knows outputs, and none of them as a light.",
            Operation.LOG_FILES: "Its log, if there is one, is among the configuration files.",
            Operation.WEBCAM_SNAPSHOT: _NO_CAMERA,
            Operation.WEBCAM_STREAM: _NO_CAMERA,
            Operation.MQTT_PROXY: "Firmware is a client of an MQTT broker, and none itself.",
            Operation.PRESETS: "Firmware keeps none.",
            Operation.HOST_API_KEY: "It has one password, and no keys.",
        },
        only_where={
            Operation.MATERIAL_SYSTEM: "a tool is set up",
            Operation.MOVE_AXIS: "an axis is set up",
            Operation.HOME: "an axis is set up",
            Operation.HOME_AXIS: "an axis is set up",
            Operation.SET_SPEED: "an axis is set up",
            Operation.SET_Z_OFFSET: "an axis is set up",
            Operation.SET_FLOW: "a tool with an extruder is set up",
            Operation.SET_FAN: "fan 0 is set up",
            Operation.EXTRUDE: "a tool with an extruder is set up",
            Operation.HEAT_TOOL: "a tool with a heater is set up",
            Operation.HEAT_BED: "a bed heater is set up",
            Operation.HEAT_CHAMBER: "a chamber heater is set up",
        },
    ),
)
