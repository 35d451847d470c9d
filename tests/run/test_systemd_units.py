"""The service's unit files: systemd understands every line of them, and they grant little."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from printreach.run.settings import settings_from
from tests.requirements_of_tests import need
from tests.run.admin import Admin

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = DEPLOY / "systemd"
PROGRAM = "/opt/printreach/bin/printreach"
# Tenths of systemd's scale from 0, nothing, to 10, everything; a service without any line has 96.
MAX_EXPOSED = 20
UNITS_OF_SERVICE = (
    "printreach.service",
    "printreach.socket",
    "printreach-backup.service",
    "printreach-backup.timer",
)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with all units, and a program that is there."""
    need("systemd-analyze", shutil.which("systemd-analyze") is not None, "apt-get install systemd")
    for name in UNITS_OF_SERVICE:
        (tmp_path / name).write_text((UNITS / name).read_text().replace(PROGRAM, "/bin/true"))
    return tmp_path


def analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.slow
def test_systemd_understands_every_line(installed: Path) -> None:
    checked = analyze("verify", "--man=no", *(installed / name for name in UNITS_OF_SERVICE))

    assert checked.stderr == ""
    assert checked.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["printreach.service", "printreach-backup.service"])
def test_the_services_are_exposed_to_little(installed: Path, name: str) -> None:
    threshold = f"--threshold={MAX_EXPOSED}"
    rated = analyze("security", "--offline=yes", threshold, installed / name)

    assert rated.returncode == 0, rated.stdout[-200:]


@pytest.mark.parametrize("file", ["systemd/printreach.service", "container/Dockerfile"])
def test_an_installed_service_keeps_no_columns_for_tracebacks(file: str) -> None:
    text = (DEPLOY / file).read_text()

    assert re.search(r"^(Environment=|ENV )PYTHONNODEBUGRANGES=1$", text, re.MULTILINE)


def test_the_socket_is_where_the_service_is_at_home() -> None:
    unit = (UNITS / "printreach.socket").read_text()
    settings = settings_from({})

    assert re.findall(r"^ListenStream=(.*)$", unit, re.MULTILINE) == [
        f"{settings.listen_host}:{settings.listen_port}"
    ]


def test_the_backup_is_made_by_a_command_that_there_is(admin: Admin, tmp_path: Path) -> None:
    unit = (UNITS / "printreach-backup.service").read_text()
    [command] = re.findall(rf"^ExecStart={PROGRAM} admin (.*)$", unit, re.MULTILINE)
    (tmp_path / "printreach-backups").mkdir()

    made = admin.json(*command.replace("%S", str(tmp_path)).split())
    assert Path(made["File"]).parent == tmp_path / "printreach-backups"


def test_the_installer_puts_every_unit_in_place() -> None:
    script = (UNITS.parents[1] / "install.sh").read_text()
    [named] = re.findall(r"for unit in ([^;]+);", script)

    assert named.split() == list(UNITS_OF_SERVICE)
