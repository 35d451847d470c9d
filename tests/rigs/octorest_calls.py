"""Calls of octorest, a published client, to OctoPrint; runs in octorest's own environment.

Standard input: {"url", "api_key", "headers", "gcode"}. Credentials are headers of the
session, as its documentation shows. Standard output: what each call returned.
"""

import io
import json
import sys
import time
from typing import Any

import requests
from octorest import OctoRest  # type: ignore[import-not-found]  # not in our environment


def wait_until_idle(client: Any) -> str:
    """Poll until the cancelled job has ended, and tell the state."""
    state = ""
    for _ in range(300):
        state = client.state()
        if state == "Operational":
            break
        time.sleep(0.2)
    return state


def file_names(client: Any) -> list[str]:
    """The names of all uploaded files."""
    return [one["name"] for one in client.files()["files"]]


def main() -> None:
    """Run the calls of a small app: look around, upload, print, cancel, delete."""
    asked = json.load(sys.stdin)
    session = requests.Session()
    session.headers.update(asked["headers"])
    client = OctoRest(url=asked["url"], apikey=asked["api_key"], session=session)
    reported: dict[str, object] = {"version": client.get_version()["server"]}
    reported["printer"] = client.printer()["state"]["text"]
    reported["connection"] = client.connection_info()["current"]["state"]
    uploaded = client.upload(("octorest.gcode", io.BytesIO(asked["gcode"].encode())))
    reported["uploaded"] = uploaded["files"]["local"]["name"]
    reported["files"] = file_names(client)
    client.select("octorest.gcode", print=True)
    reported["job"] = client.job_info()["job"]["file"]["name"]
    client.cancel()
    reported["after_cancel"] = wait_until_idle(client)
    client.delete("local/octorest.gcode")
    reported["files_after_delete"] = file_names(client)
    print(json.dumps(reported))


main()
