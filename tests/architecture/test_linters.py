"""The rules that import-linter and ruff hold bite: each is broken once on purpose."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent

# One violation for each contract, in a house that has every room.
ROOMS = (
    *("languages", "contract", "limiters", "wire", "rules", "ports", "tunnel", "http1", "store"),
    *("hub", "printers", "web", "relay", "backends", "detector", "agent", "run"),
)
VIOLATIONS = {
    "Rooms stack one way": ("wire/upwards.py", "import printreach.rules.empty"),
    "The relay, the backends and": ("relay/usecase.py", "import printreach.hub.empty"),
    "The relay and the detector": ("relay/rows.py", "import printreach.store.empty"),
    "What runs beside": ("tunnel/server.py", "import printreach.hub.empty"),
    "Use cases": ("hub/bytes.py", "import printreach.wire.empty"),
    "The web room": ("web/bytes.py", "import printreach.wire.empty"),
    "Pages read": ("web/rows.py", "import printreach.store.store"),
    "No cycles": ("agent/one.py", "import printreach.agent.other"),
}
SECOND_HALF_OF_THE_CYCLE = ("agent/other.py", "import printreach.agent.one")


def lint_imports(folder: Path) -> str:
    """Run import-linter with this repository's rules on the package in folder."""
    done = subprocess.run(
        [
            TOOLS / "lint-imports",
            "--no-logo",
            "--no-cache",
            "--config",
            REPOSITORY / "pyproject.toml",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def write(folder: Path, file: str, line: str) -> None:
    path = folder / "printreach" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(line + "\n")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a package called printreach that has every room and breaks no rule."""
    write(tmp_path, "__init__.py", "")
    for room in ROOMS:
        write(tmp_path, f"{room}/empty.py", "")
    write(tmp_path, "store/store.py", "")
    write(tmp_path, "run/agent.py", "")
    write(tmp_path, "run/octoprint_plugin.py", "")
    write(tmp_path, "run/agent_questions.py", "")
    write(tmp_path, "run/agent_setup.py", "")
    return tmp_path


def test_a_house_that_keeps_the_rules_passes_import_linter(house: Path) -> None:
    report = lint_imports(house)

    assert f"Contracts: {len(VIOLATIONS)} kept, 0 broken" in report, report


def test_each_contract_of_import_linter_catches_its_violation(house: Path) -> None:
    for file, line in (*VIOLATIONS.values(), SECOND_HALF_OF_THE_CYCLE):
        write(house, file, line)

    report = lint_imports(house)

    kept = [rule for rule in VIOLATIONS if not _is_broken(rule, report)]
    assert kept == [], report


def test_import_linter_wants_a_place_for_a_new_room(house: Path) -> None:
    write(house, "attic/empty.py", "")

    report = lint_imports(house)

    assert "printreach.attic" in report
    assert "0 broken" not in report


def _is_broken(rule: str, report: str) -> bool:
    return any(
        line.startswith(rule) and line.rstrip().endswith("BROKEN") for line in report.splitlines()
    )


IMPURE = {
    "time.monotonic": "import time\n\nSTARTED = time.monotonic()\n",
    "datetime.now": "from datetime import UTC, datetime\n\nSTARTED = datetime.now(UTC)\n",
    "random": "from random import random\n\nDELAY_S = random()\n",
    "secrets": "import secrets\n\nKEY = secrets.token_bytes(16)\n",
    "os.environ": 'import os\n\nHOME = os.environ["HOME"]\n',
    "os.getenv": 'from os import getenv\n\nHOME = getenv("HOME")\n',
    "os.urandom": "import os\n\nKEY = os.urandom(16)\n",
    "uuid4": "from uuid import uuid4\n\nNAME = uuid4()\n",
}


def banned(file: str, text: str) -> bool:
    """True when the linter's list of banned calls forbids this text in this file."""
    done = subprocess.run(
        [TOOLS / "ruff", "check", "--no-cache", "--stdin-filename", file, "-"],
        cwd=REPOSITORY,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return "TID251" in done.stdout


@pytest.mark.parametrize(
    "room", ["rules", "wire", "tunnel", "agent", "relay", "store", "hub", "web"]
)
@pytest.mark.parametrize("text", IMPURE.values(), ids=IMPURE.keys())
def test_clocks_randomness_and_the_environment_are_banned(room: str, text: str) -> None:
    assert banned(f"src/printreach/{room}/planted.py", text)


@pytest.mark.parametrize("room", ["backends", "run"])
@pytest.mark.parametrize("text", IMPURE.values(), ids=IMPURE.keys())
def test_backends_and_run_are_where_they_come_in(room: str, text: str) -> None:
    assert not banned(f"src/printreach/{room}/planted.py", text)
