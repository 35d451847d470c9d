"""`printreach serve --with-agent`: one process, whose agent reveals nothing of the service."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.rigs.calls import call
from tests.rigs.service import (
    OWNER,
    Agent,
    LinkedPrinter,
    Service,
    printreach,
    service_on_localhost,
)
from tests.rigs.straight import DIRECT, goes_straight
from tests.rigs.waiting import free_port
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lan_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, lan_port: int) -> Iterator[Service]:
    """The service and its agent in one process, with a simulated printer."""
    if goes_straight():
        pytest.skip(f"there is no service, and {DIRECT}=1 leaves it out")
    options = ("--with-agent", "--platform", "simulated", "--lan-listen", f"127.0.0.1:{lan_port}")
    with service_on_localhost(
        tmp_path_factory.mktemp("house"), command=lambda *words: printreach(*words, *options)
    ) as running:
        yield running


@pytest.fixture(scope="module")
def linked(house: Service) -> LinkedPrinter:
    """The simulated printer, on the owner's account."""
    agent = Agent(house.program, Path(house.env["PRINTREACH_DATA_DIR"]) / "agent")
    code = agent.event("link-code")["LinkCode"]
    printer_id = house.admin("printer", "link", code, "--account", OWNER, "--name", "Pi")
    agent.event("connected")
    return LinkedPrinter(printer_id["PrinterId"], agent)


def test_the_local_network_is_told_the_public_address_of_the_service(
    house: Service, linked: LinkedPrinter, lan_port: int
) -> None:
    lan = Way(port=lan_port, host=f"127.0.0.1:{lan_port}")

    told = call(lan, "/api/plugin/service").json()

    assert isinstance(told, dict)
    assert told["PrinterId"] == linked.id
    assert told["ServiceUrl"] == house.base_url


def test_the_agents_log_holds_no_line_of_the_service(house: Service, linked: LinkedPrinter) -> None:
    own_host = house.way_to(house.base_url.removeprefix("http://"))
    form = [("Origin", house.base_url), ("Content-Type", "application/x-www-form-urlencoded")]
    body = urlencode({"email": OWNER}).encode()
    assert call(own_host, "/reset", method="POST", headers=form, body=body).status == 303
    house.program.wait_until(
        "the link of the reset in the service's log",
        lambda: "/reset/new?token=" in house.program.log_tail(200),
    )

    log = call(house.way(house.connect(linked)), "/service-command-api/logs/agent")

    lines = log.body.decode().splitlines()
    assert lines
    assert "token=" not in log.body.decode()
    assert OWNER not in log.body.decode()
    names = {line.split(" ")[2] for line in lines}
    assert all(name.startswith(("printreach.agent", "printreach.printers")) for name in names)


def test_what_the_agent_says_for_scripts_is_on_the_services_standard_output(
    house: Service, linked: LinkedPrinter
) -> None:
    events = [json.loads(line) for line in house.program.stdout().splitlines() if line[:1] == "{"]

    assert {"event": "linked", "PrinterId": linked.id} in events
