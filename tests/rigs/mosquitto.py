"""Mosquitto as somebody has it at home: one listener, one user."""

import subprocess
from pathlib import Path
from typing import Final

from tests.rigs.peers import system_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

USER: Final = "reach"
PASSWORD: Final = "p@ss/w:rd"
# "user root" is of no effect for anybody else, and keeps root from stepping down.
_CONFIG: Final = """
persistence false
log_type error
log_type warning
user root
listener {port} 127.0.0.1
allow_anonymous false
password_file {folder}/passwords
"""


class Mosquitto:
    """A broker on a port of its own. It forgets everything when it is stopped."""

    def __init__(self, folder: Path) -> None:
        program = system_program("mosquitto", "mosquitto")
        passwords = system_program("mosquitto_passwd", "mosquitto")
        self.port = free_port()
        config = folder / "mosquitto.conf"
        config.write_text(_CONFIG.format(port=self.port, folder=folder))
        command = [str(passwords), "-c", "-b", str(folder / "passwords"), USER, PASSWORD]
        subprocess.run(command, check=True, capture_output=True)
        self._program = Program("mosquitto", [program, "-c", config], logs=folder)

    @property
    def url(self) -> str:
        return f"mqtt://{USER}:p%40ss%2Fw%3Ard@127.0.0.1:{self.port}"

    def start(self) -> None:
        self._program.start()
        self._program.wait_until("listening", lambda: accepts_connections(self.port) or None, 30)

    def stop(self) -> None:
        self._program.kill()
