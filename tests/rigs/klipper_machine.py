"""Klipper's handling of G-code, as seen by Moonraker and its clients. No sockets here.

The words of its errors are Klipper's own, so that what people read is tested with the real ones.
Heaters are hot within a second; moves take their time.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.rigs.klipper_gcode import GcodeRefused, Params, extended, lines_from
from tests.rigs.klipper_objects import MIN_EXTRUDE_C, ROOM_C, Status, fresh_objects

HEAT_C_PER_S = 150.0
MAX_C = {"extruder": 300.0, "extruder1": 300.0, "heater_bed": 130.0, "chamber": 80.0}
MAX_EXTRUDE_ONLY_MM = 50.0  # what Klipper has by itself
REACH_MM = {"x": (0.0, 220.0), "y": (0.0, 220.0), "z": (0.0, 250.0)}
_G = re.compile(r"([A-Z])(-?[0-9]*\.?[0-9]+)")
_SUFFIXES = (".gcode", ".g", ".gco")


class KlipperMachine:
    """One printer. say: what its console hears. status(): what its objects report."""

    def __init__(self, gcodes: Path, say: Callable[[str], None], extra: Status) -> None:
        self._gcodes = gcodes
        self._say = say
        self._mutex = asyncio.Lock()  # one command at a time, printed or ordered
        self._ticked = asyncio.Event()
        self._printing: asyncio.Task[None] | None = None
        self._saved: dict[str, dict[str, Any]] = {}
        self._position = {"x": 0.0, "y": 0.0, "z": 0.0, "e": 0.0}
        self._e_offset = 0.0
        self._feed_mm_min = 1500.0
        self._move_s = 0.0
        self._init_s = 0.0
        self._paused_s = 0.0
        self.scripts: list[str] = []
        self.cooling_c_per_s = HEAT_C_PER_S
        self.objects = {**fresh_objects(gcodes), **extra}
        self._commands: dict[str, Callable[[Params], Awaitable[None] | None]] = {
            "SDCARD_PRINT_FILE": self._start,
            "SDCARD_RESET_FILE": self._reset_file,
            "PAUSE": self._pause,
            "RESUME": self._resume,
            "CANCEL_PRINT": self._cancel,
            "SET_HEATER_TEMPERATURE": self._set_heater,
            "SET_GCODE_OFFSET": self._set_offset,
            "SET_PIN": self._set_pin,
            "SET_LED": self._set_led,
            "SET_PRINT_STATS_INFO": self._set_info,
            "SAVE_GCODE_STATE": self._save_state,
            "RESTORE_GCODE_STATE": self._restore_state,
            "ACTIVATE_EXTRUDER": self._activate,
            "TEMPERATURE_WAIT": self._wait_for_minimum,
        }

    # --- what the protocol asks ---------------------------------------------------------------

    async def run(self, script: str) -> None:
        """Raises GcodeRefused."""
        self.scripts.append(script)
        async with self._mutex:
            for line in script.splitlines():
                await self._carry_out(line)

    async def be_busy(self, until: asyncio.Event) -> None:
        """As with a command that takes so long: others wait."""
        async with self._mutex:
            await until.wait()

    @property
    def is_busy(self) -> bool:
        """Whether a command is being executed."""
        return self._mutex.locked()

    def tick(self, seconds: float) -> None:
        """Time goes by."""
        for name, at in self.objects.items():
            if "target" in at and "temperature" in at:
                goal = max(at["target"], ROOM_C)
                change = goal - at["temperature"]
                most, least = HEAT_C_PER_S * seconds, -self.cooling_c_per_s * seconds
                at["temperature"] += max(least, min(most, change))
            if name.startswith("extruder"):
                at["can_extrude"] = at["temperature"] >= MIN_EXTRUDE_C
        self._count(seconds)
        ticked, self._ticked = self._ticked, asyncio.Event()
        ticked.set()

    def fail_print(self, message: str) -> None:
        """The print ends in a fault."""
        self._stop_printing()
        self._say(f"!! {message}")
        self._finish("error", message)

    def shut_down(self, message: str) -> None:
        """As M112 or a lost MCU does."""
        self._stop_printing()
        self.objects["webhooks"].update(state="shutdown", state_message=message)

    def close(self) -> None:
        self._stop_printing()

    # --- printing -----------------------------------------------------------------------------

    def _start(self, params: Params) -> None:
        name = params.get("FILENAME", "").removeprefix("/")
        path = self._gcodes / name
        if self.objects["virtual_sdcard"]["is_active"]:
            raise GcodeRefused("SD busy")
        if not path.is_file() or path.suffix.lower() not in _SUFFIXES:
            raise GcodeRefused("Unable to open file")
        self._reset_file({})
        size = path.stat().st_size
        self._say(f"File opened:{name} Size:{size}")
        self._say("File selected")
        self.objects["virtual_sdcard"].update(file_path=str(path), file_size=size)
        self.objects["print_stats"].update(filename=name, state="printing")
        self._go_on()

    def _go_on(self) -> None:
        self.objects["virtual_sdcard"]["is_active"] = True
        self._printing = asyncio.get_running_loop().create_task(self._print())

    async def _print(self) -> None:
        card = self.objects["virtual_sdcard"]
        for line in lines_from(Path(card["file_path"]), card["file_position"]):
            async with self._mutex:
                try:
                    await self._carry_out(line.decode())
                except GcodeRefused as refused:
                    self._printing = None
                    self.fail_print(str(refused))
                    return
            card["file_position"] += len(line)
            card["progress"] = card["file_position"] / card["file_size"]
            if self._printing is not asyncio.current_task():
                return  # the line was a pause
            if self._move_s:
                await asyncio.sleep(self._move_s)
        self._printing = None
        self._say("Done printing file")
        card.update(is_active=False)
        self._finish("complete")

    def _pause(self, _params: Params) -> None:
        if self.objects["pause_resume"]["is_paused"]:
            self._say("// Print already paused")
            return
        was_active = self.objects["virtual_sdcard"]["is_active"]
        self._stop_printing()
        self.objects["pause_resume"]["is_paused"] = True
        self._save_state({"NAME": "PAUSE_STATE"})
        if was_active:
            self.objects["print_stats"]["state"] = "paused"

    def _resume(self, _params: Params) -> None:
        if not self.objects["pause_resume"]["is_paused"]:
            self._say("// Print is not paused, resume aborted")
            return
        self._restore_state({"NAME": "PAUSE_STATE", "MOVE": "1"})
        self.objects["pause_resume"]["is_paused"] = False
        self.objects["print_stats"]["state"] = "printing"
        self._go_on()

    def _cancel(self, _params: Params) -> None:
        self._stop_printing()
        self.objects["pause_resume"]["is_paused"] = False
        if self.objects["virtual_sdcard"]["file_path"] is not None:
            self.objects["virtual_sdcard"].update(fresh_objects(self._gcodes)["virtual_sdcard"])
            self._finish("cancelled")

    def _reset_file(self, _params: Params) -> None:
        fresh = fresh_objects(self._gcodes)
        for name in ("virtual_sdcard", "print_stats"):
            self.objects[name].update(fresh[name])
        self._init_s = self._paused_s = 0.0

    def _stop_printing(self) -> None:
        task, self._printing = self._printing, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        self.objects["virtual_sdcard"]["is_active"] = False

    def _finish(self, state: str, message: str = "") -> None:
        self.objects["print_stats"].update(state=state, message=message)

    def _count(self, seconds: float) -> None:
        stats = self.objects["print_stats"]
        if stats["state"] not in ("printing", "paused"):
            return
        stats["total_duration"] += seconds
        if stats["state"] == "paused":
            self._paused_s += seconds
        if stats["filament_used"] < 1e-7:
            self._init_s = stats["total_duration"] - self._paused_s
        stats["print_duration"] = stats["total_duration"] - self._init_s - self._paused_s

    # --- single commands ----------------------------------------------------------------------

    async def _carry_out(self, line: str) -> None:
        self._move_s = 0.0
        line = line.partition(";")[0].strip()
        if not line:
            return
        name, _, rest = line.partition(" ")
        name = name.upper()
        if name in self._commands:
            done = self._commands[name](extended(rest))
            if done is not None:
                await done
        elif _G.match(name):
            await self._traditional(name, dict(_G.findall(rest.upper())), rest)
        else:
            self._say(f'// Unknown command:"{name}"')

    async def _traditional(self, name: str, params: Params, rest: str) -> None:
        move = self.objects["gcode_move"]
        match name:
            case "G0" | "G1":
                self._move(params)
            case "G4":
                self._move_s = float(params.get("P", "0")) / 1000
            case "G28":
                self._home(rest.upper())
            case "G90" | "G91":
                move["absolute_coordinates"] = name == "G90"
            case "M82" | "M83":
                move["absolute_extrude"] = name == "M82"
            case "G92":
                self._e_offset = self._position["e"] - float(params.get("E", "0"))
            case "M104" | "M109":
                await self._heat(self.objects["toolhead"]["extruder"], params, name == "M109")
            case "M140" | "M190":
                await self._heat("heater_bed", params, name == "M190")
            case "M117":
                self.objects["display_status"]["message"] = rest or None
            case "M220":
                move["speed_factor"] = float(params.get("S", "100")) / 100
            case "M221":
                move["extrude_factor"] = float(params.get("S", "100")) / 100
            case "M106" if "fan" in self.objects:
                self.objects["fan"]["speed"] = float(params.get("S", "255")) / 255
            case "M112":
                self.shut_down("Shutdown due to M112 command")
            case _:
                self._say(f'// Unknown command:"{name}"')

    def _home(self, axes: str) -> None:
        homed = {axis for axis in "xyz" if axis.upper() in axes} or set("xyz")
        known = set(self.objects["toolhead"]["homed_axes"]) | homed
        self.objects["toolhead"]["homed_axes"] = "".join(sorted(known))
        self._position.update(dict.fromkeys(homed, 0.0))
        self._tell_position()

    def _move(self, params: Params) -> None:
        move, goal = self.objects["gcode_move"], dict(self._position)
        self._feed_mm_min = float(params.get("F", self._feed_mm_min))
        for axis in "xyz":
            if axis.upper() in params:
                value = float(params[axis.upper()])
                goal[axis] = value if move["absolute_coordinates"] else goal[axis] + value
        if "E" in params:
            value = float(params["E"])
            is_absolute = move["absolute_extrude"] and move["absolute_coordinates"]
            goal["e"] = value + self._e_offset if is_absolute else goal["e"] + value
        self._require_reachable(goal)
        self._go(goal)

    def _require_reachable(self, goal: dict[str, float]) -> None:
        homed = self.objects["toolhead"]["homed_axes"]
        for axis, (least, most) in REACH_MM.items():
            if goal[axis] == self._position[axis]:
                continue
            if axis not in homed:
                raise GcodeRefused(f"Must home axis first: {_shown(goal)}")
            if not least <= goal[axis] <= most:
                raise GcodeRefused(f"Move out of range: {_shown(goal)}")
        extruder = self.objects["toolhead"]["extruder"]
        if goal["e"] != self._position["e"] and not self.objects[extruder]["can_extrude"]:
            raise GcodeRefused(
                "Extrude below minimum temp\nSee the 'min_extrude_temp' config option for details"
            )
        length = abs(goal["e"] - self._position["e"])
        if length > MAX_EXTRUDE_ONLY_MM and all(goal[at] == self._position[at] for at in REACH_MM):
            too_long = f"({length:.3f}mm vs {MAX_EXTRUDE_ONLY_MM:.3f}mm)\nSee the"
            raise GcodeRefused(f"Extrude only move too long {too_long} 'max_extrude_only_distance'")

    def _go(self, goal: dict[str, float]) -> None:
        distance = max(abs(goal[axis] - self._position[axis]) for axis in goal)
        factor = self.objects["gcode_move"]["speed_factor"]
        self._move_s = distance / (self._feed_mm_min / 60 * factor)
        stats = self.objects["print_stats"]
        if stats["state"] == "printing":
            stats["filament_used"] += goal["e"] - self._position["e"]
        self._position = goal
        self._tell_position()

    def _tell_position(self) -> None:
        place = list(_xyze(self._position))
        self.objects["toolhead"]["position"] = place
        self.objects["gcode_move"].update(position=place, gcode_position=list(place))

    async def _heat(self, heater: str, params: Params, wait: bool) -> None:
        self._set_target(heater, float(params.get("S", "0")))
        if wait:
            await self._until_hot(heater, self.objects[heater]["target"])

    def _set_heater(self, params: Params) -> None:
        name = params.get("HEATER", "")
        keys = {key.rpartition(" ")[2]: key for key, at in self.objects.items() if "target" in at}
        if name not in keys:
            raise GcodeRefused(f"The value '{name}' is not valid for HEATER")
        self._set_target(keys[name], float(params.get("TARGET", "0")))

    def _set_target(self, key: str, target_c: float) -> None:
        most = MAX_C[key.rpartition(" ")[2]]
        if not 0 <= target_c <= most:
            raise GcodeRefused(f"Requested temperature ({target_c:.1f}) out of range (0.0:{most})")
        self.objects[key]["target"] = target_c

    async def _wait_for_minimum(self, params: Params) -> None:
        await self._until_hot(params["SENSOR"], float(params["MINIMUM"]))

    async def _until_hot(self, heater: str, temperature_c: float) -> None:
        while self.objects[heater]["temperature"] < temperature_c:
            await self._ticked.wait()

    def _set_offset(self, params: Params) -> None:
        move = self.objects["gcode_move"]
        x, y, z, e = move["homing_origin"]
        move["homing_origin"] = [x, y, round(z + float(params.get("Z_ADJUST", "0")), 6), e]
        if params.get("MOVE") == "1" and "z" not in self.objects["toolhead"]["homed_axes"]:
            raise GcodeRefused(f"Must home axis first: {_shown(self._position)}")

    def _set_pin(self, params: Params) -> None:
        pin = self.objects.get(f"output_pin {params.get('PIN')}")
        if pin is None:
            raise GcodeRefused(f"The value '{params.get('PIN')}' is not valid for PIN")
        pin["value"] = float(params["VALUE"])

    def _set_led(self, params: Params) -> None:
        for kind in ("led", "neopixel", "dotstar"):
            at = self.objects.get(f"{kind} {params.get('LED')}")
            if at is not None:
                colours = [float(params.get(c, "0")) for c in ("RED", "GREEN", "BLUE", "WHITE")]
                at["color_data"] = [colours for _ in at["color_data"]]
                return
        raise GcodeRefused(f"The value '{params.get('LED')}' is not valid for LED")

    def _set_info(self, params: Params) -> None:
        info = dict(self.objects["print_stats"]["info"])
        for field in ("TOTAL_LAYER", "CURRENT_LAYER"):
            if field in params:
                info[field.lower()] = int(params[field])
        self.objects["print_stats"]["info"] = info

    def _activate(self, params: Params) -> None:
        if params.get("EXTRUDER") not in self.objects:
            raise GcodeRefused(f"The value '{params.get('EXTRUDER')}' is not valid for EXTRUDER")
        self.objects["toolhead"]["extruder"] = params["EXTRUDER"]

    def _save_state(self, params: Params) -> None:
        move = self.objects["gcode_move"]
        self._saved[params.get("NAME", "default")] = {
            "modes": {key: move[key] for key in ("absolute_coordinates", "absolute_extrude")},
            "position": dict(self._position),
            "feed": self._feed_mm_min,
        }

    def _restore_state(self, params: Params) -> None:
        name = params.get("NAME", "default")
        saved = self._saved.get(name)
        if saved is None:
            raise GcodeRefused(f"Unknown g-code state: {name}")
        self.objects["gcode_move"].update(saved["modes"])
        self._feed_mm_min = saved["feed"]
        self._e_offset += self._position["e"] - saved["position"]["e"]
        if params.get("MOVE") == "1":
            self._go({**saved["position"], "e": self._position["e"]})


def _xyze(point: dict[str, float]) -> tuple[float, float, float, float]:
    return point["x"], point["y"], point["z"], point["e"]


def _shown(point: dict[str, float]) -> str:
    x, y, z, e = _xyze(point)
    return f"{x:.3f} {y:.3f} {z:.3f} [{e:.3f}]"
