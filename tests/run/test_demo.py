"""What `make demo` prints."""

import errno
import os
import socket
import subprocess
import sys
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import httpx
import pytest

from printreach.rules.printers import LAN_PORT
from printreach.run.demo import (
    EMAIL,
    PASSWORD,
    Demo,
    cannot_start,
    describe,
    free_lan_port,
    is_local,
)
from printreach.run.settings import settings_from
from tests.rigs.waiting import free_port
from tests.rules.portal.test_portal import DONE


def demo(*, watches_prints: bool, lan_port: int = LAN_PORT) -> Demo:
    return Demo(
        base_url="http://localhost:8080",
        password="a password",
        connection=DONE,
        open_url="http://localhost:8080/open",
        lan_port=lan_port,
        watches_prints=watches_prints,
    )


@pytest.mark.parametrize(
    ("watches_prints", "words"),
    [(False, "Failure detection is switched off"), (True, "Failure detection watches")],
)
def test_the_demo_says_whether_failure_detection_is_on(words: str, *, watches_prints: bool) -> None:
    assert words in describe(demo(watches_prints=watches_prints))


def test_the_address_and_the_password_come_last() -> None:
    last = describe(demo(watches_prints=True)).strip().splitlines()[-3:]

    assert [line.split()[-1] for line in last] == [
        "http://localhost:8080/printers",
        "demo@example.com",
        "password",
    ]


def test_a_second_demo_tells_the_address_of_its_own_agents_page() -> None:
    with socket.socket() as first:
        with suppress(OSError):  # another demo runs on this machine
            first.bind(("127.0.0.1", LAN_PORT))
            first.listen()
        port = free_lan_port()

    assert port != LAN_PORT
    assert f"http://127.0.0.1:{port}\n" in describe(demo(watches_prints=True, lan_port=port))


@pytest.mark.parametrize(
    ("listen", "base_url", "expected"),
    [
        ("127.0.0.1:8080", "http://localhost:8080", True),
        ("0.0.0.0:8080", "http://localhost:8080", False),
        ("127.0.0.1:8080", "https://printers.example.com", False),
        ("127.0.0.1:8080", "http://192.168.1.20:8080", False),
    ],
)
def test_the_known_password_is_only_for_a_demo_that_others_do_not_reach(
    listen: str, base_url: str, tmp_path: Path, *, expected: bool
) -> None:
    given = {
        "PRINTREACH_DATA_DIR": str(tmp_path),
        "PRINTREACH_LISTEN": listen,
        "PRINTREACH_BASE_URL": base_url,
    }
    assert is_local(settings_from(given)) is expected


@pytest.mark.slow
def test_the_demo_starts_with_four_printers_in_different_states(tmp_path: Path) -> None:
    port = free_port()
    base_url = f"http://localhost:{port}"
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
        "PRINTREACH_BASE_URL": base_url,
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        "PRINTREACH_DETECTOR_WATCH": "false",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "printreach.run.demo"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            said = iter(running.stdout)
            lines = list(takewhile(lambda line: PASSWORD not in line, said))
            with httpx.Client(
                base_url=f"http://localhost:{port}", follow_redirects=True, timeout=60
            ) as browser:
                origin = {"Origin": f"http://localhost:{port}"}
                form = {"email": EMAIL, "password": PASSWORD}
                page = browser.post("/signin", data=form, headers=origin)
        finally:
            running.terminate()
            running.communicate(timeout=30)

    assert any("The dashboard of 4 printers" in line for line in lines)
    for words in ("Workbench", "Printing", "Garage", "Complete", "Attic", "Offline", "Top shelf"):
        assert words in page.text
    assert list(tmp_path.iterdir()) == [], "the demo removes what it made"


def test_a_taken_port_is_named_with_the_settings_that_choose_another(tmp_path: Path) -> None:
    given = {"PRINTREACH_DATA_DIR": str(tmp_path), "PRINTREACH_LISTEN": "127.0.0.1:21080"}
    said = cannot_start(OSError(errno.EADDRINUSE, "address already in use"), settings_from(given))

    assert "The demo's port is 21080." in said
    assert "PRINTREACH_LISTEN=127.0.0.1:21090" in said
    assert "8080" not in said.replace("21080", "")


def test_another_fault_says_nothing_of_ports(tmp_path: Path) -> None:
    given = {"PRINTREACH_DATA_DIR": str(tmp_path)}
    said = cannot_start(OSError(errno.ENOSPC, "No space left on device"), settings_from(given))

    assert said == "The demo can't start: No space left on device."


@pytest.mark.slow
def test_the_mails_of_the_demo_are_on_its_console() -> None:
    lines = (
        "import asyncio, logging",
        "from printreach.backends.mail_log import LogMailer",
        "from printreach.rules.accounts.mails import Mail",
        "from printreach.run.demo import show_log",
        "show_log()",
        "logging.getLogger('printreach.other').info('a calm line')",
        "mail = Mail(to='ada@example.org', subject='Sign up', text='http://localhost/confirm?t=1')",
        "asyncio.run(LogMailer().hand_in(mail))",
    )
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], check=True, capture_output=True, text=True
    )

    assert "mail for ada@example.org" in ran.stderr
    assert "http://localhost/confirm?t=1" in ran.stderr
    assert "a calm line" not in ran.stderr
