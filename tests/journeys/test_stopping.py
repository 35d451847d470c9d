"""A stop of the service, with callers connected."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.rigs.calls import call, opened
from tests.rigs.service import OWNER, PASSWORD, Service, printreach, service_on_localhost
from tests.rigs.waiting import TIMEOUT_S, wait_for
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


@pytest.mark.parametrize("roles", [(), ("web",)])
def test_a_node_that_gives_notice_is_not_ready_and_still_serves(
    roles: tuple[str, ...], tmp_path: Path
) -> None:
    words = [word for role in roles for word in ("--role", role)]
    with service_on_localhost(
        tmp_path,
        more_env={"PRINTREACH_STOP_NOTICE": "20"},
        command=lambda *command: printreach(*command, *words),
    ) as service:
        way = service.way_to(service.base_url.partition("//")[2])
        assert call(way, "/readyz").status == 200
        service.program.ask_to_end()

        wait_for("a node that isn't ready", lambda: call(way, "/readyz").status == 503, TIMEOUT_S)
        assert call(way, "/signin").status == 200
        service.program.kill()


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
