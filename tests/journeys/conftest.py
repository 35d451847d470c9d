"""One service and one agent a printer for the journeys of a worker.

They end with the last of them, for an idle OctoPrint takes a fiftieth of a CPU.

PRINTREACH_TEST_DIRECT=1 runs the same tests straight against the printers, which proves that a
test asks for what the printer really does. Tests of the relay's own rules are skipped then.

PRINTREACH_TEST_NODES=1 runs them against several nodes, by the relay that doesn't hold the
printer's tunnel.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer
from tests.rigs.failure_logs import pytest_runtest_makereport, pytest_runtest_protocol
from tests.rigs.nodes import has_several_nodes, nodes
from tests.rigs.octoprint import OctoPrint
from tests.rigs.octoprint import octoprint as running_octoprint
from tests.rigs.service import Connection, LinkedPrinter, Service, service_on_localhost
from tests.rigs.straight import DIRECT, goes_straight
from tests.rigs.waiting import free_ports
from tests.rigs.ways import Way

__all__ = ["goes_straight", "pytest_runtest_makereport", "pytest_runtest_protocol"]

PORTS = 4


@pytest.fixture(scope="package")
def rigs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where rigs keep their files and logs."""
    return tmp_path_factory.mktemp("rigs")


@pytest.fixture(scope="package")
def relay(rigs_folder: Path) -> Iterator[Service]:
    """The service on plain http, its printer hosts under *.localhost."""
    if goes_straight():
        pytest.skip(f"a rule of the relay, and {DIRECT}=1 leaves it out")
    if has_several_nodes():
        with nodes(rigs_folder) as several:
            yield several
        return
    with service_on_localhost(rigs_folder) as running:
        yield running


@pytest.fixture(scope="package")
def behaviour(rigs_folder: Path) -> Iterator[BehaviourPrinter]:
    """The printer that misbehaves on request."""
    with behaviour_printer(rigs_folder) as printer:
        yield printer


@pytest.fixture(scope="package")
def behaviour_linked(relay: Service, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    """The same, linked to the service."""
    with relay.printer("behaviour", behaviour.url) as linked:
        yield linked


@pytest.fixture(scope="package")
def relay_with_ports(rigs_folder: Path) -> Iterator[Service]:
    """A service whose App Connections have ports instead of names."""
    if goes_straight():
        pytest.skip(f"a rule of the relay, and {DIRECT}=1 leaves it out")
    folder = rigs_folder / "ports"
    folder.mkdir()
    with service_on_localhost(folder, tunnel_ports=free_ports(PORTS)) as running:
        yield running


@pytest.fixture(scope="package")
def linked_with_ports(
    relay_with_ports: Service, behaviour: BehaviourPrinter
) -> Iterator[LinkedPrinter]:
    """The behaviour printer, linked to that one."""
    with relay_with_ports.printer("behaviour-with-ports", behaviour.url) as linked:
        yield linked


@pytest.fixture(scope="package")
def connection_with_port(relay_with_ports: Service, linked_with_ports: LinkedPrinter) -> Connection:
    """A connection to it that lasts as long as they."""
    return relay_with_ports.connect(linked_with_ports)


@pytest.fixture(scope="package", params=["host", "port"])
def way(request: pytest.FixtureRequest, behaviour: BehaviourPrinter) -> Way:
    """How an app reaches the behaviour printer: by the connection's name, or by its port."""
    if goes_straight():
        return Way.straight(behaviour.url)
    if request.param == "port":
        with_ports: Service = request.getfixturevalue("relay_with_ports")
        return with_ports.way(request.getfixturevalue("connection_with_port"))
    running: Service = request.getfixturevalue("relay")
    return running.way(running.connect(request.getfixturevalue("behaviour_linked")))


@pytest.fixture(scope="package")
def octoprint(rigs_folder: Path) -> Iterator[OctoPrint]:
    """OctoPrint with its virtual printer."""
    with running_octoprint(rigs_folder / "octoprint") as running:
        yield running


@pytest.fixture(scope="package")
def octoprint_linked(relay: Service, octoprint: OctoPrint) -> Iterator[LinkedPrinter]:
    """The same, linked to the service."""
    key = {"PRINTREACH_PRINTER_API_KEY": octoprint.api_key}
    with relay.printer("octoprint", octoprint.url, platform="octoprint", env=key) as linked:
        yield linked


@pytest.fixture(scope="package")
def octoprint_way(request: pytest.FixtureRequest, octoprint: OctoPrint) -> Way:
    """How an app reaches OctoPrint."""
    if goes_straight():
        return Way.straight(octoprint.url)
    running: Service = request.getfixturevalue("relay")
    return running.way(running.connect(request.getfixturevalue("octoprint_linked")))
