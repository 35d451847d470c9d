"""A printer in software, for demos and tests: a model, a rendered webcam and a web server.

model/ simulates and waits for nothing. Around it: engine.py lets its time pass, files.py keeps
its G-code, webcam/ and web/ show it, and runner.py puts the whole together.
"""

from typing import Final

from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform

PLATFORMS: Final = (
    Platform(
        title=PLATFORM_FACTS["simulated"].title,
        cannot={
            Operation.SET_SPEED_LEVEL: "Its speed is a percentage, without levels.",
            Operation.CONFIG_FILES: "It has G-code files alone.",
            Operation.LOG_FILES: "It has G-code files alone.",
            Operation.MQTT_PROXY: "It has no MQTT broker.",
            Operation.PRESETS: "It keeps none.",
            Operation.HOST_API_KEY: "It asks nobody for a key.",
        },
    ),
)
