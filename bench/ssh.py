"""`ssh -R`, the usual way to reach a machine at home, with temporary keys on loopback."""

import getpass
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from bench.processes import find_program
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

# As root the server wants this folder, which the init system makes where it runs.
_PRIVILEGE_SEPARATION: Final = Path("/run/sshd")
_CONFIG: Final = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
AllowTcpForwarding remote
"""


@dataclass(frozen=True, slots=True)
class SshTunnel:
    """A running `ssh -R`. ports: at the server's end, in the order of the targets."""

    ports: list[int]
    pid: int


@dataclass(frozen=True, slots=True)
class SshServer:
    """A running sshd, and what a client needs to sign in to it."""

    folder: Path
    port: int
    pid: int

    def session_pid(self) -> int:
        """Return the process that serves the first client."""
        children = psutil.Process(self.pid).children(recursive=True)
        # As an ordinary user, sshd has one more process that only supervises.
        return children[-1].pid

    @contextmanager
    def tunnel(
        self, name: str, targets: Sequence[int], via_port: int | None = None
    ) -> Iterator[SshTunnel]:
        """Run `ssh -R` for these ports. via_port: the port to dial instead, for a paced uplink."""
        remote = [free_port() for _ in targets]
        forwards = [
            word
            for here, there in zip(targets, remote, strict=True)
            for word in ("-R", f"127.0.0.1:{there}:127.0.0.1:{here}")
        ]
        argv = [
            *(find_program("ssh", "openssh-client"), "-F", "none", "-N", "-T"),
            *("-p", str(via_port or self.port), "-i", str(self.folder / "user_key"), *forwards),
            *_options(f"UserKnownHostsFile={self.folder}/known_hosts", "ExitOnForwardFailure=yes"),
            *_options("StrictHostKeyChecking=no", "IdentitiesOnly=yes", "BatchMode=yes"),
            f"{getpass.getuser()}@127.0.0.1",
        ]
        with Program(f"ssh-{name}", argv, logs=self.folder) as program:
            program.wait_until("forwarding", lambda: all(map(accepts_connections, remote)))
            yield SshTunnel(remote, program.pid)


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Run sshd with keys of its own."""
    program, port = find_program("sshd", "openssh-server"), free_port()
    for name in ("host_key", "user_key"):
        _make_key(folder / name)
    config = folder / "sshd_config"
    config.write_text(_CONFIG.format(port=port, folder=folder))
    if os.geteuid() == 0:
        _PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
    argv = [program, "-D", "-e", "-f", str(config)]
    with Program("sshd", argv, logs=folder) as running:
        running.wait_until("listening", lambda: accepts_connections(port))
        yield SshServer(folder, port, running.pid)


def _options(*options: str) -> list[str]:
    return [word for option in options for word in ("-o", option)]


def _make_key(path: Path) -> None:
    program = find_program("ssh-keygen", "openssh-client")
    argv = [program, "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
