"""The context of an uplink under test: its own folder, clocks that a test sets, a key."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from printreach.agent.addresses import ListenAddress, WebAddress, parse_web_address
from printreach.agent.config import AgentConfig
from printreach.agent.data_dir import prepare
from printreach.agent.keys import ServicePins, load_or_make_key
from printreach.agent.print_tracker import TrackerEnvironment
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.runtime import AgentContext, LanPlace, Machine
from printreach.agent.status import Announcer
from printreach.contract.platforms import PLATFORM_FACTS
from tests.agent.snapshots import HandClock, a_state

SERVICE = "http://print.example.org:8080"
NOON_UNIX_S = 1_777_636_800.0


class Announcements:
    """The lines that the agent prints."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    @property
    def lines(self) -> list[dict[str, str | int]]:
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    @property
    def events(self) -> list[str]:
        return [str(line["event"]) for line in self.lines]


class Agent:
    """One agent's context, and what a test looks at."""

    def __init__(
        self,
        folder: Path,
        *,
        service: str = SERVICE,
        platform: str = "octoprint",
        printer: str | None = "http://127.0.0.1:5000",
        unix_time: float = NOON_UNIX_S,
        uniform: Callable[[float, float], float] = lambda low, _high: low,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.data_dir = folder / "agent"
        self.announced = Announcements(folder / "announced")
        self.clock = HandClock()
        prepare(self.data_dir)
        self.context = AgentContext(
            config=AgentConfig(
                service=parse_web_address(service),
                data_dir=self.data_dir,
                kind=PLATFORM_FACTS[platform],
                printer=_address(printer),
                lan_listen=ListenAddress(host="127.0.0.1", port=0),
            ),
            machine=Machine(
                monotonic=self.clock,
                unix_time=lambda: unix_time,
                uniform=uniform,
                token_bytes=os.urandom,
                stdout=None,
            ),
            key=load_or_make_key(self.data_dir),
            pins=ServicePins.load(self.data_dir),
            state=a_state(self.clock),
            announce=Announcer(self.announced.file),
            find_lan_address=lambda: LanPlace(ip="192.168.1.7", port=8766),
            remote_lock=RemoteLock(),
        )

    @property
    def pinned_keys(self) -> tuple[bytes, ...]:
        """The service's keys as the file has them, for the next start."""
        pin = ServicePins.load(self.data_dir).get(str(self.context.config.service))
        return () if pin is None else pin.public_keys


def tracker_environment(
    clock: Callable[[], float], unix_time: float = NOON_UNIX_S
) -> TrackerEnvironment:
    """The tracker's environment on a machine that has not met the service."""
    return TrackerEnvironment(
        steady_time=clock,
        unix_time=lambda: unix_time,
        service_time=lambda: None,
        token_bytes=os.urandom,
    )


class ServiceKey:
    """A key of a service, or of somebody who would like to be one."""

    def __init__(self) -> None:
        self._private = Ed25519PrivateKey.generate()
        self.public = self._private.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        return self._private.sign(message)


def _address(text: str | None) -> WebAddress | None:
    return None if text is None else parse_web_address(text)
