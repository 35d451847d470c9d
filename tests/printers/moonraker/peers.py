"""Tests on a running Moonraker: an adapter beside it, and a deadline."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path

from printreach.contract.status import State
from tests.printers.bench import TEST_S, Bench, adapter_at, machine
from tests.printers.moonraker.rig import MoonrakerRig
from tests.rigs.klipper_objects import Status

Test = Callable[[MoonrakerRig, Path], Awaitable[None]]


def on_moonraker(test: Test) -> Callable[[MoonrakerRig, Path], None]:
    """Run an async test with a deadline."""

    @wraps(test)
    def run(rig: MoonrakerRig, tmp_path: Path) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S):
                await test(rig, tmp_path)

        asyncio.run(body())

    return run


@asynccontextmanager
async def adapter(rig: MoonrakerRig, folder: Path) -> AsyncIterator[Bench]:
    """An adapter that has reached its printer; folder: where it remembers things."""
    async with adapter_at(rig, machine(rig, folder)) as bench:
        await until_connected(bench)
        yield bench


@asynccontextmanager
async def bench_with(
    rig: MoonrakerRig, folder: Path, extra: Status | None = None
) -> AsyncIterator[Bench]:
    """A fresh printer with these objects, and an adapter that has reached it."""
    async with rig.open():
        if extra is not None:
            await asyncio.to_thread(rig.with_printer, extra)
        async with adapter(rig, folder) as bench:
            yield bench


async def until_connected(bench: Bench) -> None:
    async def is_connected() -> bool:
        return bench.printer.view.trouble is None

    await bench.until_true("the first view", is_connected)


async def smart_pause(bench: Bench, **more: object) -> None:
    await bench.start_hot()
    order = {"SmartPause": True, "ZLiftMm": 2, "RetractFilamentMm": 1, **more}
    assert (await bench.calls.post("pause", order)).result == {}
    assert (await bench.job())["State"] == State.PAUSED


async def until_hotend_is(bench: Bench, target_c: float) -> None:
    async def is_so() -> bool:
        return bool((await bench.temps())["HotendTarget"] == target_c)

    await bench.until_true(f"a hotend at {target_c}", is_so)
