"""PrusaLink as it is, with the board of a printer that is simulated."""

import hashlib
import json
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from tests.rigs.calls import Answer, call
from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.prusalink_firmware import Firmware
from tests.rigs.waiting import free_port
from tests.rigs.ways import Header, Way

USER = "maker"
PASSWORD = "Prusa-link-1"
REALM = "Administrator"
START = Path(__file__).with_name("prusalink_start.py")
START_S = 60
ENDED_S = 8.0
"""Far longer than the contract suite watches an ended print for, and far shorter than the agent
waits for it to be cleared away."""
FORGETS = "forgets_prints"
"""The file in its folder that is there while a print that has ended is kept no longer."""
# It takes no folder for prints below /tmp, where a checkout may well lie, and says nothing of it.
FOLDERS = Path("/var/tmp")

CONFIG = """
[daemon]
data_dir = {folder}
[printer]
port = {folder}/printer
directory = {folder}/gcodes
[cameras]
auto_detect = false
"""
SETTINGS = """
[printer]
type = MK3S
name = On the bench
[service::local]
enable = 1
username = {user}
digest = {digest}
api_key = {api_key}
"""


@dataclass(frozen=True)
class PrusaLink:
    """A running PrusaLink. folder: where it keeps everything; prints in `gcodes`."""

    url: str
    folder: Path
    firmware: Firmware
    api_key: str = field(repr=False)

    @property
    def key(self) -> Header:
        return "X-Api-Key", self.api_key

    def ask(self, method: str, target: str, *headers: Header, body: bytes = b"") -> Answer:
        """Ask it directly."""
        way = Way.straight(self.url)
        return call(way, target, method=method, headers=[self.key, *headers], body=body)

    @contextmanager
    def forgetting_prints(self) -> Iterator[None]:
        """Meanwhile the printer is idle as soon as a print has ended."""
        forgets = self.folder / FORGETS
        forgets.touch()
        try:
            yield
        finally:
            forgets.unlink()

    def state(self) -> str:
        """Of the printer: IDLE, PRINTING, FINISHED..."""
        reported = json.loads(self.ask("GET", "/api/v1/status").body)
        return str(reported["printer"]["state"])


@contextmanager
def prusalink() -> Iterator[PrusaLink]:
    """Run one, its printer plugged in and idle. It takes some 12 s, most of them one fixed wait."""
    program, port = peer_program("prusalink", "python"), free_port()
    api_key = secrets.token_hex(8)
    digest = hashlib.md5(f"{USER}:{REALM}:{PASSWORD}".encode()).hexdigest()
    with tempfile.TemporaryDirectory(prefix="prusalink-", dir=FOLDERS) as name:
        folder = Path(name)
        settings = SETTINGS.format(user=USER, digest=digest, api_key=api_key)
        (folder / "prusa_printer_settings.ini").write_text(settings)
        (folder / "prusalink.ini").write_text(CONFIG.format(folder=folder))
        where = ("-c", str(folder / "prusalink.ini"), "-a", "127.0.0.1", "-t", str(port))
        argv: list[str | Path] = [
            program,
            START,
            str(ENDED_S),
            folder / FORGETS,
            "-f",
            "-i",
            *where,
        ]
        with (
            Firmware(folder / "printer") as firmware,
            Program("prusalink", argv, logs=folder) as started,
        ):
            running = PrusaLink(f"http://127.0.0.1:{port}", folder, firmware, api_key)
            started.wait_until("idle", lambda: _is_idle(running), START_S)
            yield running


def _is_idle(running: PrusaLink) -> bool:
    try:
        return running.state() == "IDLE"
    except (OSError, ValueError, KeyError, HTTPException):
        return False  # not listening yet, or what answers while it starts: not quite JSON
