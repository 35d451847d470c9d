"""The operations that the simulated printer lacks."""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["simulated"].title,
        cannot={
            Operation.CONFIG_FILES: "It has G-code files alone.",
            Operation.LOG_FILES: "It has G-code files alone.",
            Operation.MQTT_PROXY: "It has no MQTT broker.",
            Operation.HOST_API_KEY: "It asks nobody for a key.",
        },
    ),
)
