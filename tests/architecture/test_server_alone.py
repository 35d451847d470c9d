"""The service starts where nothing of the tests or of an extra is installed.

What a library of the tests brings along would hide that the service needs it.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.architecture.alone import Imports, imports_of, installed
from tests.rigs.programs import Program
from tests.rigs.waiting import free_port

ROOMS = [
    *(
        "languages",
        "contract",
        "limiters",
        "wire",
        "rules",
        "http1",
        "tunnel",
        "ports",
        "store",
        "hub",
        "relay",
        "web",
        "backends",
    ),
    *("run.serve", "run.embedded", "run.admin", "run.main"),
]
EXTRAS = frozenset(
    {"asyncpg", "nats", "stripe", "obstore", "onnxruntime", "numpy", "PIL", "opentelemetry"}
)
"""Libraries that an operator asks for by the name of an extra."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the server's requirements and the project."""
    return installed("server-only", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def imports(server: Path, tmp_path_factory: pytest.TempPathFactory) -> Imports:
    packages = [f"printreach.{room}" for room in ROOMS]
    return imports_of(server, packages, tmp_path_factory.mktemp("elsewhere"))


@pytest.mark.slow
def test_every_module_imports_but_for_the_extras(imports: Imports) -> None:
    missing = {
        module: why
        for module, why in imports.missing.items()
        if not any(f"'{extra}" in why for extra in EXTRAS)
    }

    assert missing == {}
    assert "printreach.run.embedded" in imports.imported


def test_the_service_starts_there(server: Path, tmp_path: Path) -> None:
    port = free_port()
    env = {
        "PRINTREACH_DATA_DIR": str(tmp_path / "data"),
        "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
    }
    with Program("service", [server / "printreach", "serve"], logs=tmp_path, env=env) as program:
        program.wait_until("the ready line", lambda: "ready {" in program.stdout())


def test_the_detector_says_what_it_lacks_there(server: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PRINTREACH_DETECTOR_TOKEN": "0123456789abcdef01234567"}
    words = [str(server / "printreach"), "serve", "--role", "detector"]

    told = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert told.returncode == 1
    assert "pip install --require-hashes -r requirements/detector.txt" in told.stderr
