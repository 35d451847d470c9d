"""The agent installs, imports and starts where nothing of the server is installed.

Import rules read the code; this runs it. A wheel of the project goes into an environment that has
requirements/agent.txt and nothing else, as it would on a Raspberry Pi.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.rooms import ANY_STANDARD_LIBRARY, ROOMS
from tests.requirements_of_tests import need

REPOSITORY = Path(__file__).parents[2]
ENVIRONMENT = REPOSITORY / "build" / "agent-only" / "bin"
IMPORT_ROOMS = Path(__file__).with_name("import_rooms.py")

WHAT_THE_AGENT_IS_MADE_OF = [
    *("contract", "wire", "rules", "http1", "tunnel", "printers", "agent", "run.agent")
]
AGENT_LIBRARIES = frozenset[str]().union(
    *(ROOMS[room].libraries for room in ("agent", "printers.websocket", "printers.bambu.api"))
)
SERVER_LIBRARIES = frozenset[str]().union(*(room.libraries for room in ROOMS.values())) - (
    AGENT_LIBRARIES
)
# Drawing webcam pictures for the demo is the extra "demo", which no Pi needs; the plugin is for
# OctoPrint to import.
NEEDS_MORE = ("printreach.printers.simulated.", "printreach.agent.octoprint_plugin.plugin")


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


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the agent's requirements and a wheel of the project."""
    python = ENVIRONMENT / "python"
    need("the environment with the agent alone", python.exists(), "make agent-only")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=REPOSITORY)
    wheel = next(folder.glob("*.whl"))
    offline = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    run(python, "-m", "pip", "install", *offline, "--force-reinstall", wheel, cwd=folder)
    return ENVIRONMENT


@pytest.fixture(scope="module")
def imports(pi: Path, tmp_path_factory: pytest.TempPathFactory) -> Imports:
    """Import all of it there, away from the source tree."""
    packages = [f"printreach.{name}" for name in WHAT_THE_AGENT_IS_MADE_OF]
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    found = json.loads(run(pi / "python", "-I", IMPORT_ROOMS, *packages, cwd=elsewhere))
    return Imports(
        imported=found["Imported"], missing=found["Missing"], loaded=frozenset(found["Loaded"])
    )


def test_only_what_the_agent_requires_is_installed_there(pi: Path, tmp_path: Path) -> None:
    listed = json.loads(
        run(pi / "python", "-I", "-m", "pip", "list", "--format", "json", cwd=tmp_path)
    )
    pinned = re.findall(
        r"^([a-z0-9_.-]+)==", (REPOSITORY / "requirements/agent.txt").read_text(), re.MULTILINE
    )

    installed = {entry["name"].lower().replace("_", "-") for entry in listed}
    assert installed <= {*pinned, "pip", "setuptools", "printreach"}


def test_every_module_the_agent_needs_imports_there(imports: Imports) -> None:
    missing = {
        module: library
        for module, library in imports.missing.items()
        if not module.startswith(NEEDS_MORE)
    }

    assert missing == {}
    assert "printreach.run.agent" in imports.imported


def test_importing_the_agent_loads_no_library_of_the_server(imports: Imports) -> None:
    assert "litestar" in SERVER_LIBRARIES
    assert imports.loaded & SERVER_LIBRARIES == set()
    assert imports.loaded >= AGENT_LIBRARIES - ANY_STANDARD_LIBRARY


def test_the_agents_command_line_answers_there(pi: Path, tmp_path: Path) -> None:
    told = run(pi / "printreach", "agent", "run", "--help", cwd=tmp_path)

    assert "--service" in told
