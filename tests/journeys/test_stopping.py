"""A stop of the service, with callers connected."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.rigs.calls import call, opened
from tests.rigs.service import OWNER, PASSWORD, Service, service_on_localhost
from tests.rigs.ways import Header

pytestmark = pytest.mark.slow


def sign_in(service: Service) -> Header:
    """The cookie of a session."""
    form = urlencode({"email": OWNER, "password": PASSWORD}).encode()
    headers = [
        ("Origin", service.base_url),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]
    way = service.way_to(service.base_url.partition("//")[2])
    answer = call(way, "/signin", method="POST", headers=headers, body=form)
    assert answer.status == 303, answer
    return "Cookie", (answer.first("Set-Cookie") or "").partition(";")[0]


def test_an_open_page_hears_a_proper_end_and_holds_nothing_up(tmp_path: Path) -> None:
    with service_on_localhost(tmp_path) as service:
        way = service.way_to(service.base_url.partition("//")[2])
        with opened(way, "/printers/events", headers=[sign_in(service)]) as events:
            assert events.status == 200
            service.program.ask_to_end()

            events.read()  # raises where the end is missing


def test_a_printer_whose_agent_is_not_back_yet_waits_for_a_service_that_has_restarted(
    tmp_path: Path,
) -> None:
    with service_on_localhost(tmp_path) as service:
        with service.printer("bench", "", platform="simulated") as printer:
            service.program.stop()
        service.start_successor()

        way = service.way_to(service.base_url.partition("//")[2])
        page = call(way, f"/printers/{printer.id}", headers=[sign_in(service)]).body.decode()
        assert "The service has just restarted." in page
        assert "switched on" not in page
