"""Bambu Lab printers on the local network: MQTT for what they do, FTPS for files, a camera port."""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["bambu"].title,
        cannot={
            Operation.HEAT_CHAMBER: "No order for it is known, not even where the chamber can be"
            " heated (X1E, H2).",
            Operation.CONFIG_FILES: "The printer gives no access to its configuration.",
            Operation.LOG_FILES: "Its own folders on the card are left out.",
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
