"""A person's home without anything of ours, in which the installation script runs for real.

Where the tests run as root, the person is nobody, so nothing of the machine itself is touched.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.requirements_of_tests import need

NOBODY = 65534
IS_ROOT = os.getuid() == 0
SYSTEMCTL = Path(__file__).with_name("fake_systemctl.py")


@dataclass(frozen=True, kw_only=True)
class Home:
    """A home directory. variables: of its environment, beside PATH and HOME."""

    path: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the agent is installed unless something else is said."""
        return self.path / ".local" / "share" / "printreach-agent"

    @property
    def program(self) -> Path:
        return self.folder / "venv" / "bin" / "printreach"

    def start(self, *words: str | Path, **variables: str) -> "subprocess.Popen[str]":
        """Start a command as this person, at no terminal."""
        return self.start_at(subprocess.DEVNULL, *words, **variables)

    def start_at(self, stdin: int, *words: str | Path, **variables: str) -> "subprocess.Popen[str]":
        """Start a command as this person. stdin: the descriptor of a terminal, say."""
        env = {
            "HOME": str(self.path),
            "PATH": f"{self.path}/bin:/usr/local/bin:/usr/bin:/bin",
            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
            **self.variables,
            **variables,
        }
        return subprocess.Popen(
            [str(word) for word in words],
            env=env,
            cwd=self.path,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            user=NOBODY if IS_ROOT else None,
            group=NOBODY if IS_ROOT else None,
            extra_groups=[] if IS_ROOT else None,
        )

    def run(self, *words: str | Path, status: int = 0, **variables: str) -> str:
        """Run a command to its end; return what it wrote."""
        program = self.start(*words, **variables)
        said, _ = program.communicate(timeout=300)
        assert program.returncode == status, said
        return said

    def pipe(self, service: str, *options: str, status: int = 0) -> str:
        """Run the one line of the pages. options: behind `sh -s --`."""
        line = 'curl -fsSL "$0" | sh -s -- "$@"'
        return self.run("sh", "-c", line, f"{service}/install/agent", *options, status=status)

    def add_systemd(self) -> Path:
        """Put a systemctl on the path that starts units' commands; return its folder."""
        kept = self.path / "systemd"
        copy = shutil.copy(SYSTEMCTL, self.path)  # the repository may be for the tests' user alone
        self.add_program("systemctl", f'exec python3 {copy} {kept} "$@"')
        self.add_program("loginctl", "exit 0")
        return kept

    def add_program(self, name: str, script: str) -> None:
        programs = self.path / "bin"
        programs.mkdir(exist_ok=True)
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    def status(self) -> Mapping[str, object]:
        """Return what the running agent says of itself."""
        said: Mapping[str, object] = json.loads(self.run(self.program, "agent", "status", "--json"))
        return said


@contextmanager
def new_home(**variables: str) -> Iterator[Home]:
    """Make a home, and remove it. variables: of its environment."""
    # Not pytest's folder, which is for the tests' own user alone.
    path = Path(tempfile.mkdtemp(prefix="printreach-home-"))
    try:
        if IS_ROOT:
            os.chown(path, NOBODY, NOBODY)
        home = Home(path=path, variables=dict(variables))
        home.add_program("systemctl", "exit 1")  # the machine's own is left alone
        yield home
    finally:
        shutil.rmtree(path)


def need_index(home: Home) -> None:
    """Skip the test where pip reaches no index, or fail it where everything is required."""
    words = ("-m", "pip", "download", "--quiet", "--no-deps", "segno", "-d", str(home.path / "x"))
    asked = home.start("python3", *words)
    asked.communicate()
    need("a package index", asked.returncode == 0, "a pip that reaches one")
