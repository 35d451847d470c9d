"""A lock of remote control while the agent restores a smart pause of OctoPrint."""

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from printreach.contract.status import State
from tests.rigs.calls import call
from tests.rigs.octoprint import LONG_MOVES, OctoPrint, gcode
from tests.rigs.service import OWNER, LinkedPrinter, Service
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.peer]

API = "/service-command-api"
HOT_C = 120
"""The virtual printer needs some nine seconds for it, and a lock much less than one."""


@pytest.fixture
def idle(octoprint: OctoPrint) -> Iterator[OctoPrint]:
    """OctoPrint without a job or files, before and after."""
    octoprint.reset()
    yield octoprint
    octoprint.reset()


@pytest.fixture
def app(relay: Service, octoprint_linked: LinkedPrinter) -> Iterator[Way]:
    """The way of an app to OctoPrint. Afterwards, nothing is locked."""
    yield relay.way(relay.connect(octoprint_linked))
    relay.admin("account", "unlock", OWNER)


def answer_to(way: Way, command: str, **arguments: object) -> dict[str, Any]:
    body = json.dumps(arguments).encode()
    answer = call(way, f"{API}/{command}", method="POST", body=body)
    return cast("dict[str, Any]", answer.json())


def order(way: Way, command: str, **arguments: object) -> None:
    answer = answer_to(way, command, **arguments)
    assert answer["Status"] == 200, answer


def job(way: Way) -> dict[str, Any]:
    told = cast("dict[str, Any]", call(way, f"{API}/status").json())
    return cast("dict[str, Any]", told["Result"]["JobStatus"])


def hotend(way: Way, which: str = "HotendActual") -> float:
    return float(job(way)["CurrentPrint"]["Temps"][which])


def hotend_at_octoprint(octoprint: OctoPrint) -> float:
    """Asked at OctoPrint itself, so that no request reaches the agent."""
    told = json.loads(octoprint.get("/api/printer").body)
    return float(told["temperature"]["tool0"]["actual"])


def until_state(way: Way, state: State) -> None:
    wait_for(state.value, lambda: job(way)["State"] == state, TIMEOUT_S)


def test_nothing_is_moved_or_resumed_after_a_lock_by_the_administration(
    relay: Service, idle: OctoPrint, app: Way
) -> None:
    sliced = b"M104 S%d\n" % HOT_C + gcode(LONG_MOVES)  # it prints while it heats
    call(app, f"{API}/files/upload?path=gcode/hot.gcode", method="PUT", body=sliced)
    order(app, "start", Path="gcode/hot.gcode")
    wait_for("a target", lambda: hotend(app, "HotendTarget") == HOT_C, TIMEOUT_S)
    until_state(app, State.PRINTING)
    order(app, "pause", SmartPause=True, ZLiftMm=5)
    wait_for("no target", lambda: hotend(app, "HotendTarget") == 0, TIMEOUT_S)
    wait_for("a cold hotend", lambda: hotend(app) < HOT_C - 20, TIMEOUT_S)
    order(app, "resume")
    until_state(app, State.RESUMING)

    relay.admin("account", "lock", OWNER)
    wait_for("heat again", lambda: hotend_at_octoprint(idle) >= HOT_C - 1, TIMEOUT_S)
    relay.admin("account", "unlock", OWNER)
    # As soon as the agent knew of the heat, it would have gone on.
    wait_for("heat at the agent", lambda: hotend(app) >= HOT_C - 1, TIMEOUT_S)

    assert job(app)["State"] == State.PAUSED
    assert idle.state() == "Paused"
    wait_for("the end of the lock", lambda: answer_to(app, "resume")["Status"] == 200, TIMEOUT_S)
    wait_for("the print to go on", lambda: idle.state() == "Printing", TIMEOUT_S)
