"""An environment with the pinned requirements of one part, and a wheel of the project in it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.requirements_of_tests import need

REPOSITORY = Path(__file__).parents[2]
IMPORT_ROOMS = Path(__file__).with_name("import_rooms.py")


@dataclass(frozen=True, kw_only=True)
class Imports:
    """What import_rooms.py found."""

    imported: list[str]
    missing: dict[str, str]
    loaded: frozenset[str]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command to its end and return what it printed; fail with all of it if it failed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def installed(name: str, folder: Path) -> Path:
    """Put a wheel of the project into that environment; gives the folder of its programs.

    name: of the make target and of the folder below build. folder: where the wheel is made.
    """
    programs = REPOSITORY / "build" / name / "bin"
    python = programs / "python"
    need(f"the environment {name}", python.exists(), f"make {name}")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=REPOSITORY)
    wheel = next(folder.glob("*.whl"))
    offline = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    run(python, "-m", "pip", "install", *offline, "--force-reinstall", wheel, cwd=folder)
    return programs


def imports_of(programs: Path, packages: Sequence[str], elsewhere: Path) -> Imports:
    """Import all of these packages there, away from the source tree."""
    found = json.loads(run(programs / "python", "-I", IMPORT_ROOMS, *packages, cwd=elsewhere))
    return Imports(
        imported=found["Imported"], missing=found["Missing"], loaded=frozenset(found["Loaded"])
    )
