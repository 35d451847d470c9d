"""The page for app developers, its commands run to the letter against a printer."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.printers.sliced import thumbnail
from tests.rigs.peers import ROOT, system_program
from tests.rigs.service import APP, LinkedPrinter, Service

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "for-app-developers.md"
VASE = thumbnail(64) + "\nM104 S60\nG28\nM109 S200\n" + "G1 X10 E1 F600\nG1 X0 E1\n" * 50
"""It heats for a while, so that there is something to cancel."""


@pytest.fixture(scope="module")
def simulated(relay: Service) -> Iterator[LinkedPrinter]:
    with relay.printer("for-developers", "", platform="simulated") as linked:
        yield linked


def shell_blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_page_work_as_they_stand(
    relay: Service, simulated: LinkedPrinter, tmp_path: Path
) -> None:
    system_program("curl", "curl")
    told = relay.admin("connection", "add", "--app", APP, "--printer", simulated.id)
    names, commands = shell_blocks()
    given = {
        "service": relay.base_url,
        "url": told["url"],
        "user": told["authBasicHttpUser"],
        "password": told["authBasicHttpPassword"],
        "token": told["authBearerToken"],
        "app_token": told["appApiToken"],
    }
    assert set(re.findall(r"(\w+)=\S*…", names)) == set(given) - {"service"}
    (tmp_path / "vase.gcode").write_text(VASE)

    # An empty line after each answer tells them apart.
    script = re.sub(r"^(curl .*)$", r"\1; echo", commands, flags=re.MULTILINE)
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", **given},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    status, temperatures, upload, listed, start, cancel, cameras, info = answers
    assert {one["Status"] for one in answers} == {200}, done.stdout
    assert {"JobStatus", "Features"} <= status["Result"].keys()
    assert "HotendActual" in temperatures["Result"]
    assert upload["Result"]["VirtualPath"] == start["Result"]["VirtualPath"] == "gcode/vase.gcode"
    assert "vase.gcode" in json.dumps(listed["Result"]["Root"])
    assert cancel["Result"] is not None
    assert cameras["Result"]["Webcams"]
    assert info["Result"]["IsOnline"] is True
    assert b"<html" in (tmp_path / "page.html").read_bytes().lower()
    assert (tmp_path / "vase.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "picture.jpg").read_bytes().startswith(b"\xff\xd8")
