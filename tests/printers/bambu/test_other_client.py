"""A client that is not ours on the fake printer, which is so held to more than our reading."""

import asyncio
import json
from typing import Any

import pytest

from tests.fakes.bambu.broker import ACCESS_CODE
from tests.fakes.bambu.printer import SERIAL
from tests.printers.bambu.rig import BambuRig
from tests.rigs.peers import ROOT, peer_program

pytestmark = [pytest.mark.peer, pytest.mark.slow]

CALLS_S = 60.0


def test_bambulabs_api_prints_on_the_fake_printer(rig: BambuRig) -> None:
    reported = asyncio.run(_what_it_tells(rig))

    assert reported == {
        "idle": "IDLE",
        "light": "on",
        "tray": ["PLA", "00ae42FF", "PLA Basic"],
        "upload": "226 Transfer complete.",
        "listed": True,
        "printing": "RUNNING",
        "layers": 20,
        "paused": "PAUSE",
        "resumed": "RUNNING",
        "stopped": "FAILED",
        "picture": "ffd8",
    }


async def _what_it_tells(rig: BambuRig) -> dict[str, Any]:
    async with rig.open(), asyncio.timeout(CALLS_S):
        client = await asyncio.create_subprocess_exec(
            peer_program("bambu", "python"),
            ROOT / "tests/rigs/bambulabs_calls.py",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        asked = {
            "port": rig.fake.broker.port,
            "file_port": rig.fake.card.port,
            "camera_port": rig.fake.camera_port,
            "serial": SERIAL,
            "access_code": ACCESS_CODE,
        }
        out, err = await client.communicate(json.dumps(asked).encode())
    assert client.returncode == 0, err.decode()
    reported: dict[str, Any] = json.loads(out.splitlines()[-1])
    return reported
