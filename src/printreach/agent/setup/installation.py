"""An installed agent: the folder that the installation script makes, and what is written there."""

import contextlib
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from printreach.agent.data_dir import (
    DataDirRefused,
    is_locked,
    prepare,
    read_private,
    write_private,
)

MARK: Final = ".printreach-agent"
"""An empty file by which the folder is known to be one of an agent, and may be removed."""
NAME: Final = "printreach-agent"
DATA_MARK: Final = "installation"
"""A file in the data folder of the machine's agent that names the folder it belongs to. Folders of
one name have the same data folder; where there is a unit, that tells whose it is."""

_MAX_MARK_BYTES: Final = 8 * 1024
_MAX_SECRETS_BYTES: Final = 64 * 1024
_SECRET: Final = re.compile(r'^([A-Z_]+)="(.*)"$', re.MULTILINE)
_ESCAPED: Final = re.compile(r'\\(["\\`$])')
_SPECIAL: Final = re.compile(r'["\\`$]')


@dataclass(frozen=True, kw_only=True, slots=True)
class Installation:
    """The files and folders of one installed agent.

    folder: has the environment `venv` and the files below. name: of its unit. is_system: it was
    made by root, and runs for the whole machine. command: a link to the program that is on most
    people's PATH.
    """

    folder: Path
    name: str
    is_system: bool
    data_dir: Path
    unit: Path
    command: Path

    @classmethod
    def at(cls, folder: Path, *, is_system: bool, home: Path) -> Self:
        """Return the installation in a folder, which need not be there. home: of the user."""
        name = folder.name if folder.name.startswith(NAME) else f"{NAME}-{folder.name}"
        units = Path("/etc/systemd/system") if is_system else home / ".config/systemd/user"
        commands = Path("/usr/local/bin") if is_system else home / ".local/bin"
        return cls(
            folder=folder,
            name=name,
            is_system=is_system,
            data_dir=Path("/var/lib") / name if is_system else folder / "data",
            unit=units / f"{name}.service",
            command=commands / "printreach",
        )

    @property
    def program(self) -> Path:
        return self.folder / "venv" / "bin" / "printreach"

    @property
    def options(self) -> Path:
        """The options of `agent run`, one a line."""
        return self.folder / "options"

    @property
    def secrets(self) -> Path:
        """The printer's secrets, as assignments that systemd and shells read alike."""
        return self.folder / "secrets.env"

    @property
    def runner(self) -> Path:
        """A script that runs the agent where there is no systemd."""
        return self.folder / "run"

    @property
    def is_made(self) -> bool:
        return (self.folder / MARK).is_file()

    @property
    def is_running(self) -> bool:
        """True while an agent runs on the data. Raises DataDirRefused."""
        return is_locked(self.data_dir)

    def read_options(self) -> list[str]:
        """Return the options as they were written; none before that."""
        try:
            return self.options.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def read_secrets(self) -> dict[str, str]:
        """Return the secrets by their variables. Raises DataDirRefused."""
        content = read_private(self.secrets, at_most=_MAX_SECRETS_BYTES) or b""
        found = _SECRET.findall(content.decode(errors="replace"))
        return {name: _ESCAPED.sub(r"\1", value) for name, value in found}

    def write(self, options: Sequence[str], secrets: Mapping[str, str]) -> None:
        """Write the options, the secrets and the script that runs the agent. Raises OSError."""
        lines = [f'{name}="{_SPECIAL.sub(_escape, value)}"\n' for name, value in secrets.items()]
        write_private(self.secrets, "".join(lines).encode(), durable=True)
        self.options.write_text("".join(f"{option}\n" for option in options), encoding="utf-8")
        self.runner.write_text(
            "#!/bin/sh\n"
            "# Runs the agent where systemd doesn't.\n"
            f"set -a\n. {self.secrets}\nset +a\n"
            f"exec {self.program} agent run @{self.options}\n",
            encoding="utf-8",
        )
        self.runner.chmod(0o700)

    def add_command(self) -> None:
        """Link the program into a folder of commands, unless something has its name there."""
        with contextlib.suppress(OSError):
            if self.command.is_symlink() and not self.command.exists():
                self.command.unlink()  # of an installation that is gone
            self.command.parent.mkdir(parents=True, exist_ok=True)
            self.command.symlink_to(self.program)

    def claim_data(self) -> None:
        """Make the data folder this installation's. Raises DataDirRefused and OSError."""
        self.refuse_data_of_another()
        prepare(self.data_dir)
        if not self.is_system:
            return  # it is within the folder
        write_private(self.data_dir / DATA_MARK, f"{self.folder}\n".encode(), durable=True)

    def refuse_data_of_another(self) -> None:
        """Raise DataDirRefused if the data folder is that of an agent in another folder."""
        owner = self._data_owner() if self.is_system else None
        if owner not in (None, self.folder) and (owner / MARK).is_file():
            raise DataDirRefused(
                f"{self.data_dir} has the data of the agent in {owner}: choose a --dir that ends"
                " in another name."
            )

    def claims_data(self) -> bool:
        """Return whether the data folder is this installation's, as far as files tell.

        One that was set up before there was a mark has the data folder in its options. Raises
        DataDirRefused.
        """
        owner = self._data_owner()
        if owner is not None:
            return owner == self.folder
        return f"--data-dir={self.data_dir}" in self.read_options()

    def _data_owner(self) -> Path | None:
        mark = read_private(self.data_dir / DATA_MARK, at_most=_MAX_MARK_BYTES)
        return None if mark is None else Path(mark.decode(errors="replace").removesuffix("\n"))

    def parts(self, *, has_data: bool) -> list[Path]:
        """Return the folders and links that remove() deletes. has_data: the data folder is ours.

        Of a link only the link is, but for the one that systemd makes of the data folder, for users
        that exist only while a unit runs.
        """
        if not self.is_system or not has_data:
            return [self.folder]
        real = self.data_dir.parent / "private" / self.data_dir.name
        is_by_systemd = self.data_dir.is_symlink() and self.data_dir.resolve() == real
        data = [self.data_dir, real] if is_by_systemd else [self.data_dir]
        return [self.folder, *(path for path in data if path.is_symlink() or path.exists())]

    def remove(self, parts: Sequence[Path]) -> None:
        """Remove these of its parts, and its command. Raises OSError."""
        if self.command.is_symlink() and self.command.readlink() == self.program:
            self.command.unlink()
        for part in parts:
            if part.is_symlink():
                part.unlink()
            elif part.exists():
                shutil.rmtree(part)


def _escape(special: re.Match[str]) -> str:
    return f"\\{special[0]}"
