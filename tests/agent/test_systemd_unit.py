"""The unit file: systemd understands every line of it, and it grants little."""

import argparse
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from printreach.agent.config import read_config
from printreach.run.agent import add_arguments
from tests.requirements_of_tests import need

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "printreach-agent.service"
PROGRAM = "/opt/printreach/bin/printreach"
# Tenths of systemd's scale from 0, nothing, to 10, everything; a service without any line has 96.
MAX_EXPOSED = 20


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The unit with a program that is there."""
    need("systemd-analyze", shutil.which("systemd-analyze") is not None, "apt-get install systemd")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(PROGRAM, "/bin/true"))
    return unit


def analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )


def exec_start(**variables: str) -> list[str]:
    """The words of the command line, its variables replaced as systemd does."""
    line = re.search(r"^ExecStart=(.*)$", UNIT.read_text(), re.MULTILINE)
    assert line is not None
    words: list[str] = []
    for word in shlex.split(line[1].replace("%S", "/var/lib")):
        if word.startswith("$") and not word.startswith("${"):
            words += variables.get(word[1:], "").split()
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda name: variables[name[1]], word))
    return words


def test_systemd_understands_every_line(installed: Path) -> None:
    checked = analyze("verify", "--man=no", installed)

    assert checked.stderr == ""
    assert checked.returncode == 0


def test_the_agent_is_exposed_to_little(installed: Path) -> None:
    rated = analyze("security", "--offline=yes", f"--threshold={MAX_EXPOSED}", installed)

    assert rated.returncode == 0, rated.stdout[-200:]


def test_the_command_line_is_one_the_agent_takes() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)

    program, agent, *words = exec_start(
        AGENT_SERVICE="https://printreach.example",
        AGENT_PLATFORM="octoprint",
        AGENT_OPTIONS="--lan-listen 127.0.0.1:0",
    )
    config = read_config(parser.parse_args(words), {})

    assert (program, agent) == (PROGRAM, "agent")
    assert config.data_dir == Path("/var/lib/printreach-agent")
    assert str(config.lan_listen) == "127.0.0.1:0"


def test_a_printer_key_that_is_not_there_is_no_key(tmp_path: Path) -> None:
    stand_in = re.search(r"^SetCredential=printer-api-key:(.*)$", UNIT.read_text(), re.MULTILINE)
    assert stand_in is not None
    credential = tmp_path / "printer-api-key"
    credential.write_text(stand_in[1].encode().decode("unicode_escape"))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = exec_start(AGENT_SERVICE="https://printreach.example", AGENT_PLATFORM="octoprint")

    environment = {"PRINTREACH_PRINTER_API_KEY_FILE": str(credential)}
    config = read_config(parser.parse_args(words[2:]), environment)

    assert config.credentials.api_key is None
