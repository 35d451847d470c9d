"""Answers of a real PrusaLink 0.8.1, recorded by record.py, and answers of Buddy's firmware.

The latter is composed by hand: the fields of its published source (`status_renderer.cpp`,
`basic_gets.cpp`, `file_info.cpp`) and of answers that people have published, with values of ours.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "recordings" / "prusalink"

MOMENTS = (
    *("idle", "starting", "printing", "paused", "resumed", "stopped", "idle again"),
    *("printing what was sliced", "finished", "idle at last", "printing once more", "fault"),
)


@cache
def recorded() -> dict[str, Any]:
    """Answers of 0.8.1 by "moment: target"."""
    return _read("0.8.1")


@cache
def buddy() -> dict[str, Any]:
    """Answers of Buddy's firmware by "moment: target"."""
    return _read("buddy-composed")


def _read(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return read
