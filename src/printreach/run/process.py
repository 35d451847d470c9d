"""The process: a steady clock, and memory management that suits the forwarding of traffic."""

import gc
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

SELDOM_USED: Final = ("calendar", "csv", "gzip", "pdb", "yaml")
"""Modules that others import at their top for functions that a service at rest doesn't call.

Litestar's debugger and its YAML alone took 2.8 MB.
"""

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_KEPT_BYTES = 4 << 20
_MAPPED_FROM_BYTES = 2 << 20
"""Twice the largest link message, so that buffers of a body come from the heap."""
_ARENAS = 2
"""One for the event loop and one for all other threads, which each had their own."""
_COLLECT_EVERY = (10_000, 20, 20)


@contextmanager
def importing() -> Iterator[None]:
    """Look for no reference cycles while the block imports, and for none in what it imported.

    What is seldom used is imported once something of it is used.

    Nearly all that modules define stays: each collection would traverse it again in vain, and they
    took an eighth of the CPU time of the service's start.
    """
    gc.disable()
    stand_ins = {name: _stand_in(name) for name in SELDOM_USED if _is_to_be_imported(name)}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
        gc.freeze()
        gc.enable()


def _is_to_be_imported(name: str) -> bool:
    return name not in sys.modules and importlib.util.find_spec(name) is not None


def _stand_in(name: str) -> ModuleType:
    """Return a module that imports the one of this name once something of it is asked for.

    It does what an import that is lazy by PEP 810 does.
    """
    stand_in = ModuleType(name)

    def get(attribute: str) -> object:
        if attribute.startswith("__"):  # import statements look for some
            raise AttributeError(attribute)
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    stand_in.__dict__["__getattr__"] = get
    return stand_in


def steady_time() -> float:
    """Return the seconds of a clock that nobody can set.

    They include the machine's sleep, which is thus no jump.
    """
    boot_clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(boot_clock)


def tune_memory_for_traffic() -> None:
    """Tune allocation and garbage collection once, before the event loop starts."""
    _keep_freed_memory()
    _collect_seldom()


def _keep_freed_memory() -> None:
    """Let glibc keep up to 4 MiB of freed memory for the next chunk of a body.

    By default it returns memory above 128 KiB and requests it again for the next read: half of the
    agent's CPU time in a download was page faults and brk(). By default it also gives each thread
    memory of its own, which took 1 MB for those of the database. See mallopt(3). Other C libraries
    have no mallopt and are left alone.
    """
    mallopt = _function_of_glibc("mallopt")
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES)
        mallopt(_M_ARENA_MAX, _ARENAS)


def _collect_seldom() -> None:
    """Look for reference cycles less often than every 700 objects, which a hundred requests exceed.

    Requests create no cycles, so each collection traversed the running ones again in vain: a tenth
    of the CPU time of a small GET.
    """
    gc.set_threshold(*_COLLECT_EVERY)


def freeze_startup_objects() -> None:
    """Exclude the objects created at the start from garbage collection; call it once, when ready.

    The oldest generation is collected only after it has grown by a quarter. With 270,000 permanent
    objects that took hours, and garbage accumulated as long. Without them a collection is short and
    comes in time.
    """
    gc.collect()
    gc.freeze()


def return_startup_memory() -> None:
    """Give back what the start and the first page have freed; call it once, when both are over.

    Templates and statements are compiled then. glibc keeps 2 MB of that for the next, within what
    `tune_memory_for_traffic` allows. It takes half a millisecond. See malloc_trim(3).
    """
    malloc_trim = _function_of_glibc("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


def _function_of_glibc(name: str) -> Callable[..., int] | None:
    """Return a function of the C library; None where it has none of that name."""
    import ctypes  # only what forwards traffic needs it

    function: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    return function
