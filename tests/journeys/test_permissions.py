"""The permissions of a connection, with a real service, agent and the simulated printer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from printreach.contract.permissions import Permission
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.rigs.calls import call
from tests.rigs.service import APP, OWNER, Connection, LinkedPrinter, Service
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Way

pytestmark = pytest.mark.slow

API = "/service-command-api"
LONG = b";LAYER_COUNT:2\n;LAYER:0\n" + b"G1 X60 F600\nG1 X50 F600\n" * 300
UNDER_WAY = {"warmingup", "printing", "paused", "resuming"}
TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Command:
    """One call of the command API, or a path of the printer's own server."""

    needs: Permission | None
    method: str
    target: str
    body: bytes = b""


COMMANDS = [
    Command(None, "GET", f"{API}/status"),
    Command(None, "POST", f"{API}/status", b"{}"),
    Command(None, "GET", f"{API}/temperatures"),
    Command(None, "GET", f"{API}/presets"),
    Command(None, "GET", f"{API}/webcam/list"),
    Command(Permission.CAMERA, "GET", f"{API}/webcam/snapshot"),
    Command(Permission.FILES, "GET", f"{API}/files/list"),
    Command(Permission.FILES, "PUT", f"{API}/files/upload?path=gcode/allowed.gcode", b"G28\n"),
    Command(Permission.FILES, "GET", f"{API}/files/details?path=gcode/allowed.gcode"),
    Command(Permission.FILES, "GET", f"{API}/files/download?path=gcode/allowed.gcode"),
    Command(Permission.FILES, "POST", f"{API}/files/delete?path=gcode/allowed.gcode"),
    Command(Permission.INTERFACE, "GET", f"{API}/logs/agent"),
    Command(Permission.CONTROL, "POST", f"{API}/pause", b"{}"),
    Command(Permission.CONTROL, "POST", f"{API}/resume"),
    Command(Permission.CONTROL, "POST", f"{API}/cancel"),
    Command(Permission.CONTROL, "POST", f"{API}/start", b'{"Path": "gcode/none.gcode"}'),
    Command(Permission.CONTROL, "POST", f"{API}/set-light", b'{"Name": "none", "On": true}'),
    Command(Permission.CONTROL, "POST", f"{API}/move-axis", b'{"Axis": "X", "DistanceMm": 1}'),
    Command(Permission.CONTROL, "POST", f"{API}/home"),
    Command(Permission.CONTROL, "POST", f"{API}/extrude", b'{"Extruder": 0, "DistanceMm": 1}'),
    Command(Permission.CONTROL, "POST", f"{API}/set-temp", b'{"BedC": 0}'),
    Command(Permission.INTERFACE, "GET", f"{API}/proxy/mqtt"),
    Command(Permission.INTERFACE, "GET", "/"),
    Command(Permission.INTERFACE, "POST", "/api/job", b"{}"),
]


@pytest.fixture(scope="module")
def simulated(relay: Service) -> Iterator[LinkedPrinter]:
    with relay.printer("permitted", "", platform="simulated") as linked:
        yield linked


def way_with(relay: Service, printer: LinkedPrinter, *permissions: Permission) -> Way:
    """A new App Connection that may do just that."""
    words = ("connection", "add", "--app", APP, "--printer", printer.id)
    made = relay.admin(*words, "--permissions", ",".join(permissions))
    return relay.way(Connection.of(made))


def status(way: Way, command: Command) -> int:
    return call(way, command.target, method=command.method, body=command.body).status


def result(way: Way) -> dict[str, Any]:
    told = cast("dict[str, Any]", call(way, f"{API}/status").json())
    return cast("dict[str, Any]", told["Result"])


@pytest.mark.parametrize("missing", list(Permission))
def test_without_a_permission_all_that_needs_it_is_606_and_nothing_else(
    relay: Service, simulated: LinkedPrinter, missing: Permission
) -> None:
    way = way_with(relay, simulated, *(one for one in Permission if one is not missing))

    refused = [one for one in COMMANDS if status(way, one) == 606]

    assert refused == [one for one in COMMANDS if one.needs is missing]


def test_a_connection_without_any_permission_sees_the_status_alone(
    relay: Service, simulated: LinkedPrinter
) -> None:
    way = way_with(relay, simulated)

    passed = [one for one in COMMANDS if status(way, one) != 606]

    assert passed == [one for one in COMMANDS if one.needs is None]


def test_the_status_shows_no_control_that_a_connection_lacks(
    relay: Service, simulated: LinkedPrinter
) -> None:
    controls = way_with(relay, simulated, Permission.CONTROL)
    looks = way_with(relay, simulated, Permission.CAMERA)

    assert result(controls)["Features"] == EVERY_FEATURE_BUT_LEVELS
    assert result(looks)["Features"] == 0


def test_a_lock_holds_for_apps_and_for_the_owners_own_browser(
    relay: Service, simulated: LinkedPrinter
) -> None:
    ways = [way_with(relay, simulated, *Permission), relay.open_own_host(simulated)]
    upload = f"{API}/files/upload?path=gcode/long.gcode"
    call(ways[0], upload, method="PUT", body=LONG)
    call(ways[0], f"{API}/start", method="POST", body=b'{"Path": "gcode/long.gcode"}')
    is_printing = lambda: result(ways[0])["JobStatus"]["State"] == "printing"  # noqa: E731
    wait_for("the print runs", is_printing, TIMEOUT_S)

    interface = Command(Permission.INTERFACE, "GET", "/")
    assert status(ways[1], interface) != 606

    relay.admin("account", "lock", OWNER)
    try:
        resume = Command(Permission.CONTROL, "POST", f"{API}/resume")
        wait_for(
            "it is locked",
            lambda: (status(ways[0], resume), status(ways[1], interface)) == (606, 606),
            TIMEOUT_S,
        )
        told = cast("dict[str, Any]", call(ways[0], f"{API}/resume", method="POST").json())
        assert "locked" in told["Error"]
        page = call(ways[1], "/", headers=[("Accept", "text/html")]).body
        assert b"Remote control is locked" in page
        assert result(ways[0])["Features"] == 0
        assert result(ways[0])["JobStatus"]["State"] == "printing", "a lock alone stops nothing"
        answers = {one: status(ways[0], one) for one in COMMANDS}
        assert {one.target for one, code in answers.items() if code != 606} == {
            f"{API}/status",
            f"{API}/temperatures",
            f"{API}/presets",
            f"{API}/webcam/list",
            f"{API}/webcam/snapshot",
            f"{API}/files/list",
            f"{API}/files/details?path=gcode/allowed.gcode",
            f"{API}/files/download?path=gcode/allowed.gcode",
            f"{API}/logs/agent",
            f"{API}/pause",
        }
        is_paused = lambda: result(ways[0])["JobStatus"]["State"] == "paused"  # noqa: E731
        wait_for("the pause that was let through", is_paused, TIMEOUT_S)
    finally:
        relay.admin("account", "unlock", OWNER)
    cancel = Command(Permission.CONTROL, "POST", f"{API}/cancel")
    wait_for("it is open again", lambda: status(ways[0], cancel) == 200, TIMEOUT_S)
