"""A service and a home with a line between them, as a test holds it."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.rigs.network.line import DEVICE
from tests.rigs.network.namespaces import Namespace, namespace
from tests.rigs.peers import ROOT
from tests.rigs.programs import Program

# Seen by nobody but the two namespaces.
SERVICE, HOME, OTHER_HOME = "10.213.0.1", "10.213.0.2", "10.213.0.3"


@dataclass(frozen=True)
class Line:
    """Two networks and what is between them."""

    service: Namespace
    home: Namespace
    control: Path

    def set(self, *, loss: float = 0.0, delay_s: float = 0.0, is_cut: bool = False) -> None:
        """Say what packets meet from now on. delay_s: one way."""
        condition = {"loss": loss, "delay_s": delay_s, "is_cut": is_cut}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(json.dumps(condition).encode(), str(self.control))

    @contextmanager
    def cut(self) -> Iterator[None]:
        """No packet gets through meanwhile, and nobody is told."""
        self.set(is_cut=True)
        try:
            yield
        finally:
            self.set()

    @contextmanager
    def bad(self, *, loss: float, delay_s: float) -> Iterator[None]:
        """Packets meet this meanwhile."""
        self.set(loss=loss, delay_s=delay_s)
        try:
            yield
        finally:
            self.set()

    def move_home(self, *, to: str) -> None:
        """Give the home another address, as a router's reconnect does."""
        self.home.ip("address", "flush", "dev", DEVICE)
        self.home.ip("address", "add", f"{to}/24", "dev", DEVICE)


@contextmanager
def a_line(folder: Path) -> Iterator[Line]:
    """Make the two networks and a good line."""
    prefix = f"printreach-{os.getpid()}"
    control = folder / "line.control"
    with namespace(f"{prefix}-service") as service, namespace(f"{prefix}-home") as home:
        words = [str(control), service.name, home.name]
        argv = [sys.executable, "-m", "tests.rigs.network.line", *words]
        with Program("line", argv, logs=folder, cwd=ROOT) as program:
            for end, address in ((service, SERVICE), (home, HOME)):
                program.wait_until(f"{DEVICE} in {end.name}", partial(_has_device, end))
                end.ip("address", "add", f"{address}/24", "dev", DEVICE)
                end.ip("link", "set", DEVICE, "up")
            yield Line(service, home, control)


def _has_device(end: Namespace) -> bool:
    with end.inside():
        return DEVICE in [name for _, name in socket.if_nameindex()]
