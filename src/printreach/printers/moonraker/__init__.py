"""Klipper through Moonraker: JSON-RPC over a WebSocket for what changes, HTTP for files."""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["moonraker"].title,
        cannot={
            Operation.SET_SPEED_LEVEL: "Its speed is a percentage, without levels.",
            Operation.MQTT_PROXY: "Moonraker is a client of an MQTT broker, and none itself.",
        },
        only_where={
            Operation.START: "`virtual_sdcard` is set up",
            Operation.SET_LIGHT: "a pin, an LED or a power device has the name of a light",
            Operation.MOVE_AXIS: "there is a toolhead",
            Operation.HOME: "there is a toolhead",
            Operation.HOME_AXIS: "there is a toolhead",
            Operation.SET_SPEED: "there is a toolhead",
            Operation.SET_Z_OFFSET: "there is a toolhead",
            Operation.SET_FLOW: "there is an extruder",
            Operation.SET_FAN: "there is a `fan`",
            Operation.EXTRUDE: "there is an extruder",
            Operation.HEAT_TOOL: "there is an extruder",
            Operation.HEAT_BED: "there is a `heater_bed`",
            Operation.HEAT_CHAMBER: "a `heater_generic` is named for the chamber",
            Operation.WEBCAM_SNAPSHOT: "a webcam is set up",
            Operation.WEBCAM_STREAM: "a webcam is set up",
        },
    ),
)
