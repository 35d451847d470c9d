"""PrusaLink: its web API, as 0.8.1 on a Raspberry Pi has it and the firmware of newer printers.

Facts of the first come from running it. Facts of the second, called Buddy after its boards (MINI,
MK3.5, MK3.9, MK4, XL, CORE One), come from its published source and recorded answers: none was at
hand. What is guessed about it says so where it is used.
"""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

_PARKS: Final = "In every pause the firmware lifts, retracts and parks by its own rule."
_NO_ORDER: Final = "The printer's own web server takes no order for it."

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["prusalink"].title,
        cannot={
            Operation.PAUSE_HEATERS: "PrusaLink can't let a print wait for heat before it goes on.",
            Operation.PAUSE_LIFT: _PARKS,
            Operation.PAUSE_RETRACT: _PARKS,
            Operation.SET_LIGHT: "PrusaLink knows no lights.",
            Operation.SET_SPEED_LEVEL: "Its speed is a percentage, without levels.",
            Operation.SET_FAN: "PrusaLink takes no order for it.",
            Operation.SET_Z_OFFSET: "PrusaLink takes no order for it.",
            Operation.EMERGENCY_STOP: "PrusaLink takes no order for it.",
            Operation.RESTART_FIRMWARE: "PrusaLink takes no order for it.",
            Operation.HEAT_CHAMBER: "Its printers have no heated chamber.",
            Operation.CONFIG_FILES: "PrusaLink gives access to prints alone.",
            Operation.LOG_FILES: "PrusaLink gives access to prints alone.",
            Operation.MQTT_PROXY: "PrusaLink has no MQTT broker.",
            Operation.PRESETS: "PrusaLink tells nothing of its presets.",
            Operation.HOST_API_KEY: "Its key is its owner's password, or set beside it by hand.",
        },
        only_where={
            Operation.WEBCAM_SNAPSHOT: "a camera is set up",
            Operation.WEBCAM_STREAM: "a camera is set up",
        },
    ),
    Platform(
        title="PrusaLink (Buddy)",
        cannot={
            Operation.PAUSE_HEATERS: _NO_ORDER,
            Operation.PAUSE_LIFT: _PARKS,
            Operation.PAUSE_RETRACT: _PARKS,
            Operation.SET_LIGHT: _NO_ORDER,
            Operation.MOVE_AXIS: _NO_ORDER,
            Operation.HOME: _NO_ORDER,
            Operation.HOME_AXIS: _NO_ORDER,
            Operation.SET_SPEED: _NO_ORDER,
            Operation.SET_SPEED_LEVEL: _NO_ORDER,
            Operation.SET_FLOW: _NO_ORDER,
            Operation.SET_FAN: _NO_ORDER,
            Operation.SET_Z_OFFSET: _NO_ORDER,
            Operation.EMERGENCY_STOP: _NO_ORDER,
            Operation.RESTART_FIRMWARE: _NO_ORDER,
            Operation.EXTRUDE: _NO_ORDER,
            Operation.HEAT_TOOL: _NO_ORDER,
            Operation.HEAT_BED: _NO_ORDER,
            Operation.HEAT_CHAMBER: _NO_ORDER,
            Operation.CONFIG_FILES: "The printer gives access to its prints alone.",
            Operation.LOG_FILES: "The printer gives access to its prints alone.",
            Operation.MQTT_PROXY: "The printer has no MQTT broker.",
            Operation.PRESETS: "The printer tells nothing of its presets.",
            Operation.HOST_API_KEY: "It has one password, which its screen shows.",
        },
        only_where={
            Operation.WEBCAM_SNAPSHOT: "the agent's settings name a webcam",
            Operation.WEBCAM_STREAM: "the agent's settings name a webcam",
        },
    ),
)
