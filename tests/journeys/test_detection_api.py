"""The page about the failure-detection API, its commands run to the letter; and what it costs."""

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from printreach.contract.detection_api import DetectionError
from tests.detector.images import scene, written
from tests.rigs.calls import call, raw_request, read_head
from tests.rigs.peers import ROOT, system_program
from tests.rigs.service import PASSWORD, Service
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Header, Way

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "detection-api.md"
CREATE = "/api/detector/v1/createcontext"
FORM = ("Content-Type", "multipart/form-data; boundary=edge")
HEAD = b'--edge\r\nContent-Disposition: form-data; name="a"; filename="b.jpg"\r\n\r\n'
FARM = "farm@example.com"
TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def farm(relay: Service) -> str:
    """An account of nobody else's."""
    relay.admin("account", "add", FARM, stdin=PASSWORD + "\n")
    return FARM


@pytest.fixture(scope="module")
def key(relay: Service, farm: str) -> str:
    return relay.admin("detector-key", "add", farm, "--name", "Farm")["ApiKey"]


@pytest.fixture
def way(relay: Service) -> Way:
    return relay.way_to(f"localhost:{relay.port}")


def test_the_commands_of_the_page_work_as_they_stand_and_are_counted(
    relay: Service, farm: str, key: str, tmp_path: Path
) -> None:
    system_program("curl", "curl")
    names, commands = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert re.findall(r"(\w+)=\S*…", names) == ["key"]
    scene().save(tmp_path / "snapshot.jpg")

    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "service": relay.base_url, "key": key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    [example] = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    result = json.loads(done.stdout)
    assert list(result) == list(json.loads(example))
    assert result["NextProcessIntervalSec"]["Minimum"] == 5
    assert not result["WarningSuggested"]
    wait_for("the call is counted", lambda: _calls(relay, farm) == 1, TIMEOUT_S)


def test_the_program_of_the_page_watches_and_comes_later_where_it_was_too_soon(
    relay: Service, key: str
) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    page: dict[str, Any] = {}
    exec(program.replace("https://printreach.example", relay.base_url), page)
    page["session"].headers["X-API-Key"] = key
    page["session"].trust_env = False  # a proxy of this machine has no way to loopback
    slept: list[float] = []
    page["time"] = SimpleNamespace(sleep=slept.append)

    # Several: one that comes while the machine stands still for long is not too soon.
    told = list(page["watch"]([written(scene())] * 5))

    assert {one["PauseSuggested"] for one in told} == {False}
    assert slept[0] == told[0]["NextProcessIntervalSec"]["Recommended"]
    later = [seconds for seconds in slept if seconds <= 5]
    assert len(later) == 5 - len(told)
    assert min(later) >= 1


def test_an_upload_that_never_ends_holds_nobody_else_up(way: Way, key: str) -> None:
    with raw_request(
        way, "POST", _context(way, key), *_headers(key), ("Content-Length", "100000")
    ) as dripping:
        dripping.sendall(HEAD + b"\xff\xd8")
        picture = HEAD + written(scene()) + b"\r\n--edge--\r\n"
        path = _context(way, key)

        assert call(way, path, method="POST", headers=_headers(key), body=picture).status == 200


def test_a_refusal_before_the_image_is_answered_at_once(way: Way) -> None:
    path = "/api/detector/v1/process/none"
    with raw_request(way, "POST", path, FORM, ("Content-Length", "6000000")) as sending:
        sending.sendall(HEAD)

        status, _ = read_head(sending)
        assert status == 401


def test_a_picture_that_never_fits_is_refused_while_it_is_sent(way: Way, key: str) -> None:
    endless = [HEAD, *[b"x" * 65_536] * 97]
    path = _context(way, key)
    answer = call(way, path, method="POST", headers=_headers(key), body=endless)

    told = answer.json()
    assert isinstance(told, dict)
    assert (answer.status, told["ErrorType"]) == (413, DetectionError.IMAGE_TOO_LARGE)


def _headers(key: str) -> list[Header]:
    return [("X-API-Key", key), FORM]


def _context(way: Way, key: str) -> str:
    """The path of a context just made."""
    made = call(way, CREATE, method="POST", headers=[("X-API-Key", key)], body=b"{}").json()
    assert isinstance(made, dict)
    return urlsplit(str(made["ProcessRequestUrl"])).path


def _calls(relay: Service, account: str) -> int:
    """Those of this month, as they are written down."""
    return int(relay.admin("detector-usage", account)["Calls"])
