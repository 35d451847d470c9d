"""OctoPrint with its virtual printer, as a person would have it after the first-run wizard."""

import json
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote

from tests.rigs.calls import Answer, call
from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.waiting import TIMEOUT_S, free_port, wait_for
from tests.rigs.ways import Header, Way

USER = "admin"
PASSWORD = "octoprint-admin"
ALWAYS = ("--iknowwhatimdoing",)  # it warns and stops where it runs as root

# classicwebcam needs _config_version, or a migration from the older keys wipes the section.
CONFIG = """
server:
  host: 127.0.0.1
  port: {port}
  firstRun: false
  onlineCheck: {{enabled: false}}
  pluginBlacklist: {{enabled: false}}
  seenWizards: {{corewizard: 4, classicwebcam: 1, tracking: null, backup: null}}
serial: {{autoconnect: true, port: VIRTUAL, baudrate: 0}}
plugins:
  _disabled: [softwareupdate, announcements, pluginmanager, discovery, errortracking,
    firmware_check, pi_support, file_check, backup, achievements, health_check]
  tracking: {{enabled: false}}
  virtual_printer: {{enabled: true, numExtruders: 1, sendBusy: true, throttle: 0.001}}
  classicwebcam:
    _config_version: 1
    stream: "/webcam/?action=stream"
    snapshot: "http://127.0.0.1:{port}/none"
webcam: {{webcamEnabled: false, timelapseEnabled: false}}
"""


LONG_MOVES = 20_000
"""The virtual printer takes half a minute for so many, so that something can be done meanwhile."""


def gcode(moves: int = 20, *, hotend_c: int = 0) -> bytes:
    """A print: heat, which takes a second for ten degrees, home, move to and fro."""
    heat = [f"M104 S{hotend_c}", f"M109 S{hotend_c}"] if hotend_c else []
    steps = [f"G1 X{number % 2 * 20 + 10} Y10 E{number * 0.1:.1f} F9000" for number in range(moves)]
    return "\n".join([*heat, "G28", *steps, "G4 P500", ""]).encode()


@dataclass(frozen=True)
class OctoPrint:
    """A running OctoPrint."""

    url: str
    api_key: str
    program: Program

    @property
    def key(self) -> Header:
        """The header that its API wants."""
        return "X-Api-Key", self.api_key

    def get(self, target: str) -> Answer:
        """Ask its API directly."""
        return call(Way.straight(self.url), target, headers=[self.key])

    def state(self) -> str:
        """The job's state: Operational, Printing, Cancelling..."""
        return str(json.loads(self.get("/api/job").body)["state"])

    def wait_operational(self) -> None:
        """Until it answers, and its printer is connected."""
        self.program.wait_until("operational", self._is_operational, 60)

    def completion(self) -> float | None:
        """The job's progress in per cent; None when it was cancelled or never began."""
        progress = json.loads(self.get("/api/job").body)["progress"]
        done: float | None = progress["completion"]
        return done

    def reset(self) -> None:
        """End the job and delete every file."""
        way = Way.straight(self.url)
        if self.state() != "Operational":
            body, kind = b'{"command": "cancel"}', ("Content-Type", "application/json")
            call(way, "/api/job", method="POST", headers=[self.key, kind], body=body)
            # a heater that is awaited holds up the cancel until it is hot
            wait_for("the job to end", lambda: self.state() == "Operational", TIMEOUT_S)
        for file in json.loads(self.get("/api/files").body)["files"]:
            path = quote(file["path"])
            call(way, f"/api/files/local/{path}", method="DELETE", headers=[self.key])

    def _is_operational(self) -> bool:
        try:
            return self.state() == "Operational"
        except (OSError, ValueError, HTTPException):
            return False  # not listening yet, or what answers while it starts: not quite HTTP


@cache
def _users() -> str:
    """OctoPrint's file of users, with the administrator: its command takes as long as a start."""
    with tempfile.TemporaryDirectory() as folder:
        base = ("--basedir", folder)
        words = ("user", "add", USER, "--password", PASSWORD, "--admin")
        program = peer_program("octoprint", "octoprint")
        subprocess.run([program, *ALWAYS, *base, *words], check=True, capture_output=True)
        return Path(folder, "users.yaml").read_text()


def _add_user(folder: Path) -> str:
    """Add the administrator, and give it an API key, for which there is no command."""
    key = secrets.token_hex(16)
    (folder / "users.yaml").write_text(_users().replace("apikey: null", f"apikey: {key}"))
    return key


@contextmanager
def octoprint(
    folder: Path, config: str = CONFIG, env: Mapping[str, str] | None = None
) -> Iterator[OctoPrint]:
    """Run one in a base folder of its own, its virtual printer connected.

    config: its config.yaml, with {port} in it. env: added to its environment.
    """
    program, port = peer_program("octoprint", "octoprint"), free_port()
    folder.mkdir()
    (folder / "config.yaml").write_text(config.format(port=port))
    api_key = _add_user(folder)
    where = ("--basedir", str(folder), "--host", "127.0.0.1", "--port", str(port))
    argv = [str(program), "serve", *ALWAYS, *where]
    with Program("octoprint", argv, logs=folder, env=env) as started:
        running = OctoPrint(f"http://127.0.0.1:{port}", api_key, started)
        running.wait_operational()
        yield running
