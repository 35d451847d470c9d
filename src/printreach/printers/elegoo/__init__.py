"""Elegoo printers: SDCP over a WebSocket, or the Centauri Carbon 2 with a broker of its own."""

from typing import Final

from printreach.printers.operations import Operation, Platform

_CANNOT: Final = {
    Operation.PAUSE_RETRACT: "No order that moves filament is known.",
    Operation.EXTRUDE: "No order for it is known.",
    Operation.HOME_AXIS: "Only an order that homes all axes is known.",
    Operation.SET_SPEED: "Its speed has four levels, and no percentage.",
    Operation.SET_FLOW: "No order for it is known.",
    Operation.SET_Z_OFFSET: "No order for it is known.",
    Operation.EMERGENCY_STOP: "No order for it is known.",
    Operation.RESTART_FIRMWARE: "No order for it is known.",
    Operation.HEAT_CHAMBER: "No order for it is known.",
    Operation.PRESETS: "The printer gives no access to its presets.",
    Operation.UPLOAD_INTO_FOLDER: "The printer takes files into no folder.",
    Operation.CONFIG_FILES: "The printer gives access to its prints alone.",
    Operation.LOG_FILES: "The printer gives access to its prints alone.",
}

PLATFORMS: Final = (
    Platform(
        title="Elegoo (SDCP)",
        cannot={
            **_CANNOT,
            Operation.MQTT_PROXY: "SDCP speaks over a WebSocket of its own.",
            Operation.HOST_API_KEY: "It asks nobody for a key.",
        },
        only_where={
            Operation.PAUSE_HEATERS: "it is no resin printer",
            Operation.PAUSE_LIFT: "it is no resin printer",
            Operation.SET_LIGHT: "the printer has one",
            Operation.MOVE_AXIS: "it is no resin printer",
            Operation.HOME: "it is no resin printer",
            Operation.HEAT_TOOL: "it is no resin printer",
            Operation.HEAT_BED: "it is no resin printer",
            Operation.SET_SPEED_LEVEL: "it is no resin printer",
            Operation.SET_FAN: "it is no resin printer",
            Operation.WEBCAM_SNAPSHOT: "a camera is plugged in",
            Operation.WEBCAM_STREAM: "a camera is plugged in",
        },
    ),
    Platform(
        title="Elegoo Centauri Carbon 2",
        cannot={
            **_CANNOT,
            Operation.HOST_API_KEY: "It has one access code, which its screen shows.",
        },
        only_where={Operation.SET_LIGHT: "the printer has one"},
    ),
)
