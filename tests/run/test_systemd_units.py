"""The service's unit files: systemd understands every line of them, and they grant little."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from printreach.run.settings import settings_from
from tests.requirements_of_tests import need

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
PROGRAM = "/opt/printreach/bin/printreach"
# Tenths of systemd's scale from 0, nothing, to 10, everything; a service without any line has 96.
MAX_EXPOSED = 20


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with both units, and a program that is there."""
    need("systemd-analyze", shutil.which("systemd-analyze") is not None, "apt-get install systemd")
    for name in ("printreach.service", "printreach.socket"):
        (tmp_path / name).write_text((UNITS / name).read_text().replace(PROGRAM, "/bin/true"))
    return tmp_path


def analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.slow
def test_systemd_understands_every_line(installed: Path) -> None:
    units = installed / "printreach.service", installed / "printreach.socket"
    checked = analyze("verify", "--man=no", *units)

    assert checked.stderr == ""
    assert checked.returncode == 0


@pytest.mark.slow
def test_the_service_is_exposed_to_little(installed: Path) -> None:
    threshold = f"--threshold={MAX_EXPOSED}"
    rated = analyze("security", "--offline=yes", threshold, installed / "printreach.service")

    assert rated.returncode == 0, rated.stdout[-200:]


def test_the_socket_is_where_the_service_is_at_home() -> None:
    unit = (UNITS / "printreach.socket").read_text()
    settings = settings_from({})

    assert re.findall(r"^ListenStream=(.*)$", unit, re.MULTILINE) == [
        f"{settings.listen_host}:{settings.listen_port}"
    ]
