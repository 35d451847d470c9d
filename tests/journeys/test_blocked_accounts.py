"""An operator blocks an account while its printer is in use, and lets its owner in again."""

import pytest

from tests.rigs.calls import call
from tests.rigs.portal import NOWHERE
from tests.rigs.service import PASSWORD, Connection, LinkedPrinter, Service
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

EVE = "blocked@example.com"
STATUS = "/service-command-api/status"
TIMEOUT_S = 30


def statuses(ways: list[Way]) -> list[int]:
    return [call(way, STATUS).status for way in ways]


def test_nothing_passes_while_it_is_blocked_and_all_of_it_after(relay: Service) -> None:
    relay.admin("account", "add", EVE, "--supporter", stdin=PASSWORD + "\n")
    with relay.agent("of-eve", NOWHERE, platform="simulated") as agent:
        code = agent.event("link-code")["LinkCode"]
        linked = relay.admin("printer", "link", code, "--account", EVE, "--name", "Eve's")
        agent.event("connected")
        printer = LinkedPrinter(linked["PrinterId"], agent)
        words = ("connection", "add", "--app", "journeys", "--printer", printer.id)
        ways = [relay.way(Connection.of(relay.admin(*words))), relay.open_own_host(printer)]
        assert statuses(ways) == [200, 200]

        relay.admin("account", "block", EVE, "on")
        wait_for("both are closed", lambda: statuses(ways) == [604, 604], TIMEOUT_S)
        assert agent.events("disconnected") == [], "the agent stays where it is"

        relay.admin("account", "block", EVE, "off")
        wait_for("both are open", lambda: statuses(ways) == [200, 200], TIMEOUT_S)
