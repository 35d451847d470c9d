"""The installed agent as a unit of systemd, of the machine or of the user who installed it."""

import asyncio
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import dataclass
from typing import Final

from printreach.agent.setup.installation import NAME, Installation

_MADE_BY: Final = '# Made by "printreach agent setup" for'
_HIDDEN: Final = (("/", "home"), ("/", "root"), ("/", "tmp"))
"""By ProtectHome and PrivateTmp, as the parts of paths."""
_TIMEOUT_S: Final = 60.0
_UNIT: Final = """\
[Unit]
Description=Printreach agent: remote access to the printer beside this machine
After=network-online.target
Wants=network-online.target
# Tried again for ever: nobody sits at this machine to start it by hand.
StartLimitIntervalSec=0

[Service]
Type=exec
EnvironmentFile={installation.secrets}
ExecStart={installation.program} agent run @{installation.options}
# Not after status 2: a wrong setting stays wrong until somebody corrects it.
Restart=always
RestartSec=5
RestartPreventExitStatus=2
# The agent takes 10 s at most to take leave of the service.
TimeoutStopSec=20
UMask=0077
# An idle agent needs less than 60 MB; streams have bounded windows.
MemoryMax=192M
TasksMax=32
NoNewPrivileges=yes
"""
_OF_THE_MACHINE: Final = """\
# A user of its own, made for the time it runs.
DynamicUser=yes
StateDirectory={installation.name}
StateDirectoryMode=0700
# It opens connections and writes its own folder, and has no business with anything else.
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
RemoveIPC=yes
# Netlink tells which addresses this machine has.
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
"""


class SystemdFailed(Exception):
    """systemd did not do what it was told; the message is a sentence."""


def unit_text(installation: Installation) -> str:
    """Return the unit file."""
    sandbox = _OF_THE_MACHINE if installation.is_system else ""
    target = "multi-user.target" if installation.is_system else "default.target"
    text = f"{_UNIT}{sandbox}".format(installation=installation)
    return f"{_MADE_BY} {installation.folder}\n{text}\n[Install]\nWantedBy={target}\n"


@dataclass(frozen=True, slots=True)
class Systemd:
    """The manager of one installation's unit."""

    installation: Installation

    @property
    def _words(self) -> tuple[str, ...]:
        return ("systemctl",) if self.installation.is_system else ("systemctl", "--user")

    @property
    def log_command(self) -> str:
        """The command that shows the agent's log."""
        whose = "" if self.installation.is_system else "--user "
        return f"journalctl {whose}-u {self.installation.name}"

    @property
    def is_ours(self) -> bool:
        """True when the unit is there, and belongs to this installation."""
        try:
            first = self.installation.unit.read_text(encoding="utf-8").partition("\n")[0]
        except (OSError, ValueError):
            return False
        return first == f"{_MADE_BY} {self.installation.folder}"

    @property
    def has_data(self) -> bool:
        """True when the data folder belongs to this installation. Raises DataDirRefused."""
        if not self.installation.is_system:
            return True
        return self.is_ours if self.installation.unit.exists() else self.installation.claims_data()

    async def is_there(self) -> bool:
        """Return whether systemd runs here, for this user."""
        if shutil.which("systemctl") is None:
            return False
        status, _ = await _call(*self._words, "show-environment")
        return status == 0

    async def start(self) -> None:
        """Write the unit, and start it anew, now and with the machine. Raises SystemdFailed."""
        unit = self.installation.unit
        if unit.exists() and not self.is_ours:
            raise SystemdFailed(
                f"{unit} was not made by this installation: remove it, or choose another --dir."
            )
        self._refuse_hidden_files()
        try:
            unit.parent.mkdir(parents=True, exist_ok=True)
            unit.write_text(unit_text(self.installation), encoding="utf-8")
        except OSError as error:
            raise SystemdFailed(f"{unit} can't be written: {error.strerror}.") from error
        await self._tell("daemon-reload")
        await self._tell("enable", self.installation.unit.name)
        await self._tell("restart", self.installation.unit.name)

    async def stays_after_sign_out(self) -> bool:
        """Have a user's agent run while the user is signed out; return whether it will."""
        if self.installation.is_system:
            return True
        if shutil.which("loginctl") is None:
            return False
        status, _ = await _call("loginctl", "--no-ask-password", "enable-linger")
        return status == 0

    async def remove(self) -> None:
        """Stop the unit and remove it, if it is ours. Raises SystemdFailed."""
        if not self.is_ours:
            return
        if await self.is_there():
            await self._tell("disable", "--now", self.installation.unit.name)
        self.installation.unit.unlink()
        if await self.is_there():
            await self._tell("daemon-reload")

    def _refuse_hidden_files(self) -> None:
        """Raise SystemdFailed for files that a unit of the machine doesn't see."""
        python = (self.installation.folder / "venv" / "bin" / "python").resolve()
        for path in (self.installation.folder, python):
            if self.installation.is_system and path.parts[:2] in _HIDDEN:
                raise SystemdFailed(
                    f"The agent of the machine doesn't see {path}: choose a folder such as"
                    f" /opt/{NAME} with --dir, and a Python of the system."
                )

    async def _tell(self, *words: str) -> None:
        status, said = await _call(*self._words, *words)
        if status != 0:
            raise SystemdFailed(f"{' '.join((*self._words, *words))} failed: {said or status}")


async def _call(*words: str) -> tuple[int, str]:
    """Return the exit status of a command, and what it wrote to standard error."""
    process = await asyncio.create_subprocess_exec(
        *words, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE
    )
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return 1, f"no answer for {_TIMEOUT_S:.0f} s"
    return process.returncode or 0, said.decode(errors="replace").strip()
