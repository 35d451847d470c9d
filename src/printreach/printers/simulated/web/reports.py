"""The printer's status and files as the JSON that its pages and apps read."""

import json
from collections.abc import Iterable

from printreach.printers.simulated.files import Entry
from printreach.printers.simulated.model.machine import Message
from printreach.printers.simulated.model.printer import SimulatedPrinter
from printreach.printers.simulated.model.program import HeaterName
from printreach.printers.simulated.model.status import Status

_CONSOLE_LINES = 12


def encode(value: object) -> bytes:
    """JSON without blanks; letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def report_status(printer: SimulatedPrinter, speed: float) -> dict[str, object]:
    """Unknown is null. Rounded to what a person can tell apart, so that less is no news."""
    status = printer.status()
    time_left_s, filament_total_mm = status.time_left_s, status.filament_total_mm
    return {
        "State": status.state.value,
        "SubState": status.sub_state,
        "Error": status.error,
        "FileName": status.file_name,
        "Progress": round(status.progress, 1),
        "DurationSec": int(status.duration_s),
        "TimeLeftSec": None if time_left_s is None else round(time_left_s),
        "CurrentLayer": status.current_layer,
        "TotalLayers": status.total_layers,
        "FilamentUsedMm": round(status.filament_mm),
        "FilamentTotalMm": None if filament_total_mm is None else round(filament_total_mm),
        "Temps": _temps(status),
        "Position": {axis: round(v, 1) for axis, v in zip("XYZ", status.position, strict=True)},
        "FanPercent": status.fan_percent,
        "LightOn": status.light_is_on,
        "Failure": status.failure.value,
        "Speed": speed,
        "Console": _console(printer.machine.console),
    }


def report_files(entries: Iterable[Entry]) -> list[dict[str, object]]:
    return [_file(entry) for entry in entries]


def _file(entry: Entry) -> dict[str, object]:
    facts: dict[str, object] = {
        "Type": "file" if entry.children is None else "folder",
        "Name": entry.name,
        "Path": entry.path,
        "ModifiedTimeSec": round(entry.modified_s, 3),
    }
    if entry.children is None:
        return facts | {"SizeBytes": entry.size_bytes}
    return facts | {"Children": report_files(entry.children)}


def _temps(status: Status) -> dict[str, float]:
    """In °C; a target of 0 is off."""
    temps = {}
    for heater in HeaterName:
        name, temperature = heater.value.capitalize(), status.temperatures[heater]
        temps[f"{name}Actual"] = round(temperature.actual_c, 1)
        temps[f"{name}Target"] = temperature.target_c
    return temps


def _console(messages: Iterable[Message]) -> list[dict[str, object]]:
    """Return the latest lines, oldest first.

    Number counts all lines, so that a reader sees the new.
    """
    latest = list(messages)[-_CONSOLE_LINES:]
    return [{"Number": line.number, "Text": line.text, "IsError": line.is_error} for line in latest]
