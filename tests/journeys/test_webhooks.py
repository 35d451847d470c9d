"""Events of a print reach an app's own HTTPS server, signed and in order."""

import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.certificates import Authority
from tests.rigs.https_receiver import HttpsReceiver, https_receiver
from tests.rigs.service import Service
from tests.rigs.simulated import FAST, SimulatedPrinter, simulated_printer
from tests.rigs.standard_webhooks import verify
from tests.rigs.waiting import wait_for
from tests.rigs.webhook_service import CallingApp, webhook_service

pytestmark = [pytest.mark.slow]

GCODE = "G28\n" + "G1 X10 F6000\nG1 X16\n" * 400
STARTED, COMPLETE, TEST = 1, 2, 16
TIMEOUT_S = 120


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def receiver(authority: Authority) -> Iterator[HttpsReceiver]:
    with https_receiver(authority.issue("localhost")) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Service]:
    with webhook_service(tmp_path_factory.mktemp("webhooks"), authority) as running:
        yield running


@pytest.fixture(scope="module")
def printer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedPrinter]:
    with simulated_printer(tmp_path_factory.mktemp("printer"), "webhooks") as running:
        running.put("part.gcode", GCODE)
        yield running


@pytest.fixture(scope="module")
def app(here: Service, printer: SimulatedPrinter) -> Iterator[CallingApp]:
    with here.printer("workbench", printer.url, platform="simulated") as linked:
        linked.agent.wait_until_looked()
        calling = CallingApp(here, linked)
        yield calling
        calling.close()


def test_a_test_call_reaches_the_app_over_tls(app: CallingApp, receiver: HttpsReceiver) -> None:
    assert app.set_webhook(receiver.url).status_code == 200
    answer = app.test_webhook().json()

    assert answer["Status"] == 200
    assert answer["Result"]["HttpStatus"] == 200
    [told] = receiver.of_type(TEST)
    assert told.path == "/in?printer=a%20b"
    assert told.event["PrinterName"] == "workbench"


def test_a_print_is_told_once_signed_and_in_its_order(
    app: CallingApp, receiver: HttpsReceiver, printer: SimulatedPrinter
) -> None:
    assert app.set_webhook(receiver.url, STARTED, COMPLETE).status_code == 200
    receiver.calls.clear()
    printer.run_at(1)  # until it was seen: an agent that stands still would miss a short print
    printer.start("part.gcode")
    wait_for("the start of the print", lambda: receiver.of_type(STARTED) or None, TIMEOUT_S)
    printer.run_at(FAST)
    wait_for("the end of the print", lambda: receiver.of_type(COMPLETE) or None, TIMEOUT_S)

    assert [one.event["EventType"] for one in receiver.calls] == [STARTED, COMPLETE]
    [key] = [base64.b64decode(one["PublicKey"]) for one in app.public_keys()]
    for told in receiver.calls:
        assert verify(told.headers, told.body, key, at=time.time())
        assert told.event["FileName"] == "part.gcode"
    started, complete = (one.event for one in receiver.calls)
    assert started["PrintId"] == complete["PrintId"]
    assert started["EventId"] != complete["EventId"]


def test_a_receiver_that_nobody_vouches_for_is_told_as_such(
    app: CallingApp, tmp_path: Path
) -> None:
    with https_receiver(Authority(tmp_path).issue("localhost")) as impostor:
        assert app.set_webhook(impostor.url).status_code == 200
        result = app.test_webhook().json()["Result"]

        assert result["HttpStatus"] is None
        assert "TLS failed" in result["Error"]
        assert impostor.calls == []
