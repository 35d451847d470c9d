"""The process's own figures on /metrics: Prometheus's standard ones, and asyncio's tasks.

Source of the names: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
"""

import asyncio
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

Metrics = Mapping[str, tuple[str, Callable[[], float]]]
"""From a metric's name to its help text and the function that returns its current value."""

_PROC: Final = Path("/proc/self")


def process_metrics() -> Metrics:
    """Return the metrics of a process with an event loop. Those that only Linux has are absent
    elsewhere.
    """
    anywhere: Metrics = {
        "process_cpu_seconds_total": ("CPU time used, user and system.", time.process_time),
        "process_max_fds": ("File descriptors that may be open at once.", _max_descriptors),
        "printreach_asyncio_tasks": ("Tasks of the event loop.", lambda: len(asyncio.all_tasks())),
    }
    if not _PROC.is_dir():
        return anywhere
    return {
        **anywhere,
        "process_resident_memory_bytes": ("Memory held.", _resident_bytes),
        "process_open_fds": ("File descriptors open.", _open_descriptors),
        "process_threads": ("Threads.", lambda: _entries("task")),
    }


def _resident_bytes() -> float:
    pages = (_PROC / "statm").read_text().split()[1]  # proc_pid_statm(5)
    return int(pages) * resource.getpagesize()


def _open_descriptors() -> float:
    return _entries("fd") - 1  # one is open for the listing itself


def _entries(folder: str) -> int:
    return sum(1 for _ in (_PROC / folder).iterdir())


def _max_descriptors() -> float:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return float("inf") if limit == resource.RLIM_INFINITY else limit
