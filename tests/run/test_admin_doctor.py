"""`printreach admin doctor`, as operators and scripts use it."""

import json

import pytest

from tests.rigs.waiting import free_port
from tests.run.admin import Admin

CHECKS = [
    "addresses", "dns", "wildcard", "certificate", "service", "printer-hosts", "clock", "database",
    "bus", "storage", "mail", "printers",
]  # fmt: skip


@pytest.fixture
def lonely(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> Admin:
    """Where the service doesn't run."""
    port = free_port()
    monkeypatch.setenv("PRINTREACH_LISTEN", f"127.0.0.1:{port}")
    monkeypatch.setenv("PRINTREACH_BASE_URL", f"http://localhost:{port}")
    monkeypatch.setenv("PRINTREACH_TUNNEL_DOMAIN", f"localhost:{port}")
    return admin


def test_scripts_get_every_check_and_the_status_says_that_one_failed(lonely: Admin) -> None:
    status, out, err = lonely.run("doctor", "--json")
    found = {one["Check"]: one for one in json.loads(out)["Checks"]}

    assert list(found) == CHECKS
    assert (found["service"]["Result"], found["database"]["Result"]) == ("failure", "ok")
    assert found["service"]["Advice"]
    assert status == 1
    assert err == "printreach admin: These checks failed: service, printer-hosts.\n"


def test_people_read_what_is_wrong_and_what_to_do(lonely: Admin) -> None:
    _, out, _ = lonely.run("doctor")
    lines = out.splitlines()

    [number] = [number for number, line in enumerate(lines) if line.startswith("FAILURE  service")]
    assert "Start the service" in lines[number + 1]
    assert any(line.startswith("WARNING  mail") for line in lines)


def test_a_service_that_never_ran_stays_as_it_is(new_admin: Admin, lonely: Admin) -> None:
    before = sorted(new_admin.database.parent.iterdir())
    lonely.run("doctor")

    assert sorted(new_admin.database.parent.iterdir()) == before
