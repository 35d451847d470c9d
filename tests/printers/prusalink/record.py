"""Records what a real PrusaLink says: `python -m tests.printers.prusalink.record`.

Writes tests/printers/recordings/prusalink/<version>.json, answers by "moment: target". What
differs from run to run and says nothing (free space, folders, the machine's name) is left out.
"""

import json
import time
from pathlib import Path
from typing import Any

from tests.printers.sliced import sliced
from tests.rigs.prusalink import PrusaLink, prusalink
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Header

RECORDINGS = Path(__file__).parents[1] / "recordings" / "prusalink"
ALWAYS = ("v1/status", "v1/job")
ONCE = (
    *("version", "v1/info", "v1/storage", "v1/cameras", "v1/files/local", "v1/files/local/parts"),
    "v1/files/local/parts/sliced%20part.gcode",
)
PLAIN = b"G28\nM140 S40\nM104 S60\nM109 S60\n" + b"G1 X10 F9000\nG4 P50\nG1 X20\n" * 400
_DROPPED = frozenset({"free_space", "total_space", "hostname", "m_timestamp"})
_G_CODE: tuple[Header, ...] = (("Content-Type", "text/x.gcode"), ("Overwrite", "?1"))


class Recorder:
    """Plays prints through, and writes down what is said."""

    def __init__(self, peer: PrusaLink) -> None:
        self.peer = peer
        self.recorded: dict[str, Any] = {}

    def note(self, moment: str, *targets: str) -> None:
        for target in targets or ALWAYS:
            body = self.peer.ask("GET", f"/api/{target}").body
            self.recorded[f"{moment}: {target}"] = _clean(json.loads(body)) if body else None

    def play(self) -> None:
        self._upload("parts/sliced%20part.gcode", sliced().data)
        self._upload("plain.gcode", PLAIN)
        time.sleep(3)  # until the first temperatures have come
        self.note("idle", *ONCE, *ALWAYS)
        self._start("plain.gcode")
        self._pass("starting", "PRINTING", 0)
        self._pass("printing", "PRINTING", 15)
        self._order("PUT", "/pause")
        self._pass("paused", "PAUSED", 1)
        self._order("PUT", "/resume")
        self._pass("resumed", "PRINTING", 1)
        self._order("DELETE")
        self._pass("stopped", "STOPPED", 0)
        self._pass("idle again", "IDLE", 0)
        self._start("parts/sliced%20part.gcode")
        self._pass("printing what was sliced", "PRINTING", 0)
        self._pass("finished", "FINISHED", 0)
        self._pass("idle at last", "IDLE", 0)
        self._start("plain.gcode")
        self._pass("printing once more", "PRINTING", 1)
        self.peer.firmware.overheat()
        self._pass("fault", "ERROR", 1)

    def _pass(self, moment: str, state: str, seconds: float) -> None:
        wait_for(state, lambda: self.peer.state() == state, 30)
        time.sleep(seconds)
        self.note(moment)

    def _order(self, method: str, command: str = "") -> None:
        job = json.loads(self.peer.ask("GET", "/api/v1/job").body)
        assert self.peer.ask(method, f"/api/v1/job/{job['id']}{command}").status == 204

    def _upload(self, path: str, data: bytes) -> None:
        target = f"/api/v1/files/local/{path}"
        assert self.peer.ask("PUT", target, *_G_CODE, body=data).status == 201
        wait_for(path, lambda: self.peer.ask("GET", target).status == 200, 10)

    def _start(self, path: str) -> None:
        assert self.peer.ask("POST", f"/api/v1/files/local/{path}").status == 204


def _clean(reported: Any) -> Any:
    if isinstance(reported, dict):
        return {key: _clean(value) for key, value in reported.items() if key not in _DROPPED}
    return [_clean(value) for value in reported] if isinstance(reported, list) else reported


def main() -> None:
    with prusalink() as peer:
        recorder = Recorder(peer)
        recorder.play()
    version = recorder.recorded["idle: version"]["server"]
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(recorder.recorded, indent=1, ensure_ascii=False)
    (RECORDINGS / f"{version}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
