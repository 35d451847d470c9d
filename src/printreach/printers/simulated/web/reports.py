"""The printer's status as the JSON that its pages and apps read."""

from printreach.printers.simulated.model.printer import SimulatedPrinter
from printreach.printers.simulated.model.program import HeaterName
from printreach.printers.simulated.model.status import Status

_CONSOLE_LINES = 12


def report_status(printer: SimulatedPrinter, speed: float) -> dict[str, object]:
    """Unknown is null. Rounded to what a person can tell apart, so that less is no news.

    Console: the latest lines, oldest first. Number counts all lines, so that a reader sees the new.
    """
    status = printer.status()
    console = list(printer.machine.console)[-_CONSOLE_LINES:]
    return {
        "State": status.state.value,
        "SubState": status.sub_state,
        "Error": status.error,
        "FileName": status.file_name,
        "Progress": round(status.progress, 1),
        "DurationSec": int(status.duration_s),
        "TimeLeftSec": _rounded(status.time_left_s),
        "CurrentLayer": status.current_layer,
        "TotalLayers": status.total_layers,
        "FilamentUsedMm": round(status.filament_mm),
        "FilamentTotalMm": _rounded(status.filament_total_mm),
        "Temps": _temps(status),
        "Position": {axis: round(v, 1) for axis, v in zip("XYZ", status.position, strict=True)},
        "FanPercent": status.fan_percent,
        "LightOn": status.light_is_on,
        "Failure": status.failure.value,
        "Speed": speed,
        "Console": [{"Number": m.number, "Text": m.text, "IsError": m.is_error} for m in console],
    }


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _temps(status: Status) -> dict[str, float]:
    """In °C; a target of 0 is off."""
    temps = {}
    for heater in HeaterName:
        name, temperature = heater.value.capitalize(), status.temperatures[heater]
        temps[f"{name}Actual"] = round(temperature.actual_c, 1)
        temps[f"{name}Target"] = temperature.target_c
    return temps
