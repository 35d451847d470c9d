"""What `make demo` prints."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from printreach.run.demo import Demo, cannot_start, describe
from printreach.run.settings import settings_from
from tests.rules.portal.test_portal import DONE


def demo(*, watches_prints: bool) -> Demo:
    return Demo(
        base_url="http://localhost:8080",
        password="a password",
        connection=DONE,
        open_url="http://localhost:8080/open",
        lan_port=8765,
        watches_prints=watches_prints,
    )


@pytest.mark.parametrize(
    ("watches_prints", "words"),
    [(False, "Failure detection is switched off"), (True, "Failure detection looks at")],
)
def test_the_demo_says_whether_failure_detection_is_on(words: str, *, watches_prints: bool) -> None:
    assert words in describe(demo(watches_prints=watches_prints))


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
