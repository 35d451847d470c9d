"""A client that is not ours on the fake Duet, which is so held to more than our reading."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.duet.printer import fake_duet
from tests.rigs.peers import peer_program

pytestmark = [pytest.mark.peer, pytest.mark.slow]

CALLS = Path(__file__).with_name("duetwebapi_calls.py")
CALLS_S = 60.0
PRINTED: dict[str, Any] = {
    "idle": "idle",
    "tools": 2,
    "upload": 0,
    "names": ["other client.gcode"],
    "size": 18,
    "data": "; seconds 600\nG28\n",
    "printing": "processing",
    "refused": "Error: Pause the print before attempting to cancel it",
    "paused": "paused",
    "resumed": "processing",
    "stopped": "idle",
    "deleted": 0,
}


def test_duetwebapi_prints_on_the_fake_board() -> None:
    reported = asyncio.run(_what_it_tells(has_sbc=False))

    assert reported == {"api": "DWC_REST", "connect": 0, **PRINTED}


def test_duetwebapi_prints_on_the_fake_board_with_dsf() -> None:
    reported = asyncio.run(_what_it_tells(has_sbc=True))

    assert reported == {"api": "DSF_REST", **PRINTED}


async def _what_it_tells(*, has_sbc: bool) -> dict[str, Any]:
    python = peer_program("duet", "python")
    async with fake_duet(has_sbc=has_sbc) as fake, asyncio.timeout(CALLS_S):
        client = await asyncio.create_subprocess_exec(
            python,
            CALLS,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        asked = {"url": f"http://127.0.0.1:{fake.port}"}
        out, err = await client.communicate(json.dumps(asked).encode())
    assert client.returncode == 0, err.decode()
    reported: dict[str, Any] = json.loads(out.splitlines()[-1])
    return reported
