"""Calls of duetwebapi, a published client, to a Duet; runs in an environment of its own.

Standard input: {"url"}. Standard output: what each call returned.
"""

import json
import sys
import time
from typing import Any

from duetwebapi import DuetWebAPI  # type: ignore[import-not-found]  # not ours

FILE = "other client.gcode"


def main() -> None:
    """Look around, upload, print, pause, go on, stop, delete."""
    printer = DuetWebAPI(json.load(sys.stdin)["url"])
    reported: dict[str, Any] = {"api": printer.api_name}
    if printer.api_name == "DWC_REST":
        reported["connect"] = printer.connect()["err"]

    def reach(status: str) -> str:
        for _ in range(100):
            if printer.get_status() == status:
                break
            time.sleep(0.05)
        return str(printer.get_status())

    reported["idle"] = printer.get_status()
    reported["tools"] = printer.get_num_tools()
    reported["upload"] = printer.upload_file(b"; seconds 600\nG28\n", FILE)["err"]
    reported["names"] = [entry["name"] for entry in printer.get_directory("gcodes")]
    reported["size"] = printer.get_fileinfo(FILE)["size"]
    reported["data"] = printer.get_file(FILE)
    printer.start_print(f"0:/gcodes/{FILE}")
    reported["printing"] = reach("processing")
    reported["refused"] = printer.send_code("M0")["response"].strip()
    printer.pause_print()
    reported["paused"] = reach("paused")
    printer.send_code("M24")
    reported["resumed"] = reach("processing")
    printer.pause_print()
    reach("paused")
    printer.stop_print()
    reported["stopped"] = reach("idle")
    reported["deleted"] = printer.delete_file(FILE)["err"]
    print(json.dumps(reported))


if __name__ == "__main__":
    main()
