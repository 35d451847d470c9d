"""What we tell people to install is pinned by hash, and the recipes by hand work."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_documents import DOCUMENTS, PACKAGE, REPOSITORY
from tests.requirements_of_tests import need

PLACES = [
    *(one for one in DOCUMENTS if one.name != "CHANGELOG.md"),
    *sorted((REPOSITORY / "deploy").rglob("*")),
    *sorted(PACKAGE.rglob("*.py")),
    *sorted(PACKAGE.rglob("*.html")),
]
INSTALL = re.compile(r"\bpip3?(?: |\")install\b[^\n]*")
HASHED = re.compile(r"pip install --require-hashes (?:-r requirements/[\w{}]+\.txt\s*|\{files\})+")
WHEEL = "pip install --no-deps --no-index --find-links . printreach"
NAMED_LIST = re.compile(r"requirements/(\w+)\.txt")
PIN = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^ ;]+)(?: ; ([^\\]*))?", re.MULTILINE)
SHIPPED = re.compile(r"^SHIPPED := (.*)$", re.MULTILINE)


def shipped() -> list[str]:
    """The lists that `make package` puts beside the wheel, by their extras."""
    found = SHIPPED.search((REPOSITORY / "Makefile").read_text())
    assert found is not None
    return found[1].split()


def pins(name: str) -> list[tuple[str, str, str]]:
    """Name, version and marker of each library in a list."""
    return PIN.findall((REPOSITORY / "requirements" / f"{name}.txt").read_text())


def commands() -> Iterator[tuple[str, str]]:
    """Where people are told to install something, and what."""
    for place in PLACES:
        if place.is_file():
            for line in INSTALL.findall(place.read_text()):
                yield place.relative_to(REPOSITORY).as_posix(), line


def test_every_command_that_installs_something_is_pinned_by_hash() -> None:
    found = list(commands())

    assert len(found) >= 12
    assert [one for one in found if not HASHED.match(one[1]) and not one[1].startswith(WHEEL)] == []


def test_every_list_that_a_command_names_is_shipped() -> None:
    named = {name for _, line in commands() for name in NAMED_LIST.findall(line)}

    assert named <= set(shipped())
    assert all((REPOSITORY / "requirements" / f"{name}.txt").is_file() for name in shipped())


def test_every_library_in_a_shipped_list_has_a_hash() -> None:
    for name in shipped():
        text = (REPOSITORY / "requirements" / f"{name}.txt").read_text().replace("\\\n", "")
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]

        assert lines
        assert [line for line in lines if "==" not in line or "--hash=sha256:" not in line] == []


def test_shipped_lists_agree_so_that_they_fit_into_one_environment() -> None:
    versions: dict[str, set[str]] = {}
    for extra in [*shipped(), "dev"]:
        for name, version, marker in pins(extra):
            versions.setdefault(f"{name} {marker.strip()}", set()).add(version)

    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def recipes() -> list[str]:
    """The blocks of commands with which Printreach is installed by hand."""
    section = (REPOSITORY / "docs" / "installing.md").read_text().partition("## By hand")[2]
    return re.findall(r"```\n(.*?)```", section, re.DOTALL)


@pytest.mark.compiles
@pytest.mark.timeout(900)
def test_the_recipes_by_hand_install_what_they_say(tmp_path: Path) -> None:
    """In new environments, and with nothing but the index that pip knows of here."""
    service, agent = recipes()
    pip = tmp_path / "probe" / "bin" / "pip"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "probe"], check=True)
    asked = [str(pip), "download", "--no-deps", "segno", "-d", str(tmp_path)]
    reached = subprocess.run(asked, capture_output=True, check=False)
    need("a package index", reached.returncode == 0, "a pip that reaches one")
    (tmp_path / "printreach").symlink_to(REPOSITORY)

    run_in(
        tmp_path, tmp_path / "s", f"{service}\nprintreach serve --help\nprintreach detector --help"
    )
    run_in(tmp_path / "printreach", tmp_path / "a", f"{agent}\nprintreach agent run --help")
    # Of the two wheels, pip prefers the one that was compiled for this machine.
    is_compiled = any((REPOSITORY / "dist").glob("printreach-*-cp3*.whl"))
    need("a C compiler with Python's headers", is_compiled, "apt-get install gcc python3-dev")
    version = f"{tmp_path}/s/bin/printreach --version | grep --fixed-strings '(compiled)'"
    run_in(tmp_path, tmp_path / "s", version)


def run_in(folder: Path, environment: Path, recipe: str) -> None:
    """Run a recipe as a person would, with that environment in place of the one it names."""
    script = recipe.replace("~/printreach-venv", str(environment))
    bash = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(bash, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
