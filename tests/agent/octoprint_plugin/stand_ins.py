"""A configuration, a machine and uplinks for tests of the plugin without OctoPrint."""

import asyncio
import random
from pathlib import Path

from printreach.agent.addresses import parse_web_address
from printreach.agent.config import AgentConfig
from printreach.agent.runtime import AgentContext, Machine
from printreach.contract.platforms import PLATFORM_FACTS
from tests.agent.snapshots import HandClock

ADDRESS = "https://printreach.example"


def a_config(folder: Path, address: str = ADDRESS) -> AgentConfig:
    """As the plugin makes it; nobody listens where its printer is."""
    return AgentConfig(
        service=parse_web_address(address),
        data_dir=folder / "agent",
        kind=PLATFORM_FACTS["octoprint"],
        printer=parse_web_address("http://127.0.0.1:9"),
        lan_listen=None,
    )


def a_machine() -> Machine:
    """Its clock stands still."""
    numbers = random.Random(1)
    return Machine(
        monotonic=HandClock(),
        unix_time=lambda: 1_777_636_800.0,
        uniform=numbers.uniform,
        token_bytes=numbers.randbytes,
        stdout=None,
    )


class QuietUplink:
    """Runs until it is told to stop, or, if it is deaf, until it is cancelled."""

    def __init__(self, *, is_deaf: bool = False) -> None:
        self._is_deaf = is_deaf
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        await self._stopped.wait()

    async def stop(self) -> None:
        if not self._is_deaf:
            self._stopped.set()


class Uplinks:
    """A factory that remembers the addresses it made uplinks for.

    failures: raised in place of the first ones. is_deaf: they don't hear that they are to stop.
    """

    def __init__(self, *failures: Exception, is_deaf: bool = False) -> None:
        self.addresses: list[str] = []
        self._failures = list(failures)
        self._is_deaf = is_deaf

    def __call__(self, context: AgentContext) -> QuietUplink:
        if self._failures:
            raise self._failures.pop(0)
        self.addresses.append(str(context.config.service))
        return QuietUplink(is_deaf=self._is_deaf)
