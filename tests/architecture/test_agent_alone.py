"""The agent installs, imports and starts where nothing of the server is installed.

Import rules read the code; this runs it. A wheel of the project goes into an environment that has
requirements/agent.txt and nothing else, as it would on a Raspberry Pi.
"""

import json
import re
from pathlib import Path

import pytest

from tests.architecture.alone import REPOSITORY, Imports, imports_of, installed, run
from tests.architecture.rooms import ANY_STANDARD_LIBRARY, ROOMS

WHAT_THE_AGENT_IS_MADE_OF = [
    *("contract", "limiters", "wire", "rules", "http1", "tunnel", "printers", "agent", "run.agent"),
    *("run.agent_questions", "run.agent_setup", "languages.catalogues"),
]
AGENT_LIBRARIES = frozenset[str]().union(
    *(ROOMS[room].libraries for room in ("agent", "printers.websocket", "printers.mqtt"))
)
SERVER_LIBRARIES = frozenset[str]().union(*(room.libraries for room in ROOMS.values())) - (
    AGENT_LIBRARIES
)
# Drawing webcam pictures for the demo is the extra "demo", which no Pi needs; the plugin is for
# OctoPrint to import.
NEEDS_MORE = ("printreach.printers.simulated.", "printreach.agent.octoprint_plugin.plugin")


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the agent's requirements and a wheel of the project."""
    return installed("agent-only", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def imports(pi: Path, tmp_path_factory: pytest.TempPathFactory) -> Imports:
    """Import all of it there, away from the source tree."""
    packages = [f"printreach.{name}" for name in WHAT_THE_AGENT_IS_MADE_OF]
    return imports_of(pi, packages, tmp_path_factory.mktemp("elsewhere"))


@pytest.mark.slow
def test_only_what_the_agent_requires_is_installed_there(pi: Path, tmp_path: Path) -> None:
    listed = json.loads(
        run(pi / "python", "-I", "-m", "pip", "list", "--format", "json", cwd=tmp_path)
    )
    pinned = re.findall(
        r"^([a-z0-9_.-]+)==", (REPOSITORY / "requirements/agent.txt").read_text(), re.MULTILINE
    )

    installed = {entry["name"].lower().replace("_", "-") for entry in listed}
    assert installed <= {*pinned, "pip", "setuptools", "printreach"}


@pytest.mark.slow
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
