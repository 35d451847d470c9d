"""The service is killed while an app is being told of an event: the app is told again."""

from pathlib import Path

import pytest

from tests.rigs.certificates import Authority
from tests.rigs.https_receiver import https_receiver
from tests.rigs.simulated import simulated_printer
from tests.rigs.waiting import wait_for
from tests.rigs.webhook_service import CallingApp, webhook_service

pytestmark = [pytest.mark.slow, pytest.mark.fault]

GCODE = "G28\n" + "G1 X10 F6000\nG1 X60\n" * 1000
STARTED = 1
TIMEOUT_S = 120


def test_an_event_that_was_on_its_way_arrives_after_a_power_cut(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with (
        https_receiver(authority.issue("localhost")) as receiver,
        webhook_service(tmp_path, authority) as here,
        simulated_printer(tmp_path, "webhooks") as printer,
        here.printer("workbench", printer.url, platform="simulated") as linked,
    ):
        linked.agent.wait_until_looked()
        app = CallingApp(here, linked)
        assert app.set_webhook(receiver.url, STARTED).status_code == 200
        receiver.may_answer.clear()
        printer.put("part.gcode", GCODE)
        printer.start("part.gcode")
        wait_for("the first call", lambda: receiver.calls or None, TIMEOUT_S)
        here.program.kill()
        receiver.may_answer.set()
        here.program.start()
        here.wait_ready()
        wait_for("the second call", lambda: receiver.calls[1:] or None, TIMEOUT_S)

        first, second = receiver.calls
        assert first.body == second.body
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        app.close()
