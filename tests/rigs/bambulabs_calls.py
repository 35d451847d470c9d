"""Calls of bambulabs-api, a published client, to a printer; runs in its own environment.

Standard input: {"port", "file_port", "camera_port", "serial", "access_code"}. Standard output: what
each call returned.
"""

import base64
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from bambulabs_api.camera_client import PrinterCamera  # type: ignore[import-not-found]  # not ours
from bambulabs_api.ftp_client import PrinterFTPClient  # type: ignore[import-not-found]  # not ours
from bambulabs_api.mqtt_client import PrinterMQTTClient  # type: ignore[import-not-found]  # not ours

HOST = "127.0.0.1"
FILE = "other client.gcode.3mf"


def until(look: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
    """The last answer: the first that is wanted, or that of the tenth second."""
    found = None
    for _ in range(100):
        found = look()
        if wanted(found):
            break
        time.sleep(0.1)
    return found


def main() -> None:
    """Look around, switch the light, upload, print, pause, go on, stop."""
    asked = json.load(sys.stdin)
    code = asked["access_code"]
    reported: dict[str, Any] = {}
    printer = PrinterMQTTClient(HOST, code, asked["serial"], port=asked["port"])
    printer.connect()
    printer.start()

    def state() -> str:
        return str(printer.get_printer_state().name)

    def reach(*names: str) -> str:
        return str(until(state, lambda name: name in names))

    until(printer.ready, bool)
    reported["idle"] = reach("IDLE")
    printer.turn_light_on()
    reported["light"] = until(printer.get_light_state, lambda mode: mode == "on")
    printer.process_ams()
    tray = printer.ams_hub[0].get_filament_tray(0)
    reported["tray"] = [tray.tray_type, tray.tray_color, tray.tray_sub_brands]
    files = PrinterFTPClient(HOST, code, port=asked["file_port"])
    reported["upload"] = files.upload_file(io.BytesIO(b"; seconds 600\n"), FILE)
    reported["listed"] = any(FILE in line for line in files.list_directory("/")[1])
    printer.start_print_3mf(FILE, 1)
    reported["printing"] = reach("RUNNING")
    reported["layers"] = until(printer.total_layer_num, lambda count: count == 20)
    printer.pause_print()
    reported["paused"] = reach("PAUSE")
    printer.resume_print()
    reported["resumed"] = reach("RUNNING")
    printer.stop_print()
    reported["stopped"] = reach("FAILED")
    camera = PrinterCamera(HOST, code, port=asked["camera_port"])
    camera.start()
    until(lambda: camera.last_frame, lambda frame: frame is not None)
    reported["picture"] = base64.b64decode(camera.get_frame())[:2].hex()
    camera.alive = False
    printer.stop()
    print(json.dumps(reported))


if __name__ == "__main__":
    main()
