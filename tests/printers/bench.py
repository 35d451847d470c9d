"""One adapter on the bench: its printer runs, it runs, and its command API answers."""

import asyncio
import functools
import inspect
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Concatenate, ParamSpec, TypeVar

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.status import State
from printreach.printers.camera_addresses import CameraHosts
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.printers.asking import CommandCalls, Json, Reply, command_calls
from tests.printers.print_file import PrintFile
from tests.printers.rig import PrinterRig

P = ParamSpec("P")
T = TypeVar("T")
Suite = TypeVar("Suite")

POLL_S = 0.03
TEST_S = 110.0
"""Shorter than what pytest allows, so that it is told what was waited for."""


@dataclass(frozen=True)
class Bench:
    """The adapter under test with its rig."""

    rig: PrinterRig
    printer: Printer
    calls: CommandCalls

    async def status(self, **query: object) -> Json:
        return (await self.calls.get("status", **query)).result

    async def job(self) -> Json:
        """JobStatus."""
        reported: Json = (await self.status())["JobStatus"]
        return reported

    async def temps(self) -> Json:
        reported: Json = (await self.job())["CurrentPrint"]["Temps"]
        return reported

    async def until(self, *states: State) -> Json:
        """JobStatus as soon as its state is one of these."""
        last = "nothing"

        async def is_so() -> Json | None:
            nonlocal last
            job = await self.job()
            last = f"{job['State']} ({job['SubState']}, {job['Error']})"
            return job if job["State"] in states else None

        names = " or ".join(states)
        return await self.until_true(lambda: f"{names}; it is {last}", is_so)

    async def until_true(
        self,
        what: str | Callable[[], str],
        look: Callable[[], Awaitable[T | None]],
        within_s: float | None = None,
    ) -> T:
        """The first answer of look that is neither None nor False. within_s: the rig's patience."""
        now = asyncio.get_running_loop().time
        deadline = now() + (within_s or self.rig.patience_s)
        while True:
            found = await look()
            if found is not None and found is not False:
                return found
            if now() > deadline:
                raise AssertionError(f"waited in vain for {what() if callable(what) else what}")
            await asyncio.sleep(POLL_S)

    async def until_refused(self, status: int) -> Reply:
        """The first answer to `status` that is refused with this Status."""

        async def look() -> Reply | None:
            reply = await self.calls.get("status")
            return reply if reply.status == status else None

        return await self.until_true(f"Status {status}", look)

    async def upload(self, name: str, data: bytes, root: str = "gcode") -> str:
        """Return the VirtualPath of the answer, where the file was put."""
        chunks = [data[at : at + 8192] for at in range(0, len(data), 8192)]
        reply = await self.calls.put("files/upload", chunks, len(data), f"{root}/{name}")
        return str(reply.result["VirtualPath"])

    async def start(self, print_file: PrintFile) -> str:
        """Upload it and start it; returns when the order is accepted."""
        path = await self.upload(print_file.name, print_file.data)
        reply = await self.calls.post("start", {"Path": path})
        assert reply.result["VirtualPath"] == path
        return path

    async def start_long(self) -> str:
        """Start a print that goes on until it is told to end, and wait until it prints."""
        path = await self.start(self.rig.long_print())
        await self.until(State.PRINTING)
        return path

    async def start_hot(self) -> str:
        """Start a print that heats, and wait until its hotend has a target.

        A printer says that it prints before the file's first command has set the target.
        """
        path = await self.start(self.rig.hot_print())
        await self.until(State.PRINTING)
        await self.until_true("heat", self.hotend_target)
        return path

    async def hotend_target(self) -> float | None:
        """Return it in degrees Celsius; None where the heater is off."""
        return float((await self.temps())["HotendTarget"]) or None


def wall_clock() -> Callable[[], float]:
    """Return a clock that begins with this machine's time, and goes as the event loop's does."""
    steady_time = asyncio.get_running_loop().time
    behind_s = time.time() - steady_time()
    return lambda: behind_s + steady_time()


def machine(rig: PrinterRig, data_dir: Path) -> PrinterSetup:
    """The adapter's environment, with this machine's clocks and random numbers."""
    loop = asyncio.get_running_loop()
    return rig.setup(
        PrinterSetup(
            host="127.0.0.1",
            port=0,
            tls=False,
            data_dir=data_dir,
            steady_time=loop.time,
            unix_time=wall_clock(),
            uniform=random.uniform,
            token_bytes=os.urandom,
            camera_hosts=CameraHosts("127.0.0.1"),
        )
    )


@asynccontextmanager
async def adapter_at(
    rig: PrinterRig, setup: PrinterSetup, remote_lock: RemoteLock | None = None
) -> AsyncIterator[Bench]:
    """The adapter runs and its API answers; whether it reaches the printer is the test's matter."""
    printer = rig.make(setup)
    running = asyncio.create_task(printer.run())
    try:
        async with command_calls(printer, remote_lock=remote_lock) as calls:
            yield Bench(rig, printer, calls)
            assert not running.done(), "run() must go on, whatever the printer does"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def bench_of(rig: PrinterRig) -> AsyncIterator[Bench]:
    """A fresh printer, and an adapter that has reached it."""
    with TemporaryDirectory() as folder:
        async with rig.open(), adapter_at(rig, machine(rig, Path(folder))) as bench:
            await bench.until_true("the first view", lambda: _is_connected(bench))
            yield bench


async def _is_connected(bench: Bench) -> bool:
    return bench.printer.view.trouble is None


def on_the_bench(
    test: Callable[Concatenate[Suite, Bench, P], Awaitable[None]],
) -> Callable[..., None]:
    """Run an async test of a suite on a fresh bench."""

    @functools.wraps(test)
    def run(self: Suite, rig: PrinterRig, *args: P.args, **kwargs: P.kwargs) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), bench_of(rig) as bench:
                await test(self, bench, *args, **kwargs)

        rig.run(body())

    wanted = [
        parameter.replace(name="rig") if parameter.name == "bench" else parameter
        for parameter in inspect.signature(test).parameters.values()
    ]
    # pytest gives arguments by name: the fixture `rig` where the test speaks of a bench
    run.__signature__ = inspect.Signature(wanted)  # type: ignore[attr-defined]  # typeshed lacks it
    return run
