"""A printer with its agent, linked and connected, as a fault finds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer
from tests.rigs.service import Agent, LinkedPrinter, Service
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way


@dataclass(frozen=True)
class Home:
    """A printer, its agent, and how an app reaches it."""

    printer: BehaviourPrinter
    linked: LinkedPrinter
    way: Way

    @property
    def agent(self) -> Agent:
        """The agent beside the printer."""
        return self.linked.agent

    @property
    def connections_so_far(self) -> int:
        """How often the agent has connected."""
        return len(self.agent.events("connected"))

    @contextmanager
    def reconnecting(self, seconds: float = TIMEOUT_S) -> Iterator[None]:
        """What happens meanwhile costs the agent its tunnel; wait until it has another."""
        before = self.connections_so_far
        yield
        wait_for("the agent to connect again", lambda: self.connections_so_far > before, seconds)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The agent stands still meanwhile."""
        self.agent.program.pause()
        try:
            yield
        finally:
            self.agent.program.resume()

    def kill_agent(self) -> None:
        """End the agent as a power cut would."""
        self.agent.program.kill()

    def start_agent(self) -> None:
        """Start it again, with the key it had."""
        with self.reconnecting():
            self.agent.program.start()


@contextmanager
def a_home(service: Service, folder: Path, name: str) -> Iterator[Home]:
    """Run a printer and its agent, linked to the owner's account."""
    with (
        behaviour_printer(folder, name=f"printer-of-{name}") as printer,
        service.printer(name, printer.url) as linked,
    ):
        yield Home(printer, linked, service.way(service.connect(linked)))
