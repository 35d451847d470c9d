"""What processes cost, as Linux counts it; and the programs of the system."""

import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

_CPU_CLOCK = 2  # CPUCLOCK_SCHED of linux/posix-timers.h: a process's user and system time
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"


class Missing(Exception):
    """A program that a row needs is not installed; the text is a sentence."""


class Broken(Exception):
    """A way did not do what it was measured at; the text is a sentence."""


def find_program(name: str, package: str) -> str:
    """The path of a program of the operating system. Raises Missing."""
    found = shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise Missing(f"{name} is not installed: apt-get install {package}")
    return found


def cpu_s(pid: int) -> float:
    """Seconds of a core that a process has used so far, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


class CpuWatch:
    """What some processes use between its making and `used_s`."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = pids
        self._before = {name: cpu_s(pid) for name, pid in pids.items()}
        self._began = time.monotonic()

    def used_s(self) -> dict[str, float]:
        """Seconds of a core each has used since."""
        return {name: cpu_s(pid) - self._before[name] for name, pid in self._pids.items()}

    def used_percent(self) -> dict[str, float]:
        """The same, as a share of the time that has passed."""
        passed = time.monotonic() - self._began
        return {name: 100 * used / passed for name, used in self.used_s().items()}


def resident_bytes(pid: int) -> int:
    """Memory that a process holds now."""
    return _status_bytes(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """The most it held since `forget_peak`."""
    return _status_bytes(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """Begin to watch for a new peak."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status_bytes(pid: int, field: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
