"""Answers of a real Moonraker 0.11.0 with the simulated Klipper, recorded by record.py."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from printreach.printers.moonraker.entries import metadata_of
from printreach.printers.moonraker.machine import machine_of, power_lights
from printreach.printers.moonraker.status import KnownState, with_changes

FOLDER = Path(__file__).parents[1] / "recordings" / "moonraker"
VERSION = "0.11.0"
SLICED = "server.files.metadata parts/sliced part.gcode"


@cache
def answers() -> dict[str, Any]:
    """Results of calls, by method and arguments."""
    reported: dict[str, Any] = json.loads((FOLDER / f"{VERSION}-answers.json").read_text())
    return reported


@cache
def pushed() -> list[dict[str, Any]]:
    """Notifications, through a print that is paused, resumed and cancelled, a whole one, one that
    fails, a reset, a shutdown, a restart, and Klipper's end."""
    lines = (FOLDER / f"{VERSION}-pushed.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def statuses() -> list[Any]:
    """The changes of Klipper's objects among them."""
    return [
        reported["params"][0]
        for reported in pushed()
        if reported["method"] == "notify_status_update"
    ]


def at_first(*, sliced: bool = True) -> KnownState:
    """The known state after Klipper's answer. sliced: of the file that is printed, too."""
    known = KnownState(
        machine=machine_of(answers()["printer.objects.list"]["objects"]),
        power=power_lights(answers()["machine.device_power.devices"]),
    )
    known = with_changes(known, answers()["printer.objects.subscribe"]["status"])
    return with_metadata(known) if sliced else known


def with_metadata(known: KnownState) -> KnownState:
    return replace(known, metadata=metadata_of(answers()[SLICED]))


def through(known: KnownState) -> list[KnownState]:
    """After each change that was recorded."""
    seen = []
    for status in statuses():
        known = with_changes(known, status)
        seen.append(known)
    return seen
