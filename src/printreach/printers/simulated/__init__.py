"""A printer in software, for demos and tests: a model, a rendered webcam and a web server.

printer.py simulates, with machine.py, motion.py and program.py, and waits for nothing. Around it:
control.py lets its time pass and takes orders, files.py keeps its G-code, camera.py films it in its
scenery.py, site.py serves its page and API, and runner.py puts the whole together. api.py asks that
API as those of other printers are asked, for adapter.py and pause_plan.py.
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
