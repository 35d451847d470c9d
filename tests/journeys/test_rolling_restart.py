"""Each node of a fleet is restarted in turn while everybody works: no request fails."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.faults.load import load_on
from tests.journeys.test_stopping import sign_in
from tests.rigs.behaviour.rig import BehaviourPrinter
from tests.rigs.certificates import Authority
from tests.rigs.fleet.rig import Fleet, fleet
from tests.rigs.https_receiver import HttpsReceiver, https_receiver
from tests.rigs.programs import Program
from tests.rigs.service import LinkedPrinter
from tests.rigs.simulated import FAST, SimulatedPrinter, simulated_printer
from tests.rigs.streams_under_way import Streams, under_way
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.webhook_service import CallingApp
from tests.rigs.whole_fleet import COUNTS, WholeFleet, whole_fleet

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(600)]

AGENTS: Final = 30
WITH_CONNECTIONS: Final = 8
CALLERS: Final = 3
STARTED, COMPLETE = 1, 2
GCODE: Final = "G28\n" + "G1 X10 F6000\nG1 X16\n" * 100
NOTICED_S: Final = 3.0
"""HAProxy looks at a node once a second: a node that is back is used by then."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole-fleet")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority(folder)


@pytest.fixture(scope="module")
def receiver(authority: Authority) -> Iterator[HttpsReceiver]:
    with https_receiver(authority.issue("localhost")) as running:
        yield running


@pytest.fixture(scope="module")
def whole(folder: Path, authority: Authority) -> Iterator[WholeFleet]:
    env = {
        "PRINTREACH_DETECTOR_WATCH": "false",
        "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
        "SSL_CERT_FILE": str(authority.root),
    }
    with whole_fleet(folder, env=env) as running:
        running.add_owner()
        yield running


@pytest.fixture(scope="module")
def agents(whole: WholeFleet) -> Iterator[Fleet]:
    with fleet(whole, AGENTS, connections=WITH_CONNECTIONS) as running:
        yield running


@pytest.fixture(scope="module")
def printer(folder: Path) -> Iterator[SimulatedPrinter]:
    with simulated_printer(folder, "printer") as running:
        running.put("part.gcode", GCODE)
        yield running


@pytest.fixture(scope="module")
def linked(
    whole: WholeFleet, printer: SimulatedPrinter, receiver: HttpsReceiver
) -> Iterator[LinkedPrinter]:
    """A printer with a webcam, whose prints are told to an app."""
    with whole.printer("workbench", printer.url, platform="simulated") as workbench:
        workbench.agent.wait_until_looked()
        app = CallingApp(whole, workbench)
        assert app.set_webhook(receiver.url, STARTED, COMPLETE).status_code == 200
        app.close()
        yield workbench


@pytest.fixture(scope="module")
def streams(
    whole: WholeFleet, linked: LinkedPrinter, behaviour: BehaviourPrinter
) -> Iterator[Streams]:
    with whole.printer("behaving", behaviour.url) as behaving:
        yield Streams(
            pictures=whole.way(whole.connect(linked)),
            echo=whole.way(whole.connect(behaving)),
            pages=whole.way_to(whole.base_url.partition("//")[2]),
            cookie=sign_in(whole),
        )


@contextmanager
def prints(printer: SimulatedPrinter, receiver: HttpsReceiver) -> Iterator[None]:
    """Print one part after the other; each is told to the app once, its start before its end."""
    receiver.calls.clear()
    is_over, count = threading.Event(), [0]  # of prints

    def wait_to_hear(event_type: int) -> None:
        def hear() -> bool:
            return len(receiver.of_type(event_type)) >= count[0]

        wait_for(f"event {event_type} of print {count[0]}", hear, TIMEOUT_S)

    def print_parts() -> None:
        while not is_over.is_set():
            count[0] += 1
            printer.run_at(1)  # until it was seen: an agent may miss a shorter print
            printer.start("part.gcode")
            wait_to_hear(STARTED)
            printer.run_at(FAST)
            wait_to_hear(COMPLETE)
            printer.clear()

    printing = threading.Thread(target=print_parts)
    printing.start()
    try:
        yield
    finally:
        is_over.set()
        printing.join()
    told = [one.event["EventType"] for one in receiver.calls]
    assert told == [STARTED, COMPLETE] * count[0]


def restart(program: Program, nodes: WholeFleet) -> None:
    """Let a node end by itself, and start it again; the next one is left alone until it serves."""
    program.stop()
    program.start()
    program.wait_until("ready line", lambda: "ready {" in program.stdout_since_start())
    assert nodes.proxy.is_running
    time.sleep(NOTICED_S)


@pytest.mark.parametrize("role", COUNTS)
def test_no_request_fails_while_every_node_of_a_role_is_restarted(
    whole: WholeFleet,
    agents: Fleet,
    streams: Streams,
    printer: SimulatedPrinter,
    receiver: HttpsReceiver,
    role: str,
) -> None:
    with (
        under_way(streams) as judged,
        load_on(agents, CALLERS) as load,
        prints(printer, receiver),
    ):
        time.sleep(NOTICED_S)
        for node in whole.nodes[role]:
            restart(node.program, whole)

    assert judged.faults == []
    assert load.failures == []
    assert load.lies == []
    assert agents.strays() == []
    assert len(load.accepted) > 20
    print(f"{role}: {len(load.accepted)} requests, streams {dict(judged.ended)}")
