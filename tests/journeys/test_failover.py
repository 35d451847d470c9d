"""The PostgreSQL server dies and its standby takes over: nodes find it, tunnels stay."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.journeys.test_outages_of_several_nodes import all_say, ways_of
from tests.journeys.test_several_nodes import has_answered, sign_in
from tests.rigs.behaviour.rig import BehaviourPrinter
from tests.rigs.calls import call
from tests.rigs.nodes import Nodes, nodes
from tests.rigs.postgresql import REPLICATED, USER, PostgresqlServer, ask
from tests.rigs.service import LinkedPrinter
from tests.rigs.simulated import SimulatedPrinter, simulated_printer
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresqlServer]:
    with PostgresqlServer(*REPLICATED, "synchronous_commit=remote_apply") as running:
        yield running


@pytest.fixture(scope="module")
def standby(primary: PostgresqlServer) -> Iterator[PostgresqlServer]:
    """Has every change before whoever made it is told that it is stored."""
    with PostgresqlServer(*REPLICATED, standby_of=primary) as running:
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.execute("SELECT pg_reload_conf()")
        yield running


@pytest.fixture(scope="module")
def running(
    primary: PostgresqlServer,
    standby: PostgresqlServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Nodes]:
    hosts = quote(f"{primary.folder},{standby.folder}", safe="")
    name = primary.make_database()
    url = f"postgresql://{USER}@/{name}?host={hosts}&target_session_attrs=read-write"
    folder = tmp_path_factory.mktemp("nodes")
    with nodes(folder, {"PRINTREACH_DATABASE_URL": url}) as several:
        yield several


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedPrinter]:
    with simulated_printer(tmp_path_factory.mktemp("printer"), "nodes") as printer:
        printer.put("part.gcode", "G28\n" + "G1 X10 F6000\nG1 X16\n" * 400)
        yield printer


@pytest.fixture(scope="module")
def linked_simulated(running: Nodes, simulated: SimulatedPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("simulated", simulated.url, platform="simulated") as printer:
        printer.agent.wait_until_looked()
        yield printer


def test_a_failover_costs_no_tunnel_and_nothing_that_was_accepted(
    running: Nodes,
    primary: PostgresqlServer,
    standby: PostgresqlServer,
    behaviour: BehaviourPrinter,
    linked_simulated: LinkedPrinter,
    simulated: SimulatedPrinter,
) -> None:
    web = running.way_to(running.base_url.partition("//")[2])
    cookie = sign_in(running, web)
    with running.printer("behaviour", behaviour.url) as linked:
        connection = running.connect(linked)
        ways, connected = ways_of(running, connection), len(linked.agent.events("connected"))
        assert all(map(has_answered, ways))

        primary.kill()
        all_say(running, 503, "database")
        assert all(map(has_answered, ways))
        simulated.start("part.gcode")
        standby.promote()

        all_say(running, 200)
        fresh = ways_of(running, running.connect(linked))
        wait_for("answers", lambda: all(map(has_answered, [*ways, *fresh])), TIMEOUT_S)
        assert len(linked.agent.events("connected")) == connected

    def is_in_the_history() -> bool:
        page = f"/printers/{linked_simulated.id}/history"
        return b"part.gcode" in call(web, page, headers=[cookie]).body

    wait_for("the print that began meanwhile", is_in_the_history, TIMEOUT_S)
    assert ask(standby.url(), lambda one: one.fetchval("SELECT pg_is_in_recovery()")) is False
