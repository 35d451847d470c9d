"""OctoPrint: its push channel and its REST API, as its documents and 1.11.8 have them."""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["octoprint"].title,
        cannot={
            Operation.SET_SPEED_LEVEL: "Its speed is a percentage, without levels.",
            Operation.SET_Z_OFFSET: "OctoPrint doesn't tell whether the firmware can (M290).",
            Operation.SET_LIGHT: "OctoPrint knows no lights; each of its light plugins has orders"
            " of its own.",
            Operation.CONFIG_FILES: "OctoPrint gives no access to its configuration as files.",
            Operation.MQTT_PROXY: "OctoPrint has no MQTT broker.",
        },
        only_where={
            Operation.PAUSE_HEATERS: "the API key may control the printer",
            Operation.PAUSE_LIFT: "the API key may control the printer",
            Operation.PAUSE_RETRACT: "the API key may control the printer",
            Operation.START: "the API key may print",
            Operation.MOVE_AXIS: "the API key may control the printer",
            Operation.HOME: "the API key may control the printer",
            Operation.HOME_AXIS: "the API key may control the printer",
            Operation.SET_SPEED: "the API key may control the printer",
            Operation.SET_FLOW: "the API key may control the printer",
            Operation.SET_FAN: "the API key may control the printer",
            Operation.EMERGENCY_STOP: "the API key may control the printer",
            Operation.RESTART_FIRMWARE: "the API key may control the printer",
            Operation.EXTRUDE: "the API key may control the printer",
            Operation.HEAT_TOOL: "the API key may control the printer",
            Operation.HEAT_BED: "the printer's profile has a heated bed",
            Operation.HEAT_CHAMBER: "the printer's profile has a heated chamber",
            Operation.LOG_FILES: "the API key may see them",
            Operation.WEBCAM_SNAPSHOT: "a webcam is set up",
            Operation.WEBCAM_STREAM: "a webcam is set up",
        },
    ),
)
