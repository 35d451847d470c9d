"""The behaviour printer as a test holds it."""

import json
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.rigs.behaviour.journal import Entry, What
from tests.rigs.calls import Answer, call
from tests.rigs.certificates import self_signed
from tests.rigs.peers import ROOT
from tests.rigs.programs import Program
from tests.rigs.waiting import TIMEOUT_S, accepts_connections, free_port, wait_for
from tests.rigs.ways import Header, Way


def fresh_key() -> str:
    """A name for one request, so that tests never read each other's entries."""
    return secrets.token_hex(6)


@dataclass(frozen=True)
class EchoedRequest:
    """An echoed request, as the printer received it."""

    method: str
    target: str
    version: str
    headers: list[Header]
    sha256: str
    size: int

    @classmethod
    def by(cls, answer: Answer) -> Self:
        """Read it from the printer's answer."""
        assert answer.status == 200, answer
        seen = json.loads(answer.body)
        return cls(**{**seen, "headers": [(name, value) for name, value in seen["headers"]]})

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def has(self, name: str) -> bool:
        """True when the header arrived at all."""
        return bool(self.all(name))


@dataclass(frozen=True)
class BehaviourPrinter:
    """Its two addresses, and what it says about the requests it got."""

    program: Program
    http_port: int
    https_port: int

    @property
    def url(self) -> str:
        """Its web server."""
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def https_url(self) -> str:
        """The same behind a certificate that nobody signed."""
        return f"https://127.0.0.1:{self.https_port}"

    def restart(self) -> None:
        """Start it again on the same ports, its memory lost."""
        self.program.start()
        self.wait_listening()

    def wait_listening(self) -> None:
        """Wait until it takes connections."""
        port = self.https_port  # the later of the two
        self.program.wait_until("listening", lambda: accepts_connections(port))

    def entries(self, key: str) -> list[Entry]:
        """Return the notes about the request with this key."""
        return self._control(f"/control/journal?key={key}")

    def allow_step(self, key: str) -> None:
        """Let its answer go one step further."""
        self._control(f"/control/step?key={key}")

    def wait_for(self, key: str, what: What, detail: int | None = None) -> Entry:
        """Wait until this was noted about that request."""

        def look() -> Entry | None:
            fitting = (
                e for e in self.entries(key) if e.what == what and detail in {None, e.detail}
            )
            return next(fitting, None)

        return wait_for(f"the printer to note {what}", look, TIMEOUT_S)

    def _control(self, target: str) -> list[Entry]:
        answer = call(Way.straight(self.url), target)
        return [Entry(**one) for one in json.loads(answer.body)]


@contextmanager
def behaviour_printer(folder: Path, *, name: str = "behaviour") -> Iterator[BehaviourPrinter]:
    """Run one; its certificate and logs are kept in folder, the logs under its name."""
    chain, key = self_signed(folder, "printer.local", "127.0.0.1")
    ports = free_port(), free_port()
    argv = [sys.executable, "-m", "tests.rigs.behaviour", *map(str, ports), str(chain), str(key)]
    with Program(name, argv, logs=folder, cwd=ROOT) as program:
        printer = BehaviourPrinter(program, *ports)
        printer.wait_listening()
        yield printer
