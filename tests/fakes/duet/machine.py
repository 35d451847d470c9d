"""The machine of both fake boards: files, one job, heat, and G-code, in time given to it."""

import asyncio
import re
import time
from dataclasses import dataclass, field

TICK_S = 0.05
WARM_UP_S = 0.2
PAUSE_S = 0.1
CANCEL_S = 0.1
COLD_EXTRUDE_C = 160.0
ROOM_C = 21.5
MARK = re.compile(rb"; seconds (\d+)")
WORD = re.compile(r'([A-Z])("(?:[^"]|"")*"|[-+.0-9]*)')
LAYERS = 50
BUSY = ("processing", "pausing", "paused", "resuming", "cancelling")


@dataclass
class Heater:
    active: float = 0.0
    standby: float = 0.0
    current: float = ROOM_C
    state: str = "off"

    @property
    def target(self) -> float:
        return {"active": self.active, "standby": self.standby}.get(self.state, 0.0)

    def heat(self, target: float) -> None:
        self.active, self.state = target, "active" if target else "off"


@dataclass
class Job:
    path: str
    size: int
    total_s: float
    printed_s: float = 0.0
    warmed_s: float = 0.0
    paused_s: float = 0.0

    @property
    def share(self) -> float:
        return min(1.0, self.printed_s / self.total_s)


@dataclass
class Machine:
    """status: as firmware writes it. heaters: bed, tool 0, tool 1. done: orders, as they came.

    queue: those that wait for heat, as all do that come while is_warm isn't set.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=lambda: {"0:/gcodes", "0:/sys"})
    made_at: dict[str, float] = field(default_factory=dict)
    status: str = "idle"
    in_status_s: float = 0.0
    job: Job | None = None
    last_path: str | None = None
    last_s: float | None = None
    was_cancelled: bool = False
    heaters: list[Heater] = field(default_factory=lambda: [Heater(), Heater(), Heater()])
    speed_percent: float = 100.0
    flow_percent: list[float] = field(default_factory=lambda: [100.0, 100.0])
    fan_share: float = 0.0
    babystep_mm: float = 0.0
    current_tool: int = -1
    is_homed: bool = True
    message: dict[str, str] | None = None
    up_s: float = 4711.0
    queue: list[str] = field(default_factory=list)
    is_warm: asyncio.Event = field(default_factory=asyncio.Event)
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.is_warm.set()

    # --- files ------------------------------------------------------------------------------------

    def keep(self, path: str, data: bytes) -> None:
        folder = path.rpartition("/")[0]
        while folder not in self.folders and "/" in folder:
            self.folders.add(folder)
            folder = folder.rpartition("/")[0]
        self.files[path] = data
        self.made_at[path] = time.time()

    def listed(self, folder: str) -> list[tuple[str, str]] | None:
        """Pairs of type and name; None where there is no such folder."""
        folder = folder.rstrip("/")
        if folder not in self.folders:
            return None
        inner = [("d", path) for path in self.folders] + [("f", path) for path in self.files]
        return sorted(
            (kind, path.rpartition("/")[2])
            for kind, path in inner
            if path.rpartition("/")[0] == folder
        )

    def remove(self, path: str) -> str | None:
        """Return its fault: missing, or busy."""
        if path in self.files:
            del self.files[path]
            return None
        if path not in self.folders:
            return "missing"
        if self.listed(path):
            return "busy"
        self.folders.remove(path)
        return None

    # --- orders -----------------------------------------------------------------------------------

    def order(self, line: str) -> str:
        """The reply to one line."""
        self.done.append(line)
        if not self.is_warm.is_set():
            self.queue.append(line)
            return ""
        words = dict(WORD.findall(line))
        code = line.split(" ")[0]
        if self.status == "halted":
            return "" if code != "M999" else self._reset()
        doing = getattr(self, f"_do_{code.lower()}", None)
        return doing(words) if doing is not None else self._do_other(code)

    def _do_m32(self, words: dict[str, str]) -> str:
        path = unquoted(self.done[-1].partition(" ")[2])
        if self.job is not None:
            return "Error: Cannot set file to print, because a file is already being printed"
        if path not in self.files:
            return f'Error: GCode file "{path}" not found'
        data = self.files[path]
        mark = MARK.search(data)
        self.job = Job(path, len(data), float(mark[1]) if mark else 600.0)
        self.last_path, self.was_cancelled = path, False
        for line in data.decode(errors="replace").splitlines():
            if line.startswith(("M140 ", "M568 ", "T")):
                self.order(line)
        return self._turn("processing")

    def _do_m25(self, words: dict[str, str]) -> str:
        if self.status in ("pausing", "paused"):
            return "Error: Printing is already paused!"
        if self.job is None:
            return "Error: Cannot pause print, because no file is being printed!"
        return self._turn("pausing")

    def _do_m24(self, words: dict[str, str]) -> str:
        if self.status != "paused":
            return "" if self.job else "Error: Cannot print, because no file is selected!"
        return self._turn("resuming")

    def _do_m0(self, words: dict[str, str]) -> str:
        if self.job is not None and self.status != "paused":
            return "Error: Pause the print before attempting to cancel it"
        return self._turn("cancelling" if self.job else "idle")

    def _do_m112(self, words: dict[str, str]) -> str:
        self._end(cancelled=False)
        for heater in self.heaters:
            heater.state = "off"
        return self._turn("halted", "Emergency Stop! Reset the controller to continue.")

    def _do_m116(self, words: dict[str, str]) -> str:
        self.is_warm.clear()
        return ""

    def _do_m140(self, words: dict[str, str]) -> str:
        self.heaters[0].heat(float(words["S"]))
        return ""

    def _do_m568(self, words: dict[str, str]) -> str:
        number = int(words["P"])
        if number >= len(self.heaters) - 1:
            return f"Error: M568: Tool {number} not found"
        heater = self.heaters[number + 1]
        heater.active = float(words.get("S", heater.active))
        heater.state = ("off", "standby", "active")[int(words.get("A", 2))]
        return ""

    def _do_m220(self, words: dict[str, str]) -> str:
        self.speed_percent = float(words["S"])
        return ""

    def _do_m221(self, words: dict[str, str]) -> str:
        self.flow_percent[int(words["D"])] = float(words["S"])
        return ""

    def _do_m106(self, words: dict[str, str]) -> str:
        share = float(words["S"])
        self.fan_share = share if share <= 1 else share / 255
        return ""

    def _do_m290(self, words: dict[str, str]) -> str:
        before = self.babystep_mm if words.get("R") == "1" else 0.0
        self.babystep_mm = round(before + float(words["S"]), 4)
        return ""

    def _do_g28(self, words: dict[str, str]) -> str:
        self.is_homed = True
        return ""

    def _do_g1(self, words: dict[str, str]) -> str:
        if words.keys() & {"X", "Y", "Z"} and not self.is_homed:
            return "Error: G1: insufficient axes homed"
        tool = self.heaters[self.current_tool + 1]
        if "E" in words and (self.current_tool < 0 or tool.current < COLD_EXTRUDE_C):
            why = "its heater temperatures were not high enough or it has a heater fault"
            return f"Warning: Tool {self.current_tool} was not driven because {why}"
        return ""

    def _do_other(self, code: str) -> str:
        if code.startswith("T") and code[1:].isdigit():
            self.current_tool = int(code[1:])
            return ""
        known = ("M120", "M121", "G91", "M83", "M117", "")
        return "" if code in known else f"Error: {code}: Command is not supported"

    def _reset(self) -> str:
        self.last_path = None
        return self._turn("idle")

    def _turn(self, status: str, reply: str = "") -> str:
        self.status, self.in_status_s = status, 0.0
        return reply

    # --- time -------------------------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        self.in_status_s += seconds
        self.up_s += seconds
        for heater in self.heaters:
            aim = heater.target or ROOM_C
            heater.current += max(-600 * seconds, min(600 * seconds, aim - heater.current))
        heaters = [heater for heater in self.heaters if heater.target]
        if all(abs(heater.current - heater.target) < 1 for heater in heaters):
            self.is_warm.set()
            lines, self.queue = self.queue, []
            for line in lines:
                self.order(line)
                self.done.pop()
        if self.job is not None:
            self._go_on(self.job, seconds)

    def _go_on(self, job: Job, seconds: float) -> None:
        if self.status != "processing":
            job.paused_s += seconds
        if self.status == "processing" and job.warmed_s < WARM_UP_S:
            job.warmed_s += seconds
        elif self.status == "processing":
            job.printed_s += seconds
            if job.printed_s >= job.total_s:
                self._end(cancelled=False)
                self._turn("idle")
        elif self.status == "pausing" and self.in_status_s >= PAUSE_S:
            self._turn("paused")
        elif self.status == "resuming" and self.in_status_s >= PAUSE_S:
            self._turn("processing")
        elif self.status == "cancelling" and self.in_status_s >= CANCEL_S:
            self._end(cancelled=True)
            self._turn("idle")

    def _end(self, *, cancelled: bool) -> None:
        if self.job is not None:
            self.last_s = self.job.printed_s + self.job.warmed_s
            self.was_cancelled = cancelled
        self.job = None


def unquoted(text: str) -> str:
    """As firmware reads a quoted parameter: a single quote makes the next letter a small one."""
    assert text.startswith('"')
    assert text.endswith('"')
    inner = text[1:-1].replace('""', '"')
    return re.sub(r"'(.)", lambda found: found[1].lower(), inner)
