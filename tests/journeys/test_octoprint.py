"""OctoPrint through an App Connection, as its published clients use it."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.calls import call
from tests.rigs.curl import curl
from tests.rigs.octoprint import LONG_MOVES, USER, OctoPrint, gcode
from tests.rigs.peers import LOOPBACK_NAMES, ROOT, peer_program
from tests.rigs.sockets import websocket
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.peer]


@pytest.fixture
def idle(octoprint: OctoPrint) -> Iterator[OctoPrint]:
    """OctoPrint without a job or files, before and after."""
    yield octoprint
    octoprint.reset()


def test_octorest_runs_its_calls(octoprint_way: Way, idle: OctoPrint) -> None:
    asked = {
        "url": octoprint_way.url,
        "api_key": idle.api_key,
        "headers": dict(octoprint_way.credentials),
        "gcode": gcode(LONG_MOVES).decode(),
    }

    done = subprocess.run(
        [peer_program("octorest", "python"), ROOT / "tests/rigs/octorest_calls.py"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env={**os.environ, **LOOPBACK_NAMES},
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "version": "1.11.8",
        "printer": "Operational",
        "connection": "Operational",
        "uploaded": "octorest.gcode",
        "files": ["octorest.gcode"],
        "job": "octorest.gcode",
        "after_cancel": "Operational",
        "files_after_delete": [],
    }


def test_a_slicers_upload_with_curl_starts_a_print(
    octoprint_way: Way, idle: OctoPrint, tmp_path: Path
) -> None:
    sliced = tmp_path / "from slicer é.gcode"
    sliced.write_bytes(gcode(LONG_MOVES))
    form = ("-F", f"file=@{sliced}", "-F", "print=true")

    answer = curl(octoprint_way, "/api/files/local", *form, headers=(idle.key,))

    assert answer.status == 201, answer.body
    told = answer.json()
    assert isinstance(told, dict)
    assert told["effectivePrint"]
    wait_for("the print to start", lambda: idle.state() == "Printing", TIMEOUT_S)


def test_a_slicers_test_call_names_the_version(octoprint_way: Way, octoprint: OctoPrint) -> None:
    answer = curl(octoprint_way, "/api/version", headers=(octoprint.key,))

    assert answer.status == 200
    assert answer.json() == {"api": "0.1", "server": "1.11.8", "text": "OctoPrint 1.11.8"}


def test_a_large_file_comes_back_as_it_was_uploaded(
    octoprint_way: Way, idle: OctoPrint, tmp_path: Path
) -> None:
    large = b"".join(b"; line %d\n" % number for number in range(500_000))
    path = tmp_path / "large.gcode"
    path.write_bytes(large)

    sent = curl(octoprint_way, "/api/files/local", "-F", f"file=@{path}", headers=(idle.key,))
    back = call(octoprint_way, "/downloads/files/local/large.gcode", headers=[idle.key])

    assert (sent.status, back.status) == (201, 200)
    assert back.body == large


def test_without_its_own_key_octoprint_itself_refuses(octoprint_way: Way) -> None:
    answer = call(octoprint_way, "/api/job")

    assert answer.status == 403
    assert answer.first("X-Service-Error") is None


def test_octoprint_pushes_temperatures_over_its_websocket(
    octoprint_way: Way, octoprint: OctoPrint
) -> None:
    login = call(
        octoprint_way,
        "/api/login",
        method="POST",
        headers=[octoprint.key, ("Content-Type", "application/json")],
        body=b'{"passive": true}',
    )
    session = json.loads(login.body)
    seen: set[str] = set()
    with websocket(octoprint_way, "/sockjs/websocket") as connection:
        connection.send(json.dumps({"auth": f"{session['name']}:{session['session']}"}))
        while "temps" not in seen:
            message = json.loads(connection.recv(timeout=TIMEOUT_S))
            seen.update(message)
            if message.get("current", {}).get("temps"):
                seen.add("temps")

    assert session["name"] == USER
    assert {"connected", "history", "current", "temps"} <= seen
