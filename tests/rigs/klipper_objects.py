"""The reports of a Klipper printer's objects: one extruder, a heated bed, not yet used.

Source of the names: Klipper's Status Reference.
"""

import os
from pathlib import Path
from typing import Any

Status = dict[str, dict[str, Any]]

ROOM_C = 22.0
MIN_EXTRUDE_C = 50.0
HEATER = {"temperature": ROOM_C, "target": 0.0, "power": 0.0}


def fresh_objects(gcodes: Path) -> Status:
    """A fresh printer with one extruder and a heated bed."""
    here = [0.0, 0.0, 0.0, 0.0]
    return {
        "webhooks": {"state": "ready", "state_message": "Printer is ready"},
        "configfile": {
            "config": {"virtual_sdcard": {"path": os.fspath(gcodes)}},
            "settings": {"extruder": {"nozzle_diameter": 0.4, "min_extrude_temp": MIN_EXTRUDE_C}},
            "warnings": [],
            "save_config_pending": False,
        },
        "print_stats": {
            "filename": "",
            "total_duration": 0.0,
            "print_duration": 0.0,
            "filament_used": 0.0,
            "state": "standby",
            "message": "",
            "info": {"total_layer": None, "current_layer": None},
        },
        "virtual_sdcard": {
            "file_path": None,
            "progress": 0.0,
            "is_active": False,
            "file_position": 0,
            "file_size": 0,
        },
        "pause_resume": {"is_paused": False},
        "display_status": {"progress": 0.0, "message": None},
        "gcode_move": {
            "speed_factor": 1.0,
            "speed": 1500.0,
            "extrude_factor": 1.0,
            "absolute_coordinates": True,
            "absolute_extrude": True,
            "homing_origin": here,
            "position": here,
            "gcode_position": here,
        },
        "toolhead": {"homed_axes": "", "position": here, "extruder": "extruder"},
        "idle_timeout": {"state": "Ready", "printing_time": 0.0},
        "heaters": {"available_heaters": ["heater_bed", "extruder"], "available_sensors": []},
        "extruder": {**HEATER, "can_extrude": False, "pressure_advance": 0.0},
        "heater_bed": dict(HEATER),
    }
