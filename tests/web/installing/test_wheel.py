"""The agent's wheel that a service packs of itself."""

import ast
import base64
import csv
import hashlib
import io
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest

from printreach import __version__
from printreach.web.installing import WHEEL_NAME, pack_agent, shipped_file
from shipping.build_hook import HANDED_OUT

REPOSITORY = Path(__file__).parents[3]
INFO = f"printreach-{__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(pack_agent()))


def test_every_packing_makes_the_same_bytes() -> None:
    assert pack_agent() == pack_agent()


def test_the_record_has_the_digest_and_size_of_every_file(wheel: zipfile.ZipFile) -> None:
    rows = {row[0]: row[1:] for row in csv.reader(wheel.read(f"{INFO}/RECORD").decode().split())}

    assert set(rows) == set(wheel.namelist())
    assert rows.pop(f"{INFO}/RECORD") == ["", ""]
    for name, (digest, size) in rows.items():
        content = wheel.read(name)
        expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        assert (digest, int(size)) == (f"sha256={expected.decode()}", len(content))


def test_what_the_agent_needs_is_needed_without_an_extra(wheel: zipfile.ZipFile) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    metadata = message_from_bytes(wheel.read(f"{INFO}/METADATA"))

    assert (metadata["Name"], metadata["Version"]) == ("printreach", __version__)
    assert metadata["Requires-Python"] == project["requires-python"]
    needed = metadata.get_all("Requires-Dist") or []
    extras = project["optional-dependencies"]
    assert [one for one in needed if "extra" not in one] == extras["agent"]
    assert [one.partition(";")[0] for one in needed if "extra" in one] == extras["demo"]


def test_octoprint_finds_its_plugin_by_the_entry_points(wheel: zipfile.ZipFile) -> None:
    entry_points = wheel.read(f"{INFO}/entry_points.txt").decode()

    assert "[console_scripts]\nprintreach = printreach.run.main:main\n" in entry_points
    assert "[octoprint.plugin]\nservice = printreach.run.octoprint_plugin\n" in entry_points


def test_nothing_of_the_server_is_in_it(wheel: zipfile.ZipFile) -> None:
    folders = {name.split("/")[1] for name in wheel.namelist() if name.startswith("printreach/")}

    assert folders.isdisjoint({"backends", "detector", "hub", "ports", "relay", "store", "web"})
    assert not [name for name in wheel.namelist() if name.endswith((".pyc", ".so"))]
    assert wheel.read(f"{INFO}/licenses/LICENSE") == (REPOSITORY / "LICENSE").read_bytes()


def test_what_its_modules_import_at_once_is_in_it(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    missing = {
        f"{name}: {module}"
        for name in names
        if name.endswith(".py")
        for module in _imported_at_once(wheel.read(name).decode())
        if not {f"{module}.py", f"{module}/__init__.py"} & names
    }

    assert missing == set()


def _imported_at_once(source: str) -> Iterator[str]:
    """The modules of ours that a module's own lines import, as paths without an ending."""
    for line in ast.parse(source).body:
        module = line.module if isinstance(line, ast.ImportFrom) and not line.level else None
        if module and module.partition(".")[0] == "printreach":
            yield module.replace(".", "/")


def test_commands_of_the_server_say_that_they_are_not_there(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path)
    words = (sys.executable, "-P", "-m", "printreach.run.main", "serve")
    env = {"PYTHONPATH": str(tmp_path)}

    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == "printreach serve is not part of the agent's installation.\n"


@pytest.mark.slow
def test_pip_takes_it(tmp_path: Path) -> None:
    path = tmp_path / WHEEL_NAME
    path.write_bytes(pack_agent())
    words = ("-m", "venv", tmp_path / "venv")
    subprocess.run([sys.executable, *words], check=True)
    pip = (tmp_path / "venv/bin/python", "-m", "pip", "install", "--no-deps", "--no-index", path)

    subprocess.run(pip, check=True, capture_output=True)
    program = tmp_path / "venv" / "bin" / "printreach"
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)

    assert told.stdout.startswith(f"printreach {__version__} ")


def test_what_it_takes_from_the_repository_is_in_the_services_own_wheel() -> None:
    """The build hook puts these files where an installed service looks for them."""
    assert [name for name in HANDED_OUT if not shipped_file(name)] == []
    taken = {"LICENSE", "pyproject.toml", "requirements/agent.txt", "requirements/demo.txt"}
    assert set(HANDED_OUT) == taken
