"""`make fleet`: one command, and a printer is seen through HAProxy and several nodes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from printreach.run.demo import EMAIL, PASSWORD
from tests.rigs.calls import Answer, call, opened
from tests.rigs.peers import ROOT, system_program
from tests.rigs.postgresql import postgresql_programs
from tests.rigs.programs import Program
from tests.rigs.waiting import free_port
from tests.rigs.ways import Way, basic
from tests.rigs.whole_fleet import COUNTS

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(300)]

START_S = 240.0
"""Ten programs and four printers on a machine that does other work."""
COMMAND = [sys.executable, "-m", "tests.rigs.fleet_demo"]


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def printed(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `make fleet` prints once it runs."""
    system_program("haproxy", "haproxy")
    postgresql_programs()
    env = {"PRINTREACH_LISTEN": f"127.0.0.1:{port}"}
    logs = tmp_path_factory.mktemp("fleet")
    with Program("fleet", COMMAND, logs=logs, env=env, cwd=ROOT) as program:
        program.wait_until(
            "invitations", lambda: f"password  {PASSWORD}" in program.stdout(), START_S
        )
        yield program.stdout()


def way_of_an_app(printed: str, port: int) -> Way:
    found = dict(re.findall(r"^  (url|user|password) +(\S+)$", printed, re.MULTILINE))
    secret = re.search(r"^  password +(\S+)$", printed, re.MULTILINE)
    assert secret is not None
    host = found["url"].partition("://")[2]
    return Way(port=port, host=host).proving(basic(found["user"], secret[1]))


def test_the_invitations_end_with_address_account_and_password(printed: str, port: int) -> None:
    last = [line.split()[-1] for line in printed.strip().splitlines()[-3:]]

    assert last == [f"http://localhost:{port}/printers", EMAIL, PASSWORD]


def test_every_node_is_named(printed: str) -> None:
    for role, count in COUNTS.items():
        assert len(re.findall(rf"^{role}-\d +process \d+ ", printed, re.MULTILINE)) == count


def test_every_node_has_metrics_and_is_ready(printed: str) -> None:
    ports = re.findall(r"^[a-z]+-\d +process \d+ +http://127.0.0.1:(\d+)$", printed, re.MULTILINE)
    ways = [Way(port=int(port), host="127.0.0.1") for port in ports]

    assert len(ways) == sum(COUNTS.values())
    assert {call(way, "/readyz").status for way in ways} == {200}
    assert all(b"process_open_fds" in call(way, "/metrics").body for way in ways)


def test_a_webcam_shows_living_pictures_through_haproxy(printed: str, port: int) -> None:
    with opened(way_of_an_app(printed, port), "/webcam/?action=stream") as answer:
        assert answer.status == 200
        begun = b""
        while begun.count(b"\xff\xd8\xff") < 3:
            begun += answer.read(4096)


def test_pages_come_from_a_web_node(printed: str, port: int) -> None:
    assert printed
    page = call(
        Way(port=port, host=f"localhost:{port}"), "/signin", headers=[("Accept", "text/html")]
    )

    assert page.status == 200
    assert b"<form" in page.body


def test_a_new_access_token_is_shown_whichever_web_node_has_made_it(
    printed: str, port: int
) -> None:
    assert printed
    way = Way(port=port, host=f"localhost:{port}")
    form = [
        ("Accept", "text/html"),
        ("Origin", f"http://localhost:{port}"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]

    def post(path: str, cookie: str, **fields: str) -> Answer:
        headers = [*form, ("Cookie", cookie)]
        return call(way, path, method="POST", headers=headers, body=urlencode(fields).encode())

    signed_in = post("/signin", "", email=EMAIL, password=PASSWORD)
    cookie = (signed_in.first("Set-Cookie") or "").partition(";")[0]
    for name in ("one", "two", "three", "four"):
        made = post(
            "/account/tokens",
            cookie,
            **{"name": name, "password": PASSWORD, "scope-events:read": "yes"},
        )
        page = call(way, made.first("Location") or "", headers=[*form, ("Cookie", cookie)])
        assert re.search(rb"prt_[a-z2-7]+", page.body), name


def test_what_the_machine_lacks_is_named() -> None:
    """Without its folders on the way to programs, HAProxy can't be found."""
    script = (
        "import tests.rigs.fleet_demo as demo, tests.rigs.peers as peers;"
        "peers.shutil.which = lambda *_, **__: None;"
        "raise SystemExit(demo.main())"
    )
    env = {**os.environ, "PRINTREACH_LISTEN": f"127.0.0.1:{free_port()}"}
    env.pop("PRINTREACH_TEST_REQUIRE_ALL", None)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "haproxy is missing: apt-get install haproxy" in done.stderr
