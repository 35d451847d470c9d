"""Answers of a Duet as its sources have them; none was captured, as the file says."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FILE = Path(__file__).parents[1] / "recordings" / "duet" / "3.5-documented.json"


@cache
def answers() -> Json:
    reported: Json = json.loads(FILE.read_text())
    return reported


def model(status: str = "processing", **job: object) -> Json:
    """The whole model of a print under way, in this status, and with this told of the job."""
    whole: Json = deepcopy(answers()["whole"])
    whole["state"]["status"] = status
    whole["job"] |= job
    return whole


def at_rest(status: str = "idle", **job: object) -> Json:
    """As after a job: what was told of its course is null."""
    reported: Json = {"duration": None, "filePosition": 0, "layer": None, "warmUpDuration": None}
    reported |= {"lastDuration": 9800, "timesLeft": {}}
    file: Json = {"filament": [], "fileName": None, "numLayers": 0, "size": 0}
    return model(status, **{**reported, "file": file, **job})
