"""Service and agent run on while their disks take nothing; each event is told once all the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rigs.certificates import Authority
from tests.rigs.full_disk import no_room_for_files
from tests.rigs.https_receiver import HttpsReceiver, https_receiver
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.simulated import SimulatedPrinter, simulated_printer
from tests.rigs.waiting import wait_for
from tests.rigs.webhook_service import CallingApp, webhook_service

pytestmark = [pytest.mark.slow, pytest.mark.fault, pytest.mark.timeout(400)]

GCODE = "G28\n" + "G1 X10 F6000\nG1 X60\n" * 1000
STARTED, FAILED = 1, 3
TIMEOUT_S = 120


@dataclass(frozen=True)
class Shop:
    service: Service
    printer: SimulatedPrinter
    linked: LinkedPrinter
    app: CallingApp
    receiver: HttpsReceiver

    @property
    def journal(self) -> Path:
        """Where the agent keeps what it has not brought away."""
        return self.service.folder / "agent-workbench" / "events.journal"

    def told(self) -> list[int]:
        return [one.event["EventType"] for one in self.receiver.calls]

    def wait_for_told(self, *kinds: int) -> None:
        wait_for(f"calls {kinds}", lambda: self.told() == list(kinds) or None, TIMEOUT_S)


@contextmanager
def a_shop(folder: Path) -> Iterator[Shop]:
    authority = Authority(folder)
    with (
        https_receiver(authority.issue("localhost")) as receiver,
        webhook_service(folder, authority) as here,
        simulated_printer(folder, "workbench") as printer,
        here.printer("workbench", printer.url, platform="simulated") as linked,
    ):
        linked.agent.wait_until_looked()
        app = CallingApp(here, linked)
        assert app.set_webhook(receiver.url, STARTED, FAILED).status_code == 200
        printer.put("part.gcode", GCODE)
        yield Shop(here, printer, linked, app, receiver)
        app.close()


def test_what_the_service_has_no_room_for_stays_with_the_agent_until_it_has(
    tmp_path: Path,
) -> None:
    with a_shop(tmp_path) as shop:
        with no_room_for_files(shop.service.program.pid):
            refused = shop.app.set_webhook("https://localhost/other", STARTED)
            shop.printer.start("part.gcode")
            wait_for("the event in the journal", lambda: is_in(shop.journal, STARTED), TIMEOUT_S)
            shop.linked.agent.program.kill()
            shop.linked.agent.program.start()
            assert shop.told() == []

        shop.wait_for_told(STARTED)
        shop.printer.cancel()
        shop.wait_for_told(STARTED, FAILED)
        assert refused.status_code >= 500


def test_an_agent_without_room_tells_what_happens_and_nothing_twice(tmp_path: Path) -> None:
    with a_shop(tmp_path) as shop:
        agent = shop.linked.agent.program
        with no_room_for_files(agent.pid):
            shop.printer.start("part.gcode")
            shop.wait_for_told(STARTED)
            before = shop.journal.read_bytes()
        wait_for("the journal", lambda: shop.journal.read_bytes() != before, TIMEOUT_S)
        agent.kill()
        agent.start()
        shop.printer.cancel()
        shop.wait_for_told(STARTED, FAILED)


def is_in(journal: Path, kind: int) -> bool:
    """Whether an event of that type was written there."""
    return journal.exists() and b'"EventType":%d,' % kind in journal.read_bytes()
