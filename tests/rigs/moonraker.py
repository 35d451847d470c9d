"""Moonraker as it is: its web server, database and file manager; with no Klipper of its own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

from tests.rigs.calls import call
from tests.rigs.peers import peer_program
from tests.rigs.programs import Program
from tests.rigs.waiting import free_port
from tests.rigs.ways import Way

# Loopback is trusted, as in every usual installation: the agent stands beside the printer.
CONFIG = """
[server]
host: 127.0.0.1
port: {port}
klippy_uds_address: {folder}/klippy_uds
[machine]
provider: none
validate_service: False
[authorization]
trusted_clients:
    127.0.0.1
cors_domains:
    *
[file_manager]
enable_object_processing: False
[history]
[octoprint_compat]
"""


@contextmanager
def moonraker(folder: Path, config: str = CONFIG) -> Iterator[str]:
    """Run one in a data folder of its own and give its address.

    config: CONFIG, or more. A Klippy (tests/rigs/klippy.py) in the same folder is found,
    whenever it comes.
    """
    program, port = peer_program("moonraker", "moonraker"), free_port()
    for name in ("config", "gcodes", "logs", "database", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "config" / "moonraker.conf").write_text(config.format(port=port, folder=folder))
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            info = call(Way.straight(url), "/server/info")
        except (OSError, HTTPException):
            return False  # not listening yet
        return info.status == 200 and "moonraker_version" in json.loads(info.body)["result"]

    argv = [str(program), "-d", str(folder), "-n"]
    env = {"TMPDIR": str(folder / "tmp")}
    with Program("moonraker", argv, logs=folder, env=env) as started:
        started.wait_until("answering", answers)
        yield url
