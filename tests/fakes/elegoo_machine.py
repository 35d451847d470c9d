"""The machine of both fake Elegoo printers: files, one print, heat and a light."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

TICK_S = 0.05
WARM_UP_S = 0.1
PAUSE_S = 0.1
MARK = re.compile(rb"; seconds (\d+)")
HEAT = re.compile(rb"; hotend (\d+)\n; bed (\d+)")
LAYERS = 50


@dataclass
class Machine:
    """state: idle, warming, printing, pausing, paused, stopped, complete or failed."""

    files: dict[str, bytes] = field(default_factory=dict)
    made_at: dict[str, int] = field(default_factory=dict)
    state: str = "idle"
    name: str = ""
    printed_s: float = 0.0
    total_s: float = 0.0
    in_state_s: float = 0.0
    nozzle_target: float = 0.0
    bed_target: float = 0.0
    is_lit: bool = False
    fan: int = 0
    speed: int = 0
    homed: int = 0
    moved: list[tuple[str, float]] = field(default_factory=list)
    is_filming: bool = False

    def keep(self, name: str, data: bytes) -> None:
        self.files[name] = data
        self.made_at[name] = int(time.time())

    def start(self, name: str) -> bool:
        if name not in self.files:
            return False
        mark = MARK.search(self.files[name])
        self.name, self.printed_s = name, 0.0
        self.total_s = float(mark.group(1)) if mark else 600.0
        heat = HEAT.search(self.files[name])
        if heat:
            self.nozzle_target, self.bed_target = float(heat.group(1)), float(heat.group(2))
        self.turn("warming")
        return True

    def turn(self, state: str) -> None:
        self.state, self.in_state_s = state, 0.0

    def order(self, now: tuple[str, ...], after: str) -> bool:
        """False where the order has no place in this state."""
        if self.state not in now:
            return False
        self.turn(after)
        return True

    def pause(self) -> bool:
        return self.order(("printing",), "pausing")

    def resume(self) -> bool:
        return self.order(("paused",), "printing")

    def stop(self) -> bool:
        return self.order(("warming", "printing", "pausing", "paused"), "stopped")

    @property
    def progress(self) -> int:
        return min(100, int(100 * self.printed_s / self.total_s)) if self.total_s else 0

    @property
    def layer(self) -> int:
        return LAYERS * self.progress // 100

    def pass_time(self, seconds: float) -> None:
        self.in_state_s += seconds
        if self.state == "warming" and self.in_state_s >= WARM_UP_S:
            self.turn("printing")
        elif self.state == "pausing" and self.in_state_s >= PAUSE_S:
            self.turn("paused")
        elif self.state == "printing":
            self.printed_s += seconds
            if self.printed_s >= self.total_s:
                self.printed_s = self.total_s
                self.turn("complete")


async def live(machine: Machine, on_tick: Callable[[], None]) -> None:
    """Let time pass, until cancelled."""
    while True:
        await asyncio.sleep(TICK_S)
        machine.pass_time(TICK_S)
        on_tick()
