"""The service is killed while it hands in a mail of a print: the mail is handed in again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.rigs.programs import Program
from tests.rigs.service import OWNER, PASSWORD, Service, service
from tests.rigs.shifted_clock import shifted
from tests.rigs.simulated import simulated_printer
from tests.rigs.smtp_server import smtp_server
from tests.rigs.waiting import free_port, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.fault, pytest.mark.timeout(400)]

GCODE = "G28\n" + "G1 X10 F6000\nG1 X60\n" * 1000
SUBJECT = "workbench: print started"
LATER_S = 300
"""When its claim on the place has run out, and the time to leave a place in peace, too."""
TIMEOUT_S = 120


@contextmanager
def mailing_service(folder: Path, mail_port: int) -> Iterator[Service]:
    port = free_port()
    env = {
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        "PRINTREACH_SMTP_URL": f"smtp://127.0.0.1:{mail_port}",
    }
    with service(folder, port=port, env=env) as running:
        yield running


def wants_mails(here: Service) -> None:
    """The owner, who is told by mail from the beginning, asks to hear of prints that start."""
    with httpx.Client(base_url=f"http://localhost:{here.port}", timeout=30) as client:
        client.headers.update({"origin": here.base_url, "accept": "text/html"})
        answer = client.post("/signin", data={"email": OWNER, "password": PASSWORD, "next": "/"})
        assert answer.status_code == 303
        chosen = client.post("/notifications/events", data={"event-1": "yes"})
        assert chosen.status_code == 303


@contextmanager
def restarted(here: Service) -> Iterator[None]:
    """After a power cut, and a while later."""
    here.program.kill()
    normal = here.program
    words = shifted(LATER_S, "serve")
    with Program(f"{normal.name}-later", words, logs=normal.logs, env=normal.env):
        yield


def test_a_link_that_no_server_took_before_a_power_cut_comes_when_one_does(
    tmp_path: Path,
) -> None:
    mail_port = free_port()
    with mailing_service(tmp_path, mail_port) as here:
        marks = here.program.log_marks()
        asked = httpx.post(
            f"http://localhost:{here.port}/reset",
            data={"email": OWNER},
            headers={"origin": here.base_url, "accept": "text/html"},
            timeout=TIMEOUT_S,
        )
        assert asked.status_code == 303
        wait_for(
            "a try",
            lambda: "did not accept the e-mail" in here.program.log_since(marks) or None,
            TIMEOUT_S,
        )
        with smtp_server(mail_port) as box, restarted(here):
            wait_for("the mail", lambda: box.subjects == ["Reset your password"], TIMEOUT_S)


def test_a_mail_that_was_on_its_way_at_a_power_cut_comes_again(tmp_path: Path) -> None:
    with (
        smtp_server() as box,
        mailing_service(tmp_path, box.port) as here,
        simulated_printer(tmp_path, "mails") as printer,
        here.printer("workbench", printer.url, platform="simulated") as linked,
    ):
        linked.agent.wait_until_looked()
        wants_mails(here)
        box.may_answer.clear()
        printer.put("part.gcode", GCODE)
        printer.start("part.gcode")
        wait_for("the mail", lambda: box.subjects == [SUBJECT], TIMEOUT_S)
        with restarted(here):
            box.may_answer.set()
            wait_for("the second mail", lambda: box.subjects == [SUBJECT] * 2, TIMEOUT_S)


def test_a_mail_that_no_server_took_before_a_power_cut_comes_when_one_does(tmp_path: Path) -> None:
    mail_port = free_port()
    with (
        mailing_service(tmp_path, mail_port) as here,
        simulated_printer(tmp_path, "mails") as printer,
        here.printer("workbench", printer.url, platform="simulated") as linked,
    ):
        linked.agent.wait_until_looked()
        wants_mails(here)
        marks = here.program.log_marks()
        printer.put("part.gcode", GCODE)
        printer.start("part.gcode")
        wait_for(
            "a try",
            lambda: "did not accept the e-mail" in here.program.log_since(marks) or None,
            TIMEOUT_S,
        )
        with smtp_server(mail_port) as box, restarted(here):
            wait_for("the mail", lambda: box.subjects == [SUBJECT], TIMEOUT_S)
