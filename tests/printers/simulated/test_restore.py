"""A lock of remote control ends the restore that the simulated printer makes by itself."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.status import State
from tests.printers.bench import TEST_S, Bench
from tests.printers.contract_pauses import agent
from tests.printers.simulated.contract_rig import SimulatedRig

SMART = {"SmartPause": True, "DisableBed": True, "ZLiftMm": 10, "RetractFilamentMm": 2}


@asynccontextmanager
async def cold_pause(rig: SimulatedRig, lock: RemoteLock, folder: Path) -> AsyncIterator[Bench]:
    """A smart pause of a printer that has cooled down, and heats up slowly."""
    async with (
        asyncio.timeout(TEST_S),
        rig.open(),
        agent(rig, folder / "agent", remote_lock=lock) as bench,
    ):
        await bench.start_hot()
        assert (await bench.calls.post("pause", SMART)).status == 200
        await bench.until(State.PAUSED)
        rig.cool_down()
        await rig.run_at(0.1)
        yield bench


@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [lambda lock: lock.set_locked(is_locked=True), RemoteLock.lost],
    ids=["locked", "the service is lost"],
)
def test_the_print_stays_paused_until_somebody_resumes_it_again(
    tmp_path: Path, end: Callable[[RemoteLock], None]
) -> None:
    rig, lock = SimulatedRig(tmp_path / "printer"), RemoteLock()

    async def body() -> None:
        async with cold_pause(rig, lock, tmp_path) as bench:
            assert (await bench.calls.post("resume")).status == 200
            await bench.until(State.RESUMING)
            end(lock)
            await bench.until(State.PAUSED)
            assert (await bench.temps())["BedTarget"] == 40

            lock.set_locked(is_locked=False)
            assert (await bench.calls.post("resume")).status == 200
            await rig.run_at(10)
            await bench.until(State.PRINTING)

    rig.run(body())


@pytest.mark.slow
def test_a_lock_ends_a_restore_that_an_earlier_agent_had_ordered(tmp_path: Path) -> None:
    rig, lock = SimulatedRig(tmp_path / "printer"), RemoteLock()

    async def body() -> None:
        async with cold_pause(rig, RemoteLock(), tmp_path) as earlier:
            assert (await earlier.calls.post("resume")).status == 200
            async with agent(rig, tmp_path / "later", remote_lock=lock) as bench:
                lock.set_locked(is_locked=True)
                await bench.until(State.PAUSED)

    rig.run(body())


@pytest.mark.slow
def test_a_resume_at_the_printer_itself_is_left_alone(tmp_path: Path) -> None:
    rig, lock = SimulatedRig(tmp_path / "printer"), RemoteLock()

    async def body() -> None:
        async with cold_pause(rig, lock, tmp_path) as bench:
            lock.set_locked(is_locked=True)
            await rig.order_at_the_printer("resume")
            await bench.until(State.RESUMING)
            await rig.run_at(10)
            await bench.until(State.PRINTING)

    rig.run(body())
