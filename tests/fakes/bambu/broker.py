"""Mosquitto as a printer has its broker: TLS, one user, a topic for each direction."""

import subprocess
from pathlib import Path

from tests.rigs.peers import system_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

USER, ACCESS_CODE = "bblp", "12345678"
# "user root" is of no effect for anybody else, and keeps root from stepping down.
CONFIG = """
per_listener_settings true
persistence false
log_type error
log_type warning
user root
listener {port} 127.0.0.1
certfile {certificate}
keyfile {key}
allow_anonymous false
password_file {folder}/passwords
acl_file {folder}/rights

listener {inner_port} 127.0.0.1
allow_anonymous true
"""


class Broker:
    """port: for clients, with TLS. inner_port: for the fake printer itself."""

    def __init__(self, folder: Path, serial: str, certificate: Path, key: Path) -> None:
        program = system_program("mosquitto", "mosquitto")
        passwords = system_program("mosquitto_passwd", "mosquitto")
        self.port, self.inner_port = free_port(), free_port()
        config = folder / "mosquitto.conf"
        config.write_text(
            CONFIG.format(
                port=self.port,
                inner_port=self.inner_port,
                folder=folder,
                certificate=certificate,
                key=key,
            )
        )
        rights = [f"user {USER}", f"topic read device/{serial}/report"]
        rights.append(f"topic write device/{serial}/request")
        (folder / "rights").write_text("\n".join(rights) + "\n")
        secrets = [str(passwords), "-c", "-b", str(folder / "passwords"), USER, ACCESS_CODE]
        subprocess.run(secrets, check=True, capture_output=True)
        self._program = Program("mosquitto", [program, "-c", config], logs=folder)

    def start(self) -> None:
        self._program.start()
        self._program.wait_until(
            "listening", lambda: accepts_connections(self.inner_port) or None, 60
        )

    def stop(self) -> None:
        self._program.kill()
