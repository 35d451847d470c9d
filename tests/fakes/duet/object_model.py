"""The machine as RepRapFirmware's object model: whole, or what changes all the time."""

from typing import Any

from tests.fakes.duet.machine import COLD_EXTRUDE_C, LAYERS, Machine

Json = dict[str, Any]

LIVE: dict[str, tuple[str, ...]] = {
    "boards": ("mcuTemp",),
    "fans": ("actualValue", "requestedValue"),
    "heat": ("heaters",),
    "job": ("duration", "filePosition", "layer", "pauseDuration", "timesLeft", "warmUpDuration"),
    "move": ("axes", "extruders", "speedFactor"),
    "sensors": ("filamentMonitors",),
    "state": ("currentTool", "msUpTime", "status", "upTime"),
    "tools": ("active", "standby", "state"),
}
"""The fields that the flag `f` leaves, of those here."""


def whole(machine: Machine, *, is_dsf: bool) -> Json:
    """Without seqs. is_dsf: with what only DSF knows."""
    return {
        "boards": [_board()],
        "heat": _heat(machine),
        "job": _job(machine, is_dsf=is_dsf),
        "fans": [{"actualValue": machine.fan_share, "requestedValue": machine.fan_share}],
        "move": _move(machine),
        "sensors": {"filamentMonitors": [{"status": "ok", "type": "simple"}, None]},
        "state": _state(machine),
        "tools": [_tool(machine, 0), _tool(machine, 1)],
    }


def live(model: Json) -> Json:
    reported: Json = {}
    for key, fields in LIVE.items():
        part = model[key]
        reported[key] = (
            [_only(one, fields) for one in part] if isinstance(part, list) else _only(part, fields)
        )
    return reported


def rest(model: Json) -> Json:
    """The keys that are not live: a change counts up the key's number."""
    reported: Json = {}
    for key, fields in LIVE.items():
        part = model[key]
        parts = part if isinstance(part, list) else [part]
        reported[key] = [{name: one[name] for name in one if name not in fields} for one in parts]
    return reported


def _only(part: Json, fields: tuple[str, ...]) -> Json:
    return {name: part[name] for name in fields if name in part}


def _board() -> Json:
    return {
        "firmwareName": "RepRapFirmware for Duet 2 WiFi/Ethernet",
        "firmwareVersion": "3.5.4",
        "name": "Duet 2 WiFi",
        "shortName": "2WiFi",
        "mcuTemp": {"current": 34.1},
    }


def _heat(machine: Machine) -> Json:
    return {
        "bedHeaters": [0, -1, -1, -1],
        "chamberHeaters": [-1, -1],
        "coldExtrudeTemperature": COLD_EXTRUDE_C,
        "coldRetractTemperature": 90.0,
        "heaters": [
            {
                "active": heater.active,
                "current": round(heater.current, 1),
                "max": 285.0,
                "standby": heater.standby,
                "state": heater.state,
            }
            for heater in machine.heaters
        ],
    }


def _job(machine: Machine, *, is_dsf: bool) -> Json:
    job = machine.job
    reported: Json = {
        "duration": None,
        "file": {"filament": [], "fileName": None, "numLayers": 0, "printTime": None, "size": 0},
        "filePosition": 0,
        "lastDuration": None,
        "lastFileName": machine.last_path,
        "layer": None,
        "pauseDuration": None,
        "timesLeft": {"filament": None, "file": None, "layer": None, "slicer": None},
        "warmUpDuration": None,
    }
    if is_dsf:
        reported |= {"lastFileAborted": False, "lastFileCancelled": machine.was_cancelled}
        reported |= {"lastFileSimulated": False}
    if job is None:
        return reported | {
            "lastDuration": None if machine.last_s is None else round(machine.last_s)
        }
    return reported | {
        "duration": round(job.printed_s + job.warmed_s),
        "file": {
            "filament": [1234.5, 67.0],
            "fileName": job.path,
            "layerHeight": 0.2,
            "numLayers": LAYERS,
            "printTime": round(job.total_s),
            "size": job.size,
        },
        "filePosition": int(job.size * job.share),
        "layer": int(LAYERS * job.share) or None,
        "pauseDuration": round(job.paused_s),
        "timesLeft": {
            "filament": None,
            "file": None,
            "layer": None,
            "slicer": max(1, round(job.total_s - job.printed_s)),
        },
        "warmUpDuration": round(job.warmed_s),
    }


def _move(machine: Machine) -> Json:
    flow = [percent / 100 for percent in machine.flow_percent]
    return {
        "axes": [
            {
                "babystep": machine.babystep_mm if letter == "Z" else 0.0,
                "homed": True,
                "letter": letter,
                "machinePosition": 0.0,
            }
            for letter in "XYZ"
        ],
        "extruders": [
            {"factor": flow[0], "filament": "PLA red", "position": 0.0},
            {"factor": flow[1], "filament": "", "position": 0.0},
        ],
        "speedFactor": machine.speed_percent / 100,
    }


def _state(machine: Machine) -> Json:
    return {
        "currentTool": machine.current_tool,
        "displayMessage": "",
        "machineMode": "FFF",
        "messageBox": machine.message,
        "msUpTime": 17,
        "status": machine.status,
        "upTime": int(machine.up_s),
    }


def _tool(machine: Machine, number: int) -> Json:
    heater = machine.heaters[number + 1]
    return {
        "active": [heater.active],
        "extruders": [number],
        "heaters": [number + 1],
        "name": "",
        "number": number,
        "standby": [heater.standby],
        "state": {"active": "active", "standby": "standby"}.get(heater.state, "off"),
    }
