"""A start and a cancel right behind it, at the simulated printer: nothing prints afterwards."""

import asyncio
import json
from pathlib import Path

import pytest

from printreach.contract.status import State
from tests.fakes.loop import on_a_loop
from tests.printers.bench import Bench, bench_of
from tests.printers.simulated.contract_rig import SimulatedRig

LATER_S = 1.5
"""Longer than the simulated printer takes to show a print."""


async def start_and_cancel(bench: Bench, path: str, *, cut_after_s: float | None) -> int:
    """Return the cancel's result. cut_after_s: when the start's caller is cut off; None: never."""
    body = json.dumps({"Path": path}).encode()
    asked = bench.calls.ask(b"POST", "start", body)
    if cut_after_s is None:
        assert (await asked.reply()).status == 200
    else:
        await asyncio.sleep(cut_after_s)
        if not asked.is_whole:
            asked.leave()
    return (await bench.calls.post("cancel")).status


@pytest.mark.slow
@pytest.mark.parametrize("cut_after_s", [None, 0.0, 0.002, 0.01])
def test_no_print_outlives_a_cancel_behind_its_start(
    tmp_path: Path, cut_after_s: float | None
) -> None:
    """As a lock of remote control cuts a start that is on its way to the printer."""

    @on_a_loop
    async def body() -> None:
        rig = SimulatedRig(tmp_path / "printer")
        async with bench_of(rig) as bench:
            file = rig.long_print()
            path = await bench.upload(file.name, file.data)
            for _ in range(3):
                status = await start_and_cancel(bench, path, cut_after_s=cut_after_s)
                await asyncio.sleep(LATER_S)
                assert bench.printer.view.job.state in (State.IDLE, State.CANCELLED)
                # The start may have been cut before it was one.
                assert status == 200 or cut_after_s is not None

    body()
