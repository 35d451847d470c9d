"""Callers of status cost a printer nothing: its web server is asked no more for them."""

import asyncio
from pathlib import Path

import pytest

from tests.printers.bench import Bench, bench_of
from tests.printers.simulated.contract_rig import SimulatedRig

CALLERS, TURNS, TURN_S = 20, 10, 0.1


async def requests_meanwhile(bench: Bench, rig: SimulatedRig, callers: int) -> int:
    """The number of times the printer was asked while many asked for its status."""
    before = len(rig.meddler.asked)
    for _ in range(TURNS):
        await asyncio.gather(*(bench.status() for _ in range(callers)), asyncio.sleep(TURN_S))
    return len(rig.meddler.asked) - before


@pytest.mark.slow
def test_a_printing_printer_is_asked_no_more_for_twenty_callers(tmp_path: Path) -> None:
    rig = SimulatedRig(tmp_path / "printer")

    async def body() -> None:
        async with bench_of(rig) as bench:
            await bench.start_long()
            alone = await requests_meanwhile(bench, rig, 0)
            crowded = await requests_meanwhile(bench, rig, CALLERS)

            assert (alone, crowded) == (0, 0)

    rig.run(body())
