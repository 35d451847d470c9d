"""What the simulated printer can't do."""

from typing import Final

from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title="Simulated printer",
        cannot={
            Operation.CONFIG_FILES: "It has G-code files alone.",
            Operation.LOG_FILES: "It has G-code files alone.",
            Operation.MQTT_PROXY: "It has no MQTT broker.",
            Operation.HOST_API_KEY: "It asks nobody for a key.",
        },
    ),
)
