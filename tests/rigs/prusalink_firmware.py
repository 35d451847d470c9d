"""The board of an MK3S, as PrusaLink hears it: Marlin's words on a serial line that is a pty.

It heats, waits, pauses and forgets; plastic and moves take no time. The answers follow the
expressions by which PrusaLink 0.8.1 reads them (`structures/regular_expressions.py`).
"""

import os
import pty
import re
import select
import time
import tty
from collections import deque
from pathlib import Path
from threading import Thread

REPORT_S = 0.25
"""Between reports of temperatures; the true firmware's two seconds would only slow the tests."""
ROOM_C = 21.0
HEATING_C_PER_S = 60.0
COLD_EXTRUSION_C = 170.0
EEPROM_BYTES = 4096

ANSWERS = {
    "PRUSA Fir": ["3.14.1-8237"],
    "PRUSA SN": ["CZPX4720X004XC34242"],
    "M862.2 Q": ["302"],  # MK3S
    "M862.1 Q": ["0.40"],
    "M420": ["Mesh bed leveling not active."],
    "M21": ["echo:SD init fail"],
    "M601": ["// action:paused"],
    "M602": ["// action:resumed"],
    "M603": ["// action:cancel"],
}
OVERHEATED = (
    "Error:Heaters switched off. MAXTEMP triggered!",
    "Error:Printer stopped due to errors. Fix the error and use M999 to restart."
    " (Temperature is reset. Set it after restarting)",
)
_NUMBERED = re.compile(r"^N\d+ (.*?) ?\*\d+$")
_EEPROM = re.compile(r"^D3 Ax([0-9A-Fa-f]+) (?:C(\d+)|X([0-9A-Fa-f]+))$")


class Heater:
    """Gets warm by itself; degrees Celsius."""

    def __init__(self) -> None:
        self.actual_c = ROOM_C
        self.target_c = 0.0

    @property
    def is_hot(self) -> bool:
        return self.actual_c >= self.target_c

    def warm(self, seconds: float) -> None:
        goal, step = max(self.target_c, ROOM_C), HEATING_C_PER_S * seconds
        self.actual_c += max(-step, min(step, goal - self.actual_c))


class Firmware:
    """Speaks on a pty while its thread runs; a context manager. device: the path to plug in."""

    def __init__(self, device: Path) -> None:
        self.device = device
        self.nozzle, self.bed = Heater(), Heater()
        self.received: list[str] = []
        self._position = dict.fromkeys("XYZE", 0.0)
        self._is_relative = self._extrudes_relatively = self._is_paused = False
        self._percent = {"M220": 100, "M221": 100}
        self._eeprom = bytearray(EEPROM_BYTES)
        self._progress = "Percent done: -1; print time remaining in mins: -1; Change in mins: -1"
        self._lines: deque[str] = deque()
        self._rest = b""
        self._busy_until = 0.0
        self._awaited: Heater | None = None
        self._is_halted = self._is_over = self._is_out = False
        self._port, self._plugged = _line()
        self._thread = Thread(target=self._run, name="firmware", daemon=True)

    def __enter__(self) -> "Firmware":
        self.device.symlink_to(os.ttyname(self._plugged))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._thread.join()
        self.device.unlink(missing_ok=True)
        os.close(self._port)
        os.close(self._plugged)

    def unplug(self) -> None:
        """Pull the cable; what holds its device hears a line that is dead."""
        self._is_out = True
        self.device.unlink()
        self._port, port = os.open(os.devnull, os.O_RDWR), self._port
        self._plugged, plugged = os.open(os.devnull, os.O_RDWR), self._plugged
        os.close(port)
        os.close(plugged)

    def plug_in(self) -> None:
        """Again, as another device."""
        (self._port, self._plugged), ends = _line(), (self._port, self._plugged)
        for end in ends:
            os.close(end)
        self.device.symlink_to(os.ttyname(self._plugged))
        self._is_out = False

    def overheat(self) -> None:
        """Stop with an error, as firmware does whose hotend is too hot; only a reset helps."""
        self._is_halted = True
        self._say(*OVERHEATED)

    def reset(self) -> None:
        """As its button does."""
        self._lines.clear()
        self._rest = b""
        self._busy_until, self._awaited = 0.0, None
        self.nozzle.target_c = self.bed.target_c = 0.0
        self._percent = {"M220": 100, "M221": 100}
        self._is_paused = self._is_halted = False
        self._say("start")

    # --- its thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        before = reported = time.monotonic()
        while not self._is_over:
            if self._is_out:
                time.sleep(0.02)
                continue
            ready, _, _ = select.select([self._port], [], [], 0.02)
            if ready:
                self._read()
            now = time.monotonic()
            self.nozzle.warm(now - before)
            self.bed.warm(now - before)
            before = now
            if now - reported >= REPORT_S and not self._is_halted:
                self._report()
                reported = now
            self._work(now)

    def _read(self) -> None:
        try:
            *lines, self._rest = (self._rest + os.read(self._port, 4096)).split(b"\n")
        except OSError:
            return  # nobody has plugged it in
        self._lines.extend(line.decode("ascii", "replace").strip() for line in lines)

    def _work(self, now: float) -> None:
        """Take orders until one takes time."""
        while not self._is_halted:
            if self._awaited is not None:
                if not self._awaited.is_hot:
                    return
                self._awaited = None
                self._say("ok")
            if self._busy_until:
                if now < self._busy_until:
                    return
                self._busy_until = 0.0
                self._say("ok")
            if not self._lines:
                return
            self._take(self._lines.popleft())

    def _take(self, line: str) -> None:
        numbered = _NUMBERED.match(line)
        order = numbered[1] if numbered else line
        self.received.append(order)
        code = order.partition(" ")[0]
        match code:
            case "M220" | "M221":
                self._percent[code] = int(_number(order, "S") or self._percent[code])
            case "M104" | "M109":
                self.nozzle.target_c = _number(order, "S") or 0.0
            case "M140" | "M190":
                self.bed.target_c = _number(order, "S") or 0.0
            case "G4":
                self._busy_until = time.monotonic() + (_number(order, "P") or 0.0) / 1000
            case "G90" | "G91":
                self._is_relative = self._extrudes_relatively = code == "G91"
            case "M82" | "M83":
                self._extrudes_relatively = code == "M83"
            case "G0" | "G1":
                self._move(order)
            case "G28":
                self._home(order)
            case "M601":
                self._is_paused = True
            case "M602" | "M603":
                self._is_paused = False
            case "M73" if _number(order, "P") is not None:
                self._note_progress(order)
        if code in ("M109", "M190"):
            self._awaited = self.nozzle if code == "M109" else self.bed
        elif not self._busy_until:
            self._say(*self._answers(order), "ok")

    def _answers(self, order: str) -> list[str]:
        eeprom = _EEPROM.match(order)
        if eeprom is not None:
            return self._eeprom_answers(int(eeprom[1], 16), eeprom[2], eeprom[3])
        if order == "M27 P":
            return ["Print saved" if self._is_paused else "Not SD printing"]
        if order in self._percent:
            return [f"{self._percent[order]}%"]
        if order.startswith("M73"):
            return [f"SILENT MODE: {self._progress}", f"NORMAL MODE: {self._progress}"]
        if order.startswith("M20"):
            return ["Begin file list", "End file list"]
        return ANSWERS.get(order, [])

    def _eeprom_answers(self, address: int, count: str | None, data: str | None) -> list[str]:
        if data is not None:
            written = bytes.fromhex(data)
            self._eeprom[address : address + len(written)] = written
            return []
        held = self._eeprom[address : address + int(count or 0)]
        rows = [held[at : at + 16] for at in range(0, len(held), 16)]
        return [f"{address + 16 * n:04x}  {row.hex(' ')}" for n, row in enumerate(rows)]

    def _move(self, order: str) -> None:
        for axis in self._position:
            value = _number(order, axis)
            if value is None:
                continue
            is_relative = self._extrudes_relatively if axis == "E" else self._is_relative
            if axis == "E" and self.nozzle.actual_c < COLD_EXTRUSION_C:
                self._say("echo: cold extrusion prevented")
            else:
                self._position[axis] = value + (self._position[axis] if is_relative else 0.0)

    def _home(self, order: str) -> None:
        named = [axis for axis in "XYZ" if axis in order]
        for axis in named or "XYZ":
            self._position[axis] = 0.0

    def _note_progress(self, order: str) -> None:
        done, left = _number(order, "P") or 0.0, _number(order, "R") or 0.0
        self._progress = (
            f"Percent done: {done:.0f}; print time remaining in mins: {left:.0f};"
            " Change in mins: -1"
        )

    def _report(self) -> None:
        nozzle, bed = self.nozzle, self.bed
        at = {axis: f"{value:.2f}" for axis, value in self._position.items()}
        place = f"X:{at['X']} Y:{at['Y']} Z:{at['Z']} E:{at['E']}"
        self._say(
            f"T:{nozzle.actual_c:.1f} /{nozzle.target_c:.1f}"
            f" B:{bed.actual_c:.1f} /{bed.target_c:.1f}"
            f" T0:{nozzle.actual_c:.1f} /{nozzle.target_c:.1f} @:0 B@:0 P:25.0 A:30.0",
            f"{place} Count X: {at['X']} Y:{at['Y']} Z:{at['Z']} E:{at['E']}",
            "E0:0 RPM PRN1:0 RPM E0@:0 PRN1@:0",
        )

    def _say(self, *lines: str) -> None:
        os.write(self._port, "".join(f"{line}\n" for line in lines).encode())


def _line() -> tuple[int, int]:
    """The firmware's end of a serial line, and the one with a device."""
    ends = pty.openpty()
    tty.setraw(ends[1])
    return ends


def _number(order: str, letter: str) -> float | None:
    """The number behind a letter, wherever it stands: the true firmware searches as simply."""
    found = re.search(rf"{letter}(-?\d+(?:\.\d*)?)", order)
    return float(found[1]) if found else None
