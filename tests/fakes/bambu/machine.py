"""The fake printer's behaviour without its network. Its time is given to it."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

Json = dict[str, Any]

ROOM_C = 25.0
HEATS_C_PER_S = 200.0
STARTS_S = 0.2
MARK = re.compile(rb";[ ]*(seconds|hotend|bed)[ ]+(\d+)")
FILE_MISSING = 0x05004003

MODULES = [
    {
        "name": "ota",
        "sw_ver": "01.07.00.00",
        "hw_ver": "OTA",
        "sn": "",
        "product_name": "Bambu Lab P1S",
    },
    {"name": "esp32", "sw_ver": "01.11.30.55", "hw_ver": "AP04", "project_name": "C12", "sn": ""},
    {"name": "mc", "sw_ver": "00.01.40.00", "hw_ver": "MC02", "sn": ""},
]
TRAY: Json = {
    "id": "0",
    "tray_type": "PLA",
    "tray_sub_brands": "PLA Basic",
    "tray_id_name": "A00-G6",
    "tray_color": "00ae42FF",
    "remain": 64,
    "tag_uid": "A1B2C3D4E5F60100",
    "tray_uuid": "0123456789ABCDEF0123456789ABCDEF",
    "tray_info_idx": "GFA00",
    "nozzle_temp_min": "190",
    "nozzle_temp_max": "230",
    "k": 0.02,
    "n": 1.0,
    "cali_idx": -1,
    "tray_weight": "1000",
    "tray_diameter": "1.75",
    "tray_temp": "55",
    "tray_time": "8",
    "bed_temp_type": "1",
    "bed_temp": "35",
    "xcam_info": "000000000000000000000000",
    "cols": ["00AE42FF"],
}
UNTAGGED = {"tag_uid": "0000000000000000", "tray_uuid": "0" * 32, "remain": -1}
AMS: Json = {
    "ams": [
        {
            "id": "0",
            "humidity": "4",
            "humidity_raw": "38",
            "temp": "24.5",
            "temperature": 24.5,
            "dry_time": 0,
            "tray": [
                TRAY,
                {**TRAY, **UNTAGGED, "id": "1", "tray_type": "PETG", "tray_color": "FF6A13FF"},
                {"id": "2"},
                {**TRAY, "id": "3", "tray_color": "000000FF"},
            ],
        }
    ],
    "ams_exist_bits": "1",
    "tray_exist_bits": "b",
    "tray_is_bbl_bits": "9",
    "tray_now": "255",
    "tray_tar": "255",
    "tray_pre": "255",
    "version": 4,
}


class Machine:
    """A P1S. read: a file of the card; None where there is none. is_silent: it only listens."""

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self.refuses_unsigned = False
        self.is_silent = False
        self.heard: list[Json] = []
        self.reset()

    def reset(self) -> None:
        """As it is when it has been switched on."""
        self.report = _at_rest()
        self._told: Json = {}
        self._left_s = 0.0
        self._total_s = 1.0
        self._heats = (0, 0)
        self._starting_s = self._age_s = 0.0
        self.refuses_unsigned = self.is_silent = False
        self.ignores: set[str] = set()  # G-code that it does not take from the network
        self.heard.clear()

    # --- what it says -----------------------------------------------------------------------------

    def full(self) -> Json:
        self._told = deepcopy(self.report)
        return {"print": {**self.report, "command": "push_status", "msg": 0, "sequence_id": "1"}}

    def changes(self) -> Json | None:
        """Return the changes since the last call, as P1 printers push them."""
        new = {key: value for key, value in self.report.items() if self._told.get(key) != value}
        if not new:
            return None
        self._told = deepcopy(self.report)
        return {"print": {**new, "command": "push_status", "msg": 1, "sequence_id": "2"}}

    # --- what it is told --------------------------------------------------------------------------

    def hear(self, message: object) -> list[Json]:
        """Its answers."""
        if not isinstance(message, dict):
            return []
        answers = []
        for part, order in message.items():
            if isinstance(order, dict):
                self.heard.append({part: order})
                if not self.is_silent:
                    answers += self._answers(part, order)
        return answers

    def _answers(self, part: str, order: Json) -> list[Json]:
        command = str(order.get("command", "ledctrl" if "led_mode" in order else ""))
        if part == "info" and command == "get_version":
            return [{"info": {**order, "module": MODULES, "result": "success"}}]
        if part == "pushing" and command == "pushall":
            return [self.full()]
        if part in ("print", "system") and self.refuses_unsigned:
            return [{part: {**order, "result": "failed", "reason": "mqtt message verify failed"}}]
        why = self._obey(command, order)
        result = {"result": "success", "reason": "success"}
        if why is not None:
            result = {"result": "failed", "reason": why}
        return [{part: {**order, **result}}]

    def _obey(self, command: str, order: Json) -> str | None:
        """Return the reason of the refusal."""
        match command:
            case "pause" if self.state == "RUNNING":
                self.report.update(gcode_state="PAUSE", stg_cur=16, print_error=0x03008001)
            case "resume" if self.state == "PAUSE":
                self.report.update(gcode_state="RUNNING", stg_cur=0, print_error=0)
            case "stop" if self.state in ("RUNNING", "PAUSE", "PREPARE"):
                self.end("FAILED", 0x0300400C)
            case "project_file":
                return self._start(str(order.get("url", "")).removeprefix("ftp://"), order)
            case "gcode_file":
                return self._start(str(order.get("param", "")), order)
            case "gcode_line":
                return self._carry_out(str(order.get("param", "")))
            case "ledctrl":
                light = {
                    "node": order.get("led_node", "chamber_light"),
                    "mode": order.get("led_mode"),
                }
                self.report["lights_report"] = [light]
            case "print_speed":
                self.report["spd_lvl"] = int(order.get("param", 2))
            case _:
                return "not possible in this state"
        return None

    def _start(self, path: str, order: Json) -> str | None:
        data = self._read(path.lstrip("/"))
        if data is None:
            return "the file does not exist"
        marks = {key: int(value) for key, value in MARK.findall(data[:4096])}
        self._total_s = self._left_s = float(marks.get(b"seconds", 5))
        self._heats = marks.get(b"hotend", 0), marks.get(b"bed", 0)
        self._starting_s = STARTS_S
        name = path.rpartition("/")[2]
        self.report.update(
            gcode_state="PREPARE",
            stg_cur=2,
            print_error=0,
            gcode_file=path.lstrip("/"),
            subtask_name=str(order.get("subtask_name", name)),
            task_id=str(int(self.report["task_id"]) + 1),
        )
        return None

    def _carry_out(self, gcode: str) -> str | None:
        for line in gcode.splitlines():
            word, _, rest = line.strip().partition(" ")
            number = re.search(r"S(-?[\d.]+)", rest)
            if word in self.ignores:
                continue
            if word in ("M104", "M109") and number:
                self.report["nozzle_target_temper"] = float(number[1])
            elif word in ("M140", "M190") and number:
                self.report["bed_target_temper"] = float(number[1])
        return None

    # --- what happens by itself -------------------------------------------------------------------

    @property
    def state(self) -> str:
        return str(self.report["gcode_state"])

    def end(self, state: str, error: int = 0) -> None:
        self.report.update(gcode_state=state, stg_cur=255, print_error=error)
        self.report.update(nozzle_target_temper=0.0, bed_target_temper=0.0)

    def pass_time(self, seconds: float) -> None:
        for actual, target in (
            ("nozzle_temper", "nozzle_target_temper"),
            ("bed_temper", "bed_target_temper"),
        ):
            wanted = max(ROOM_C, self.report[target])
            step = max(
                -HEATS_C_PER_S * seconds, min(HEATS_C_PER_S * seconds, wanted - self.report[actual])
            )
            self.report[actual] = round(self.report[actual] + step, 2)
        self._age_s += seconds
        self.report["wifi_signal"] = f"-{44 + int(self._age_s) % 3}dBm"  # never quite silent
        if self.state == "PREPARE":
            self._prepare(seconds)
        elif self.state == "RUNNING":
            self._print(seconds)

    def _prepare(self, seconds: float) -> None:
        self._starting_s -= seconds
        if self._starting_s > 0:
            return
        hotend, bed = self._heats
        self.report.update(nozzle_target_temper=float(hotend), bed_target_temper=float(bed))
        self.report.update(gcode_state="RUNNING", stg_cur=0)
        self._print(0.0)

    def _print(self, seconds: float) -> None:
        self._left_s = max(0.0, self._left_s - seconds)
        done = 1.0 - self._left_s / self._total_s
        self.report.update(
            mc_percent=int(100 * done),
            mc_remaining_time=int(self._left_s // 60),
            layer_num=int(20 * done),
            total_layer_num=20,
        )
        if self._left_s <= 0:
            self.end("FINISH")


def _at_rest() -> Json:
    """A whole report: more than 40 keys."""
    report: Json = {
        "gcode_state": "IDLE",
        "stg_cur": 255,
        "stg": [],
        "mc_percent": 0,
        "mc_remaining_time": 0,
        "mc_print_stage": "1",
        "mc_print_sub_stage": 0,
        "mc_print_error_code": "0",
        "mc_print_line_number": "0",
        "print_error": 0,
        "print_type": "local",
        "print_gcode_action": 0,
        "print_real_action": 0,
        "layer_num": 0,
        "total_layer_num": 0,
        "subtask_name": "",
        "gcode_file": "",
        "gcode_file_prepare_percent": "0",
        "project_id": "0",
        "profile_id": "0",
        "task_id": "0",
        "subtask_id": "0",
        "job_id": "0",
        "nozzle_temper": ROOM_C,
        "nozzle_target_temper": 0.0,
        "bed_temper": ROOM_C,
        "bed_target_temper": 0.0,
        "chamber_temper": 5.0,
        "nozzle_diameter": "0.4",
        "nozzle_type": "hardened_steel",
        "fan_gear": 0,
        "cooling_fan_speed": "0",
        "big_fan1_speed": "0",
        "big_fan2_speed": "0",
        "heatbreak_fan_speed": "0",
        "spd_lvl": 2,
        "spd_mag": 100,
        "wifi_signal": "-44dBm",
        "home_flag": 6406552,
        "hw_switch_state": 1,
        "sdcard": True,
        "force_upgrade": False,
        "lifecycle": "product",
        "online": {"ahb": False, "rfid": False, "version": 7},
        "upload": {"status": "idle", "progress": 0, "message": ""},
        "xcam": {"buildplate_marker_detector": False},
        "ipcam": {"ipcam_dev": "1", "ipcam_record": "enable", "timelapse": "disable"},
        "lights_report": [{"node": "chamber_light", "mode": "off"}],
        "hms": [],
        "ams": AMS,
        "vt_tray": {**TRAY, **UNTAGGED, "id": "254", "tray_type": "", "tray_color": "00000000"},
    }
    copy: Json = json.loads(json.dumps(report))
    return copy
