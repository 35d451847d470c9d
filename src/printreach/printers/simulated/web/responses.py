"""The JSON with which the printer's web server answers."""

import msgspec

from printreach.http1.messages import Answer
from printreach.printers.simulated.model.printer import SimulatedPrinter

NOT_STORED = (b"Cache-Control", b"no-store")
_CONSOLE_LINES = 12


def json_answer(value: object, status: int = 200) -> Answer:
    headers = [(b"Content-Type", b"application/json"), NOT_STORED]
    return Answer(status=status, headers=headers, body=msgspec.json.encode(value))


def error_answer(status: int, sentence: str) -> Answer:
    return json_answer({"Error": sentence}, status)


def wrong_method(allowed: bytes) -> Answer:
    answer = error_answer(405, "This address doesn't take that method.")
    answer.headers.append((b"Allow", allowed))
    return answer


def report_status(printer: SimulatedPrinter, speed: float) -> dict[str, object]:
    """Return the printer's status for its pages and apps.

    Unknown is null. Rounded to what a person can tell apart, so that smaller changes are no news.
    Temps: in °C; a target of 0 is off. Console: the latest lines, oldest first; Number counts all
    lines, so that a reader sees which are new.
    """
    machine = printer.machine
    temps = {}
    for heater_name, heater in machine.heaters.items():
        temps[f"{heater_name.value.capitalize()}Actual"] = round(heater.actual_c, 1)
        temps[f"{heater_name.value.capitalize()}Target"] = heater.target_c
    console = list(machine.console)[-_CONSOLE_LINES:]
    return {
        "State": printer.state.value,
        "SubState": printer.sub_state,
        "Error": printer.error,
        "FileName": printer.file_name,
        "Progress": round(printer.progress, 1),
        "DurationSec": int(printer.duration_s),
        "TimeLeftSec": _rounded(printer.time_left_s),
        "CurrentLayer": printer.current_layer,
        "TotalLayers": printer.total_layers,
        "FilamentUsedMm": round(printer.filament_mm),
        "FilamentTotalMm": _rounded(printer.filament_total_mm),
        "Temps": temps,
        "Position": {axis: round(v, 1) for axis, v in zip("XYZ", machine.position, strict=True)},
        "FanPercent": machine.fan_percent,
        "LightOn": machine.light_is_on,
        "Failure": machine.failure.value,
        "Speed": speed,
        "Console": [{"Number": m.number, "Text": m.text, "IsError": m.is_error} for m in console],
    }


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)
