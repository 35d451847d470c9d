"""The printer's status as the JSON that its pages and apps read."""

from printreach.printers.simulated.model.printer import SimulatedPrinter

_CONSOLE_LINES = 12


def report_status(printer: SimulatedPrinter, speed: float) -> dict[str, object]:
    """Unknown is null. Rounded to what a person can tell apart, so that less is no news.

    Temps: in °C; a target of 0 is off. Console: the latest lines, oldest first; Number counts all
    lines, so that a reader sees the new.
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
