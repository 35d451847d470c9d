"""CPU and memory of processes, from Linux; and the system's programs."""

import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

_CPU_CLOCK = 2  # CPUCLOCK_SCHED of linux/posix-timers.h: a process's user and system time
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"


class Missing(Exception):
    """A program that a row needs is not installed; the message is a sentence."""


class Broken(Exception):
    """The way under measurement failed; the message is a sentence."""


def find_program(name: str, package: str) -> str:
    """The path of a program of the operating system. Raises Missing."""
    found = shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise Missing(f"{name} is not installed: apt-get install {package}")
    return found


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process has used, in nanosecond resolution."""
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


class CpuWatch:
    """Measures the CPU time of some processes from its creation."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = pids
        self._before = {name: cpu_s(pid) for name, pid in pids.items()}
        self._began = time.monotonic()

    def used_s(self) -> dict[str, float]:
        """Return the CPU seconds that each has used since."""
        return {name: cpu_s(pid) - self._before[name] for name, pid in self._pids.items()}

    def used_percent(self) -> dict[str, float]:
        """Return the same as a share of the elapsed time."""
        passed = time.monotonic() - self._began
        return {name: 100 * used / passed for name, used in self.used_s().items()}


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return _status_bytes(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return its peak since `forget_peak`."""
    return _status_bytes(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """Reset the peak."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status_bytes(pid: int, field: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
