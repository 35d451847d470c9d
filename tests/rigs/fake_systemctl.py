"""Stands in for systemctl: FOLDER [--user] COMMAND [UNIT], for units of the user's own folder.

It does what the real one would with the lines of a unit that tests depend on: EnvironmentFile and
ExecStart, as a process of its own. Each command is written to FOLDER/calls.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path


def start(unit: Path, folder: Path) -> None:
    """Start the unit's command in the background, and keep its process id."""
    text = unit.read_text()
    lines = dict(re.findall(r"^(ExecStart|EnvironmentFile)=(.*)$", text, re.MULTILINE))
    secrets = shlex.split(Path(lines["EnvironmentFile"]).read_text())
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            shlex.split(lines["ExecStart"]),
            env={**os.environ, **dict(one.split("=", 1) for one in secrets)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (folder / "running.json").write_text(json.dumps(process.pid))


def stop(folder: Path) -> None:
    """End it, and wait for that."""
    kept = folder / "running.json"
    if not kept.exists():
        return
    pid = json.loads(kept.read_text())
    kept.unlink()
    os.kill(pid, signal.SIGTERM)
    while is_running(pid):
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """False for a process that has ended, though nobody has waited for it yet."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def main(folder: Path, words: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / "calls").open("a") as calls:
        calls.write(" ".join(words) + "\n")
    commands = [word for word in words if not word.startswith("-")]
    unit = Path.home() / ".config" / "systemd" / "user" / commands[-1]
    match commands[0]:
        case "restart":
            stop(folder)
            start(unit, folder)
        case "disable":
            stop(folder)


main(Path(sys.argv[1]), sys.argv[2:])
