"""Messages of a real OctoPrint 1.11.8, recorded by record.py."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "recordings" / "octoprint"
VERSION = "1.11.8"


@cache
def rest() -> dict[str, Any]:
    """Answers by "moment: target"."""
    reported: dict[str, Any] = json.loads((FOLDER / f"{VERSION}-rest.json").read_text())
    return reported


@cache
def pushed() -> list[dict[str, Any]]:
    """Messages of the push channel, through warming up, printing, a pause, a cancel, a whole
    print, a fault, and two disconnections."""
    lines = (FOLDER / f"{VERSION}-push.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


MOMENTS = (
    *("idle", "warming up", "printing", "paused", "resumed", "cancelled", "complete"),
    *("fault", "connected again", "disconnected"),
)
