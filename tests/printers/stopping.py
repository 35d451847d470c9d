"""An adapter is stopped at the worst moment: as the broker of its printer answers it."""

import asyncio
from pathlib import Path

import aiomqtt
import pytest

from tests.printers.bench import TEST_S, machine
from tests.printers.rig import PrinterRig


async def ends_when_stopped_as_a_broker_answers(
    rig: PrinterRig, data_dir: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """turns: of the event loop, from the answer to the moment at which it is stopped."""
    hear = aiomqtt.Client._on_subscribe

    def stop_after(left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(stop_after, left - 1)
        else:
            running.cancel()

    def hear_and_stop(client: aiomqtt.Client, *said: object) -> None:
        hear(client, *said)  # type: ignore[arg-type]  # as they came
        stop_after(turns)

    monkeypatch.setattr(aiomqtt.Client, "_on_subscribe", hear_and_stop)
    running = asyncio.create_task(rig.make(machine(rig, data_dir)).run())
    async with asyncio.timeout(TEST_S):
        await asyncio.wait({running})

    assert running.cancelled()
