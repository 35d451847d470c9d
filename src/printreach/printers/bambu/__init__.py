"""Bambu Lab printers on the local network: MQTT for what they do, FTPS for files, a camera port."""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["bambu"].title,
        cannot={
            Operation.HOME_AXIS: "Only the homing of all axes is known to be safe.",
            Operation.SET_SPEED: "Its speed has four levels, and no percentage.",
            Operation.SET_FLOW: "No order for it is known.",
            Operation.SET_FAN: "No order for it is known.",
            Operation.SET_Z_OFFSET: "No order for it is known.",
            Operation.EMERGENCY_STOP: "No order for it is known; its stop ends the print.",
            Operation.RESTART_FIRMWARE: "No order for it is known.",
            Operation.HEAT_CHAMBER: "No order for it is known, not even where the chamber can be"
            " heated (X1E, H2).",
            Operation.CONFIG_FILES: "The printer gives no access to its configuration.",
            Operation.LOG_FILES: "Its own folders on the card are left out.",
            Operation.PRESETS: "The printer gives no access to its presets.",
            Operation.HOST_API_KEY: "It has one access code, which its screen shows.",
        },
        only_where={
            Operation.SET_LIGHT: "the printer has one",
            Operation.EXTRUDE: "the printer has one nozzle; of two it isn't told which is in use",
            Operation.WEBCAM_SNAPSHOT: "the printer's camera is switched on for the local network",
            Operation.WEBCAM_STREAM: "the printer's camera is switched on for the local network",
        },
    ),
)
