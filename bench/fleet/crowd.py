"""The simulated agents of one run, in a few processes of their own."""

import socket
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.agents import Agents, Command, Told
from tests.rigs.programs import Program
from tests.rigs.waiting import wait_for

MAX_OF_A_PROCESS: Final = 5000
ARRIVE_WITHIN_S: Final = 300.0


class Crowd:
    """All agents. The first process has those that print and tell events."""

    def __init__(self, count: int, programs: Sequence[Program], controls: Sequence[Path]) -> None:
        self.count = count
        self.programs = programs
        self._sockets = [_connected(path) for path in controls]

    def close(self) -> None:
        for one in self._sockets:
            one.close()

    def order(self, command: Command) -> None:
        """Let the first process do this."""
        _ask(self._sockets[0], command)

    def dial(self, relays: Sequence[int]) -> None:
        """Let all dial these from now on, and count dials and arrivals anew."""
        for one in self._sockets:
            _ask(one, Command(relays=list(relays)))

    def told(self) -> Told:
        """Return what all processes have done together; events go on."""
        every = [_ask(one, None) for one in self._sockets]
        dials, arrivals = Counter[int](), Counter[int]()
        for one in every:
            dials.update(one.dials)
            arrivals.update(one.arrivals)
        return Told(
            online=sum(one.online for one in every),
            events_stored=sum(one.events_stored for one in every),
            pictures=sum(one.pictures for one in every),
            dials=dials,
            arrivals=arrivals,
        )

    def wait_all_online(self) -> None:
        wait_for("all agents", lambda: self.told().online == self.count, ARRIVE_WITHIN_S)


@contextmanager
def crowd(folder: Path, count: int, host: str, relays: Sequence[int]) -> Iterator[Crowd]:
    """Run so many agents, and wait until all are there. host: of the service. relays: ports."""
    with ExitStack() as ends:
        programs, controls = [], []
        for first in range(0, count, MAX_OF_A_PROCESS):
            controls.append(folder / f"agents-{first}.sock")
            agents = Agents(
                first=first,
                count=min(MAX_OF_A_PROCESS, count - first),
                host=host,
                relays=list(relays),
                control=str(controls[-1]),
            )
            words = [
                sys.executable,
                "-m",
                "bench.fleet.agents",
                msgspec.json.encode(agents).decode(),
            ]
            programs.append(ends.enter_context(Program(f"agents-{first}", words, logs=folder)))
        for program, path in zip(programs, controls, strict=True):
            program.wait_until("control socket", path.exists)
        running = Crowd(count, programs, controls)
        ends.callback(running.close)
        running.wait_all_online()
        yield running


def _connected(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(60)
    one.connect(str(path))
    return one


def _ask(one: socket.socket, command: Command | None) -> Told:
    one.sendall(msgspec.json.encode(command) + b"\n")
    answer = b""
    while not answer.endswith(b"\n"):
        answer += one.recv(65536)
    return msgspec.json.decode(answer, type=Told)
